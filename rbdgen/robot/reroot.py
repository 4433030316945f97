"""Another link of a floating robot as its base: the same machine, seen from elsewhere.

A floating joint may hold any link. A joint on the way from the old base to the new one now leads
the other way, about the negative axis, so that its coordinate, its velocity and its limits stay.
``rbdgen.golden.rerooted`` maps states and torques.
"""

from __future__ import annotations

from dataclasses import replace

from .frames import ONE_AXIS
from .model import Joint, JointKind, Robot, RobotError, Transform
from .xml_lines import did_you_mean, quoted


def reroot(robot: Robot, link: str) -> Robot:
    """The robot with ``link`` on the floating joint; q, qd and tau of all other joints mean the
    same, in a new depth-first order.

    The new base's frame is the one that the file gave the link; that of each link on the way to the
    old base moves to the joint that now carries it. Raises RobotError where the base is not
    floating, where no such link moves, and where a joint of several axes lies between.
    """
    joints = robot.joints
    if len(robot.children[-1]) != 1 or joints[0].kind is not JointKind.FLOATING:
        raise RobotError(f"{robot.name}: only a floating base can be another link")
    bodies = [joint.body for joint in joints]
    if link not in bodies:
        raise RobotError(f"no joint moves a link {quoted(link)}{did_you_mean(link, bodies)}")
    path = [bodies.index(link)]  # joints to turn round, from the new base to the old
    while joints[path[-1]].parent >= 0:
        path.append(joints[path[-1]].parent)
    path.pop()
    for i in path:
        if joints[i].kind not in (*ONE_AXIS, JointKind.FIXED):
            raise RobotError(f'joint "{joints[i].name}" has several axes and has no way back')

    target = path[0] if path else 0
    # Body → where its old frame lies in its new one.
    shift = {target: joints[target].link_frame.inverse()}
    for i in path:
        # from the joint's frame the old parent lies at X⁻¹
        shift[joints[i].parent] = joints[i].placement.inverse()
    below: dict[int, list[tuple[int, int]]] = {i: [] for i in range(len(joints))}
    for i, joint in enumerate(joints[1:], 1):
        ends = (i, joint.parent) if i in path else (joint.parent, i)
        below[ends[0]].append((i, ends[1]))  # joint, body that it carries

    made: list[Joint] = []
    number: dict[int, int] = {}  # old joint → new
    pending = [(0, target, -1)]
    while pending:
        i, body, parent = pending.pop()
        number[i] = len(made)
        moved = shift.get(body, Transform())
        above = shift.get(joints[i].parent if i not in path else i, Transform())
        joint = replace(
            joints[i],
            parent=parent,
            body=joints[body].body,
            inertia=joints[body].inertia.seen_from(moved),
            link_frame=moved @ joints[body].link_frame,
        )
        if i in path:
            joint = replace(joint, placement=above, axis=-joint.axis)
        elif i:
            joint = replace(joint, placement=above @ joint.placement)
        made.append(joint)
        pending += [(j, b, number[i]) for j, b in reversed(below[body])]
    return robot.with_joints(
        [
            replace(j, mimic=replace(j.mimic, joint=number[j.mimic.joint])) if j.mimic else j
            for j in made
        ]
    )
