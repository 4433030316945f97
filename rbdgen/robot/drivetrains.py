"""Joints' rotors, damping and friction: whose they are, and who says so."""

from __future__ import annotations

from dataclasses import replace

from .model import Drivetrain, Robot

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
    """The robot without damping and friction, its rotors kept; itself where it has neither."""
    if not any(joint.drivetrain.damping or joint.drivetrain.friction for joint in robot.joints):
        return robot
    return robot.with_joints(
        [replace(joint, drivetrain=joint.drivetrain.without_friction) for joint in robot.joints]
    )
