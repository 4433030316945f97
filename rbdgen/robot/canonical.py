"""Exact rewrites: another robot with the same τ, M and gradients, and less arithmetic.

Each rewrite is a pure function Robot → Robot. ``rewrites`` lists them in the order in which they
help each other; ``canonicalize`` runs them all and ``stages`` shows the robot after each.
Only ``align_axes`` and ``equal_limbs`` may change the robot physically, by the tolerances that they
are given (0 for none), and they say what they changed.

Links that are fixed to others, folded into those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from .denavit_hartenberg import modified_dh
from .frames import align_axes, regroup_inertia
from .model import Frame, Joint, JointKind, Robot, Transform

Rewrite = Callable[[Robot], Robot]


def rewrites(
    snap: float | None = 0.0,
    notes: list[str] | None = None,
    alike: float = 0.0,
    geometry: bool = False,
) -> list[tuple[str, Rewrite]]:
    """The canonical form, step by step; each step relies on the one before."""
    steps: list[tuple[str, Rewrite]] = [
        ("merge_fixed", merge_fixed),  # later steps see moving joints only
        ("align_axes", lambda robot: align_axes(robot, snap, notes)),  # one case: z
    ]
    if alike:
        from .limb_unification import equal_limbs

        steps += [("equal_limbs", lambda robot: equal_limbs(robot, alike, notes))]
    return [
        *steps,  # limbs are made equal before their frames differ
        # frames may slide and turn about z only
        ("modified_dh", lambda robot: modified_dh(robot, geometry)),
        # depends on the final frames
        ("regroup_inertia", lambda robot: regroup_inertia(robot, not geometry)),
    ]


def stages(
    robot: Robot,
    snap: float | None = 0.0,
    notes: list[str] | None = None,
    bodies: bool = False,
    alike: float = 0.0,
    geometry: bool = False,
) -> Iterator[tuple[str, Robot]]:
    """The robot after each rewrite, with the rewrite's name. ``bodies``: its inertias stay those
    of bodies that have a centre of mass. ``geometry``: frames and what is left of inertias depend
    on no inertia, so that robots of one model are rewritten alike. ``snap`` [rad] is
    ``align_axes``'s tolerance, ``alike`` ``equal_limbs``'s."""
    for name, rewrite in rewrites(snap, notes, alike, geometry)[: -1 if bodies else None]:
        robot = rewrite(robot)
        yield name, robot


def canonicalize(robot: Robot, snap: float | None = 0.0, notes: list[str] | None = None) -> Robot:
    """The robot after all rewrites. ``snap`` [rad] is ``align_axes``'s tolerance."""
    *_, (_, last) = stages(robot, snap, notes)
    return last


def merge_fixed(robot: Robot) -> Robot:
    """Fold each fixed link's inertia into the body that carries it."""
    joints: list[Joint] = []
    base_inertia, merged = robot.base_inertia, list(robot.merged)
    new_index: dict[int, int] = {-1: -1}
    pose: dict[int, Transform] = {-1: Transform()}  # old body in the frame of the body it joins
    for i, joint in enumerate(robot.joints):
        placement = pose[joint.parent] @ joint.placement
        parent = new_index[joint.parent]
        if joint.kind is not JointKind.FIXED:
            new_index[i], pose[i] = len(joints), Transform()
            joints.append(replace(joint, parent=parent, placement=placement))
            continue
        new_index[i], pose[i] = parent, placement
        moved = joint.inertia.seen_from(placement)
        carrying = joints[parent] if parent >= 0 else None
        body = carrying.body if carrying else robot.base_body
        in_link = carrying.link_frame.inverse() @ placement if carrying else placement
        own = Frame(joint.body, body, in_link @ joint.link_frame)
        merged = [
            replace(m, body=body, pose=own.pose @ m.pose) if m.body == joint.body else m
            for m in merged
        ]
        merged.append(own)
        if parent < 0:
            base_inertia += moved
        else:
            carrier = joints[parent]
            joints[parent] = replace(carrier, inertia=carrier.inertia + moved)
    joints = [
        replace(j, mimic=replace(j.mimic, joint=new_index[j.mimic.joint])) if j.mimic else j
        for j in joints
    ]
    return replace(robot, joints=tuple(joints), base_inertia=base_inertia, merged=tuple(merged))
