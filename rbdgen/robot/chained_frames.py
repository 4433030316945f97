"""Frames in which every joint's placement is a turn about x and a shift: Rx(α), r."""

from __future__ import annotations

from dataclasses import replace

from .angles import NOISE, rot_x, rot_z, zxz
from .frames import denoised, move_frame
from .model import JointKind, Robot, RobotError, Transform


def chained_frames(robot: Robot) -> Robot:
    """A canonical robot whose placements are Rz(γ) Rx(α), with γ = 0 but for joints on the base.

    Each frame turns about its own z by its child's γ, and the joint's offset takes that up: exact.

    Raises:
        RobotError: a joint that does not turn, mimics, or a body that carries several joints, which
            one joint's datapath cannot serve.
    """
    for i, joint in enumerate(robot.joints):
        what = f'{robot.name}: fold: joints: joint "{joint.name}"'
        if joint.kind is not JointKind.REVOLUTE or joint.mimic is not None:
            how = "mimics another" if joint.mimic else f"is {joint.kind.value}"
            raise RobotError(
                f"{what} {how}; joints that take turns are revolute and move by themselves"
            )
        if len(robot.children[i]) > 1:
            names = ", ".join(f'"{robot.joints[c].name}"' for c in robot.children[i])
            raise RobotError(
                f"{what}: its body carries several joints ({names}); joints take turns in chains "
                "only, so far: leave --fold joints out"
            )
    for i in reversed(range(len(robot.joints))):
        for child in robot.children[i]:
            gamma = zxz(robot.joints[child].placement.rotation)[0]
            if abs(gamma) > NOISE:
                robot = move_frame(robot, i, Transform(rot_z(gamma)))
    joints = []
    for joint in robot.joints:
        gamma, alpha, beta = zxz(joint.placement.rotation)
        placement = Transform(rot_z(gamma) @ rot_x(alpha), joint.placement.translation)
        joints.append(replace(joint, placement=placement, offset=joint.offset + beta))
    return denoised(robot.with_joints(joints))
