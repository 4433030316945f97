"""Modified Denavit-Hartenberg frames, and other frames where those cost less.

In these frames most joints' placements are a turn about x and a shift: Rx(α), r.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from .angles import NOISE, rot_x, rot_z, zxz
from .frames import (
    ONE_AXIS,
    denoised,
    inertia_cost,
    levels,
    move_frame,
    placement_cost,
    regroup_inertia,
)
from .model import Array, Inertia, Joint, JointKind, Robot, Transform

STILL = Transform()
REACH = 3.0  # how far a frame may slide, against the distances to its neighbours


def modified_dh(robot: Robot, geometry: bool = False) -> Robot:
    """Slide each frame along its z and turn it about its z to where its numbers are fewest.

    Most placements become DH rows, Rx(α) with translation (a, 0, d): Khalil & Dombre, *Modeling,
    Identification and Control of Robots*, §3.2, with d laid on the parent's axis instead of the
    child's, so that it acts one joint later. Where several children share a body, or a frame
    that empties the inertia saves more, the cheapest of the frames worth trying wins. ``geometry``:
    whatever the inertias, so that robots whose axes stand alike have frames that do.
    """
    # what will be left of each inertia, whatever the frames
    lean = without_inertia(robot) if geometry else regroup_inertia(robot)
    level = levels(robot)
    for i, joint in enumerate(robot.joints):
        if joint.kind in ONE_AXIS:
            motion = _best_motion(lean, i, level)
            if motion is not STILL:
                robot, lean = move_frame(robot, i, motion), move_frame(lean, i, motion)
    return denoised(robot.with_joints([_turned_into_offset(j) for j in robot.joints]))


def without_inertia(robot: Robot) -> Robot:
    """The robot's geometry: its bodies weigh nothing."""
    return robot.with_joints([replace(joint, inertia=Inertia()) for joint in robot.joints])


def _best_motion(robot: Robot, i: int, level: list[int]) -> Transform:
    """The cheapest motion of frame ``i``; STILL unless another is cheaper."""
    joint, children = robot.joints[i], [(c, robot.joints[c]) for c in robot.children[i]]
    size = float(np.abs(joint.inertia.J).max() + np.abs(joint.inertia.h).max())

    def cost(motion: Transform) -> float:
        back = motion.inverse()
        inertia = joint.inertia.seen_from(back)
        if joint.kind is JointKind.PRISMATIC:  # its rotational inertia is the parent's
            inertia = Inertia(inertia.mass, inertia.h)
        total = placement_cost(joint.placement @ motion, joint.kind, level[i])
        total += inertia_cost(inertia, level[i], size)
        for c, child in children:
            if child.kind in ONE_AXIS:
                total += placement_cost(back @ child.placement, child.kind, level[c])
        return total

    best, least = STILL, cost(STILL) - 1e-9
    around = [child for _, child in children]
    for shift, angle in product(_translations(robot, joint, around), _turns(joint, around)):
        motion = Transform(rot_z(angle), shift)
        spent = cost(motion)
        if spent < least - 1e-9:
            best, least = motion, spent
    return best


def _translations(robot: Robot, joint: Joint, children: list[Joint]) -> Iterator[Array]:
    """Origins worth trying, in the frame as it is."""
    back = joint.placement.inverse()
    if joint.kind is JointKind.PRISMATIC:
        # A sliding body does not turn: its frame may start anywhere.
        points = [np.zeros(3), back.translation]
        points += [child.placement.translation for child in children]
        if joint.inertia.mass:
            points.append(joint.inertia.h / joint.inertia.mass)
        for across, along in product(points, points):
            yield np.array([across[0], across[1], along[2]])
        return
    heights: list[float] = []
    if joint.parent >= 0:
        heights += _feet(back)  # the parent's axis, seen from here
    for child in children:
        heights += [*_feet(child.placement), float(child.placement.translation[2])]
    h, J = joint.inertia.h, joint.inertia.J
    heights += [-J[k, 2] / h[k] for k in (0, 1) if abs(h[k]) > NOISE]  # J_xz or J_yz vanishes
    # Nearly parallel axes meet far away, where differences of large numbers lose digits.
    reach = REACH * sum(np.linalg.norm(j.placement.translation) for j in (joint, *children))
    for height in dict.fromkeys([0.0, *(h for h in heights if abs(h) <= reach)]):
        yield np.array([0.0, 0.0, height])


def _feet(neighbour: Transform) -> list[float]:
    """Where, on our z axis, the common normal with the neighbour's z axis stands."""
    point, direction = neighbour.translation, neighbour.rotation[:, 2]
    # Nearest point, on our z axis, to the line point + t·direction.
    sine2 = 1.0 - direction[2] ** 2
    if sine2 < 1e-12:
        return [float(point[2])]
    along = float(np.dot(point, direction))
    return [float((point[2] - along * direction[2]) / sine2)]


def _turns(joint: Joint, children: list[Joint]) -> list[float]:
    """Angles worth trying."""
    angles = [0.0]
    if joint.kind is JointKind.PRISMATIC:
        return [*angles, -zxz(joint.placement.rotation)[2]]
    for child in children:
        if child.kind in ONE_AXIS:
            angles.append(_gamma(child.placement))
    h, J = joint.inertia.h, joint.inertia.J
    if not joint.inertia.is_zero:
        angles.append(math.atan2(h[1], h[0]))  # h_y vanishes
        angles.append(math.atan2(J[1, 2], J[0, 2]))  # J_yz vanishes
        angles.append(math.atan2(2 * J[0, 1], J[0, 0] - J[1, 1]) / 2)  # J_xy vanishes
    return list(dict.fromkeys(angles))


def _gamma(placement: Transform) -> float:
    """The angle, about the parent's z, of the common normal of parent and child axis."""
    x, y, _ = placement.rotation[:, 2]
    if math.hypot(x, y) > NOISE:
        # Either direction of the normal will do: the smaller turn keeps more signs.
        return math.atan2(x, -y) if abs(math.atan2(x, -y)) <= math.pi / 2 else math.atan2(-x, y)
    # Parallel axes: every common normal is as good; take the one through the child's origin.
    a, b, _ = placement.translation
    return math.atan2(b, a) if math.hypot(a, b) > NOISE else 0.0


def _turned_into_offset(joint: Joint) -> Joint:
    """Rz(γ) Rx(α) Rz(β) Rz(q) = Rz(γ) Rx(α) Rz(q + β): a revolute joint's offset takes up β."""
    if joint.kind is not JointKind.REVOLUTE:
        return joint
    gamma, alpha, beta = zxz(joint.placement.rotation)
    if alpha in (0.0, math.pi):  # Rz(γ) Rx(0) = Rx(0) Rz(γ), Rz(γ) Rx(π) = Rx(π) Rz(-γ)
        gamma, beta = 0.0, gamma if alpha == 0.0 else -gamma
    if beta == 0.0:
        return joint
    rotation = rot_z(gamma) @ rot_x(alpha)
    placement = Transform(rotation, joint.placement.translation)
    return replace(joint, placement=placement, offset=joint.offset + beta)


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
