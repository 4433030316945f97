"""Robots made of others: two on each other, or the same about another link.

A mounted robot is a URDF made of two: the second one stands on a link of the first.

A floating robot may have another link as its base: it is the same machine, seen from elsewhere.

Its floating joint may hold any link. A joint on the way from the old base to the new one then leads
the other way, about the negative axis, so that its coordinate, its velocity and its limits stay.
``rbdgen.golden.rerooting`` maps states and torques.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from xml.etree import ElementTree

from .frames import ONE_AXIS
from .model import Joint, JointKind, Robot, RobotError, Transform
from .urdf import parse_urdf
from .xml_lines import did_you_mean, quoted

Element = ElementTree.Element
NAMED = {"link": "name", "joint": "name", "parent": "link", "child": "link", "mimic": "joint"}


def mounted(
    base: bytes,
    arm: bytes,
    link: str,
    *,
    xyz: Sequence[float] = (0.0, 0.0, 0.0),
    rpy: Sequence[float] = (0.0, 0.0, 0.0),
    prefix: str = "arm_",
    files: tuple[str, str] = ("base", "arm"),
) -> str:
    """The URDF of ``base`` with ``arm`` fixed to its ``link``, at ``xyz`` [m] turned by ``rpy``
    [rad] in that link's frame.

    Links and joints of the arm have ``prefix`` before their names. Of the arm nothing else is
    taken but its rotors' inertias, as ``<dynamics armature=>``. ``files``: what messages call the
    two.

    Raises:
        RobotError: either is no URDF, the link is none of the base's, or a name is there twice.
    """
    # says what is wrong, and where
    _, carried_arm = (parse_urdf(t, file=f) for t, f in zip((base, arm), files, strict=True))
    rotors = {joint.name: joint.drivetrain.armature for joint in carried_arm.joints}
    tree, other = ElementTree.fromstring(base), ElementTree.fromstring(arm)
    links = [own.get("name", "") for own in tree.findall("link")]
    if link not in links:
        hint = did_you_mean(link, links, f"; one of {', '.join(links)}")
        raise RobotError(f"{files[0]}: no link {quoted(link)} to mount {files[1]} on{hint}")
    taken = {(own.tag, own.get("name")) for own in tree}
    carried = {own.get("link") for joint in other.findall("joint") for own in joint.iter("child")}
    (root,) = (n for own in other.findall("link") if (n := own.get("name", "")) not in carried)
    for own in [*other.findall("link"), *other.findall("joint")]:
        if own.tag == "joint" and (armature := rotors[own.get("name", "")]):
            dynamics = own.find("dynamics")
            if dynamics is None:
                dynamics = ElementTree.SubElement(own, "dynamics")
            dynamics.set("armature", repr(armature))
        for named in (own, *own):
            if key := NAMED.get(named.tag):
                named.set(key, prefix + named.get(key, ""))
        if (own.tag, own.get("name")) in taken:
            raise RobotError(
                f"{files[1]}: {own.tag} {quoted(str(own.get('name')))} is one of {files[0]}, too; "
                "give another prefix"
            )
        tree.append(own)
    joint = ElementTree.SubElement(tree, "joint", name=f"{prefix}mount", type="fixed")
    place = {key: " ".join(f"{x:.17g}" for x in v) for key, v in (("xyz", xyz), ("rpy", rpy))}
    ElementTree.SubElement(joint, "origin", place)
    ElementTree.SubElement(joint, "parent", link=link)
    ElementTree.SubElement(joint, "child", link=prefix + root)
    made = _text(tree)
    parse_urdf(made, file=f"{files[1]} on {files[0]}")
    return made


def _text(tree: Element) -> str:
    ElementTree.indent(tree)
    return ElementTree.tostring(tree).decode() + "\n"


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
