"""Frames in which most joints' placements are a turn about x and a shift: Rx(α), r."""

from __future__ import annotations

import math
from dataclasses import replace

from .angles import NOISE, rot_x, rot_z, zxz
from .frames import denoised, move_frame
from .model import JointKind, Robot, Transform

REVOLUTE, PRISMATIC = JointKind.REVOLUTE, JointKind.PRISMATIC


def chained_frames(robot: Robot) -> Robot:
    """A canonical robot whose placements are Rz(γ) Rx(α), with γ = 0 wherever frames are free.

    The frame of a revolute joint turns about its own z by the γ of what it carries, and the joint's
    offset takes that up; a prismatic joint's frame turns until its own placement ends in Rx(α).
    Where a body carries several joints, γ is 0 for as many as can be. It stays for the others, for
    joints on the base, and for those on bodies that slide, float or move in a plane. Placements of
    planar and floating joints stay as they are. All of it is exact.
    """
    for i in reversed(range(len(robot.joints))):
        turn = _turn(robot, i)
        if abs(turn) > NOISE:
            robot = move_frame(robot, i, Transform(rot_z(turn)))
    joints = []
    for joint in robot.joints:
        if joint.kind in (REVOLUTE, PRISMATIC):
            gamma, alpha, beta = zxz(joint.placement.rotation)
            if joint.parent >= 0 and abs(math.cos(gamma) + 1) <= NOISE and joint.kind is REVOLUTE:
                gamma, alpha, beta = 0.0, -alpha, beta + gamma
            placement = Transform(rot_z(gamma) @ rot_x(alpha), joint.placement.translation)
            if joint.kind is REVOLUTE:
                joint = replace(joint, placement=placement, offset=joint.offset + beta)
            elif abs(beta) <= NOISE:
                joint = replace(joint, placement=placement)
        joints.append(joint)
    return denoised(robot.with_joints(joints))


def _turn(robot: Robot, i: int) -> float:
    """The angle about its own z by which a body's frame turns."""
    kind = robot.joints[i].kind
    _, alpha, beta = zxz(robot.joints[i].placement.rotation)
    if kind not in (REVOLUTE, PRISMATIC):
        return 0.0
    if kind is PRISMATIC and math.sin(alpha) > NOISE:
        return -beta
    gammas = [zxz(robot.joints[child].placement.rotation)[0] for child in robot.children[i]]
    if not gammas:
        return 0.0

    def straight(turn: float) -> int:
        """The number of joints on the body with no turn left, or half of one."""
        return sum(abs(math.sin(gamma - turn)) <= NOISE for gamma in gammas)

    return max(gammas, key=straight)
