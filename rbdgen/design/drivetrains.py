"""A design's rotors, damping and friction of joints, which override those of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..robot.model import Drivetrain, Joint, Robot, RobotError
from ..robot.rotors import without_friction
from ..robot.unsupported import few
from ..robot.xml_lines import did_you_mean, quoted
from ..system.messages import changing, idle
from .checks import by_joint
from .design import Design

PINOCCHIO = "Pinocchio has none; --no-friction (friction=False) leaves it out"


def driven(design: Design, robot: Robot, notes: list[str] | None = None) -> Robot:
    """The robot with the drivetrains that its design gives it.

    A joint's own block of the design wins over the file; a width of friction that the design gives
    a joint by name wins over its block's, and that over the one of all joints. ``notes`` receives
    where damping and friction are in τ, how friction is approximated, or that both are left out.

    Raises:
        RobotError: a joint that does not move, or has several coordinates; starts with the choice.
    """
    widths = by_joint(design.friction_width) if design.friction_width is not None else {}
    joints = {joint.name: joint for joint in robot.joints if joint.kind.nv}
    for choice, names in (("joints", design.joints), ("friction_width", widths)):
        for name in names:
            if name:
                _check(choice, name, joints)
    made = [_driven(design, joint, widths) for joint in robot.joints]
    if notes is not None:
        notes += _notes(design, made)
        notes += _idle(design, made, widths)
    robot = robot.with_joints(made)
    return robot if design.friction else without_friction(robot)


def _driven(design: Design, joint: Joint, widths: Mapping[str, float]) -> Joint:
    file, said = joint.drivetrain, design.joints.get(joint.name)
    every, own = widths.get("", file.width), widths.get(joint.name)
    if joint.kind.nv != 1:
        return joint
    if said is None:
        return replace(joint, drivetrain=replace(file, width=own or every))
    made = Drivetrain(
        file.armature if said.armature is None else said.armature,
        file.damping if said.damping is None else said.damping,
        file.friction if said.friction is None else said.friction,
        own or said.friction_width or every,
    )
    return replace(joint, drivetrain=made)


def _check(choice: str, name: str, joints: Mapping[str, Joint]) -> None:
    if name not in joints:
        hint = did_you_mean(name, joints, f"; one of {', '.join(joints) or 'none'}")
        raise RobotError(f"{choice}: no joint {quoted(name)} moves{hint}")
    if joints[name].kind.nv != 1:
        raise RobotError(
            f"{choice}: joint {quoted(name)} is {joints[name].kind.value}; armature, damping and "
            "friction are of joints that turn or slide"
        )


def _idle(design: Design, joints: list[Joint], widths: Mapping[str, float]) -> list[str]:
    """Notes on the design's friction settings for joints without friction."""
    rubbing = [joint.name for joint in joints if joint.drivetrain.friction]
    notes = []
    if not design.friction and not rubbing and not any(j.drivetrain.damping for j in joints):
        notes.append(idle("friction", False, "joints with damping or friction, and none has any"))
    if widths and not (rubbing and design.friction):
        why = "and none has any" if design.friction else "which is left out"
        said = ",".join(f"{name}={own:g}".lstrip("=") for name, own in widths.items())
        return [*notes, idle("friction_width", said, f"joints' friction, {why}")]
    for name in widths:
        if name and name not in rubbing:
            said = f"{widths[name]:g} of {quoted(name)}"
            notes.append(idle("friction_width", said, "joints with friction, and it has none"))
    return notes


def _notes(design: Design, joints: list[Joint]) -> list[str]:
    """Which joints have damping, how friction is approximated, or what is left out."""
    resisted = [j.name for j in joints if j.drivetrain.damping or j.drivetrain.friction]
    if not design.friction:
        what = f"damping and friction of {few(resisted)}: left out (--no-friction)"
        return [f"{what}; rotors' inertias stay"] if resisted else []
    notes: list[str] = []
    if damped := [j.name for j in joints if j.drivetrain.damping]:
        notes.append(changing(f"damping of {few(damped)}: in tau, where {PINOCCHIO}"))
    for width in sorted({j.drivetrain.width for j in joints if j.drivetrain.friction}):
        own = [j for j in joints if j.drivetrain.friction and j.drivetrain.width == width]
        notes.append(
            changing(
                f"friction of {few([j.name for j in own])}: smoothed, c (3 x - x³) / 2 of "
                f"x = qd / {width:g} up to |x| = 1, c beyond; --friction-width says another width; "
                f"in tau, where {PINOCCHIO}"
            )
        )
    return notes
