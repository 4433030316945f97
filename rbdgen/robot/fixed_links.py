"""Links that are fixed to others, folded into those."""

from __future__ import annotations

from dataclasses import replace

from .model import Frame, Joint, JointKind, Robot, Transform


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
