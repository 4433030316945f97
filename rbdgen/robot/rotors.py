"""Rotors, damping and friction of joints: from ``<dynamics>`` and from tags of others in a URDF.

A rotor of inertia I behind a reduction n is felt at the joint as n² I; its axis is taken for the
joint's, and what it does to the links that carry it is left out, as Pinocchio, MuJoCo and Drake do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..system.quoting import changing
from . import urdf_elements as read
from .model import FRICTION_WIDTH, Drivetrain, JointKind, Robot
from .unsupported import REDUCTIONS, ROTORS, beside_links, few, plain, said_number, whose
from .xml_lines import Element

Own = dict[int, list[Drivetrain]]  # coordinate of v → the drivetrains of the joints that it moves


def drivetrains(robot: Robot) -> Own:
    """The nonzero drivetrains of each coordinate, reflected to the coordinate."""
    found: Own = {}
    for i, slot in robot.v_slices.items():
        joint = robot.joints[i]
        own = joint.drivetrain.reflected(joint.mimic.multiplier if joint.mimic else 1.0)
        if joint.kind.nv == 1 and not own.is_zero:
            found.setdefault(slot.start, []).append(own)
    return found


def without_friction(robot: Robot) -> Robot:
    """The robot without damping and friction but with rotors; itself where it has neither."""
    if not any(joint.drivetrain.damping or joint.drivetrain.friction for joint in robot.joints):
        return robot
    return robot.with_joints(
        [replace(joint, drivetrain=joint.drivetrain.without_friction) for joint in robot.joints]
    )


LARGEST = 1e15  # kg·m²
AXES = {JointKind.REVOLUTE: "angular", JointKind.PRISMATIC: "linear"}


def drivetrain(joint: Element, kind: JointKind) -> Drivetrain:
    """The drivetrain of a joint of one coordinate from ``<dynamics>``; zeros for other joints."""
    element = joint.only("dynamics")
    if kind.nv == 0 or element is None:
        return own_width(Drivetrain(), kind)
    read.check_attributes(element)
    damping, friction, armature = (
        float(read.numbers(element, key, 1, (0.0,))[0]) for key in read.ATTRIBUTES["dynamics"]
    )
    for key, value in (("damping", damping), ("friction", friction), ("armature", armature)):
        if value < 0:
            raise element.error(f"{key} is negative ({value:g}), so it would drive the joint")
    return own_width(
        Drivetrain(armature, damping, friction) if kind.nv == 1 else Drivetrain(), kind
    )


def own_width(drive: Drivetrain, kind: JointKind) -> Drivetrain:
    """The drivetrain with the default width of friction for the kind of joint."""
    width = FRICTION_WIDTH[AXES.get(kind, "angular")]
    return Drivetrain(drive.armature, drive.damping, drive.friction, width)


@dataclass(eq=False)
class Rotors:
    """``armature``: joint → n² I. ``notes``: what was taken, and what not."""

    armature: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def rotors(document: Element, moving: Mapping[str, JointKind]) -> Rotors:
    """The rotors that are said beside ``<dynamics>``, each of one joint with one reduction."""
    named: dict[Element, list[str]] = {}
    felt: dict[str, list[float | None]] = {}
    where: dict[str, tuple[Element, str]] = {}
    for element in beside_links(document):
        if element.tag == "dynamics":  # is ``drivetrain``'s to read
            continue
        for key, value in _said(element):
            if plain(key) not in ROTORS or said_number(value) == 0:
                continue
            joints = whose(element, moving, named)
            for joint in joints:
                known = len(joints) == 1 and moving[joint].nv == 1
                felt.setdefault(joint, []).append(_felt(element, key, value) if known else None)
                where.setdefault(joint, (element, key))
    found, with_armature = Rotors(), _with_armature(document)
    taken: dict[bool, list[str]] = {True: [], False: []}
    for joint, values in felt.items():
        (own, *others) = values
        good = own is not None and not others and joint not in with_armature
        taken[good].append(joint)
        if good and own is not None:
            found.armature[joint] = own
    for good, message in MESSAGES.items():
        if joints := taken[good]:
            first, _ = where[joints[0]]
            names = ", ".join(dict.fromkeys(where[joint][1] for joint in joints))
            found.notes.append(f"{first.file}:{first.line}: {names} of {few(joints)} {message}")
    return found


MESSAGES = {
    True: changing(
        "taken as rotors' inertias, times the squared reduction, about the joint's axis"
    ),
    False: changing(
        "left out: a joint has one armature, of one motor with one reduction; "
        "say it in <dynamics armature=>, or as joints: of the design"
    ),
}


def _felt(element: Element, key: str, value: str) -> float | None:
    """n² I; None where the number is no inertia, or there is more than one reduction."""
    inertia = said_number(value)
    if not 0 < inertia < LARGEST:
        return None
    if plain(key) == "armature":  # as felt at the joint
        return inertia
    around = element.parent
    while around is not None and around.parent is not None:
        ratios = {
            abs(said_number(text))
            for other in (around, *around.below())
            for name, text in _said(other)
            if plain(name) in REDUCTIONS
        } - {0.0}
        if ratios:
            felt = ratios.pop() ** 2 * inertia
            return felt if not ratios and math.isfinite(felt) and felt < LARGEST else None
        around = around.parent
    return inertia


def _with_armature(document: Element) -> set[str]:
    return {
        joint.attributes["name"]
        for joint in document.all("joint")
        for element in joint.all("dynamics")
        if said_number(element.attributes.get("armature", "0"))
    }


def _said(element: Element) -> list[tuple[str, str]]:
    own = element.attributes.get("value", element.content)
    return [*element.attributes.items(), (element.tag, own)]
