"""Read a URDF file into a ``Robot``; what cannot be right is refused with file, line and cure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ..system.quoting import changing, idle
from . import urdf_elements as read
from .model import (
    EARTH,
    Array,
    Drivetrain,
    Joint,
    JointKind,
    Limits,
    Mimic,
    Robot,
    RobotError,
    Transform,
)
from .rotors import drivetrain, rotors
from .unsupported import (
    coupled_elsewhere,
    ignored_elements,
    ignored_entries,
    in_degrees,
    left_open,
    notes_of_none,
    tilted_planes,
)
from .xml_lines import Element, did_you_mean, parse_xml, quoted

Base = Literal["fixed", "floating"]
MimicMode = Literal["fold", "independent"]

WORLD = "world"  # a link that need not be written
MOST_JOINTS, MOST_MOVING = 2000, 400  # a chain of 300 takes a minute for its inverse dynamics
ROOT_JOINT = "root_joint"  # Pinocchio's name for the joint of a floating base
# Roots of the files that an MJCF is put together of.
MJCF_PARTS = (
    *("mujocoinclude", "worldbody", "body", "default", "asset", "actuator", "sensor", "contact"),
    *("equality", "tendon", "option", "compiler", "keyframe", "visual", "include"),
)
_SINGLE_AXIS = (JointKind.REVOLUTE, JointKind.PRISMATIC)


@dataclass(frozen=True, eq=False)
class _Edge:
    """A ``<joint>`` of the file: the edge from one link to another."""

    element: Element
    name: str
    kind: JointKind
    parent: str
    child: str
    placement: Transform
    axis: Array
    limits: Limits
    drivetrain: Drivetrain


def parse_urdf(
    source: str | bytes,
    *,
    file: str = "robot.urdf",
    base: Base = "fixed",
    mimic: MimicMode = "fold",
    gravity: ArrayLike | None = None,
    open_loops: bool = False,
    notes: list[str] | None = None,
) -> Robot:
    """The robot that the text of a URDF describes; ``file`` is what messages call it.

    ``base``     "floating" puts the root link on a free joint named "root_joint".
    ``mimic``    "fold": a mimic joint follows its master; "independent": mimic tags are ignored.
    ``gravity``  (3,) [m/s²] in the base frame; 0, 0, -9.81 unless the file was made of one that
                 says another.
    ``open_loops``  whether what closes loops, or couples joints, is left out; else it is refused.
    ``notes``    receives one line for each thing that was accepted but looks wrong.

    Raises RobotError, one line with file, line, element and cure.
    """
    if base not in ("fixed", "floating"):
        raise RobotError(f'base is "fixed" or "floating", not {quoted(str(base))}')
    if mimic not in ("fold", "independent"):
        raise RobotError(f'mimic is "fold" or "independent", not {quoted(str(mimic))}')
    g = np.asarray(EARTH if gravity is None else gravity, dtype=np.float64)
    if g.shape != (3,) or not np.isfinite(g).all():
        raise RobotError(f"gravity is three finite numbers [m/s²], not {quoted(str(gravity))}")
    if notes is None:
        notes = []
    document = parse_xml(source, file)
    _check_robot(document)
    name = read.name_of(document)
    left_open(document, open_loops, notes)
    own = document.only(read.GRAVITY)
    if gravity is None and own is not None:
        g = read.numbers(own, "xyz", 3, EARTH)
    links = _links(document, notes)
    _refuse_large(document)
    inertias = {link: read.inertia(element, notes) for link, element in links.items()}
    edges = _edges(document, links, open_loops, notes)
    if open_loops:
        notes += notes_of_none(document, len(document.all("joint")) - len(edges))
    root = _root(document, links, edges)
    order = _depth_first(root, links, edges)
    moving = {edge.name: edge.kind for edge in order if edge.kind.nv}
    found = rotors(document, moving)
    joints: list[Joint] = []
    carrier = {root: -1}  # link → index of the joint that moves it
    if base == "floating":
        for edge in order:
            if edge.name == ROOT_JOINT:
                raise edge.element.error(f'"{ROOT_JOINT}" names the floating base; rename it')
        carrier[root] = 0
        joints.append(Joint(ROOT_JOINT, JointKind.FLOATING, -1, Transform(), root, inertias[root]))
    for edge in order:
        carrier[edge.child] = len(joints)
        joints.append(
            Joint(
                name=edge.name,
                kind=edge.kind,
                parent=carrier[edge.parent],
                placement=edge.placement,
                body=edge.child,
                inertia=inertias[edge.child],
                axis=edge.axis,
                limits=edge.limits,
                drivetrain=_with_rotor(edge, found.armature),
            )
        )
    if mimic == "fold":
        joints = _fold_mimics(joints, {edge.name: edge.element for edge in order}, notes)
    elif not any(_mimic(edge.element) for edge in order if edge.kind.nv):
        notes.append(idle("mimic", mimic, "robots with mimic joints, and this one has none"))
    _note_massless(joints, links, notes)
    notes += [element.attributes.get("text", "") for element in document.all(read.NOTE)]
    notes += tilted_planes({edge.name: (edge.element, edge.kind, edge.axis) for edge in order})
    notes += [*ignored_entries(document, moving), *found.notes]
    notes += [*ignored_elements(document), *in_degrees(document)]
    notes += coupled_elsewhere(document)
    if base == "floating":
        return Robot(name, tuple(joints), base_body="universe", gravity=g)
    return Robot(name, tuple(joints), root, inertias[root], g)


def _with_rotor(edge: _Edge, armature: Mapping[str, float]) -> Drivetrain:
    own = armature.get(edge.name, edge.drivetrain.armature)
    return replace(edge.drivetrain, armature=own)


def _check_robot(document: Element) -> None:
    if document.tag != "robot":
        near = {
            "sdf": "; this is SDF, convert it to URDF first",
            "mujoco": "; this is MJCF: give it as a file of its own, expanded if it is xacro",
            **dict.fromkeys(
                MJCF_PARTS, "; this is a part of an MJCF: give the file that has it in <include>"
            ),
        }
        hint = near.get(document.tag, "; a URDF file starts with <robot name=...>")
        raise document.error(f"the root element is not <robot>{hint}")
    read.refuse_xacro(document)
    read.check_children(document)


def _refuse_large(document: Element) -> None:
    """Refuse a robot so large that it would take hours."""
    joints = document.all("joint")
    moving = sum(joint.attributes.get("type") != "fixed" for joint in joints)
    for count, most, what in (
        (len(joints), MOST_JOINTS, "joints"),
        (moving, MOST_MOVING, "joints that move"),
    ):
        if count > most:
            raise document.error(f"{count} {what}; there may be {most}: leave out what can be")


def _links(document: Element, notes: list[str]) -> dict[str, Element]:
    """Link name → element. Only direct children count: transmission and gazebo repeat tags."""
    links: dict[str, Element] = {}
    for element in document.all("link"):
        name = read.name_of(element)
        if name in links:
            raise element.error(f"a link of that name is on line {links[name].line}; rename one")
        links[name] = element
    for joint in document.all("joint") if WORLD not in links else ():
        parents = joint.all("parent")
        if parents and parents[0].attributes.get("link") == WORLD:
            text = f"link {quoted(WORLD)} is not in the file; taken as its root, without mass"
            notes.append(parents[0].text(text))
            root = Element("link", {"name": WORLD}, parents[0].file, parents[0].line, document)
            links = {WORLD: root, **links}
            break
    if not links:
        raise document.error('has no <link>; write at least <link name="base"/>')
    return links


def _edges(
    document: Element, links: dict[str, Element], open_loops: bool, notes: list[str]
) -> list[_Edge]:
    """The joints in file order, each with two links that exist, no link with two parents: of two
    the second is refused, or left out."""
    edges: list[_Edge] = []
    names: dict[str, Element] = {}
    moved_by: dict[str, Element] = {}
    for element in document.all("joint"):
        name = read.name_of(element)
        if name in names:
            raise element.error(f"a joint of that name is on line {names[name].line}; rename one")
        names[name] = element
        read.check_children(element)
        kind = read.kind(element)
        parent, child = _end(element, "parent", links), _end(element, "child", links)
        if child in moved_by:
            first = f"{moved_by[child].label} on line {moved_by[child].line}"
            said = f"link {quoted(child)} has two parents: it is already the child of {first}"
            if not open_loops:
                raise element.error(f"{said}; --open-loops (open_loops=True) cuts the loop here")
            notes.append(changing(element.text(f"{said}; left out, as asked")))
            continue
        moved_by[child] = element
        edges.append(
            _Edge(
                element,
                name,
                kind,
                parent,
                child,
                read.pose(element),
                read.unit_axis(element)
                if kind in (*_SINGLE_AXIS, JointKind.PLANAR)
                else np.array([0.0, 0.0, 1.0]),
                read.limits(element, notes) if kind in _SINGLE_AXIS else Limits(),
                drivetrain(element, kind),
            )
        )
    return edges


def _end(joint: Element, end: str, links: dict[str, Element]) -> str:
    """The link at the ``parent`` or ``child`` end of a joint."""
    element = joint.only(end)
    if element is None:
        raise joint.error(f'has no <{end}>; write <{end} link="..."/>')
    name = read.required(element, "link")
    if name not in links:
        hint = did_you_mean(name, [*links, WORLD], "; add the link or correct the name")
        raise joint.error(f"{end} link {quoted(name)} does not exist{hint}")
    return name


def _root(document: Element, links: dict[str, Element], edges: list[_Edge]) -> str:
    """The one link that no joint moves."""
    children = {edge.child for edge in edges}
    roots = [name for name in links if name not in children]
    if not roots:
        raise document.error("every link has a parent, so the joints form a loop; cut it")
    if len(roots) > 1:
        second = links[roots[1]]
        raise second.error(
            f"a second root: no joint has this link as child, nor {quoted(roots[0])} of line "
            f"{links[roots[0]].line}; join them by a joint (type fixed if they do not move)"
        )
    return roots[0]


def _depth_first(root: str, links: dict[str, Element], edges: list[_Edge]) -> list[_Edge]:
    """The edges from the root outwards, children in file order; refuses links off the tree."""
    below: dict[str, list[_Edge]] = {name: [] for name in links}
    for edge in edges:
        below[edge.parent].append(edge)
    order: list[_Edge] = []
    pending = below[root][::-1]
    while pending:
        edge = pending.pop()
        order.append(edge)
        pending.extend(reversed(below[edge.child]))
    if len(order) < len(edges):
        # One root and one parent each: what is not reached hangs on a loop of its own.
        reached = {edge.name for edge in order}
        by_child = {edge.child: edge for edge in edges if edge.name not in reached}
        walk: dict[str, None] = {}
        link = next(iter(by_child))
        while link not in walk:
            walk[link] = None
            link = by_child[link].parent
        path = list(walk)
        loop = path[path.index(link) :][::-1]
        raise by_child[link].element.error(
            f"the links {' -> '.join(map(quoted, [*loop[-1:], *loop]))} form a loop; "
            f"a tree grows from {quoted(root)}: correct a parent"
        )
    return order


def _mimic(joint: Element) -> Element | None:
    return joint.only("mimic") or joint.only("drake:mimic")


def _fold_mimics(
    joints: list[Joint], elements: dict[str, Element], notes: list[str]
) -> list[Joint]:
    """Each mimic joint as a linear function of a free joint; chains are composed.

    q = m q' + b with q' = m' q'' + b'  gives  q = m m' q'' + (m b' + b).
    """
    index = {joint.name: i for i, joint in enumerate(joints)}
    links: dict[int, tuple[int, float, float]] = {}
    tags: dict[int, Element] = {}
    for i, joint in enumerate(joints):
        own = elements.get(joint.name)
        tag = _mimic(own) if own else None
        if tag is None:
            continue
        if joint.kind is JointKind.FIXED:
            notes.append(tag.text("ignored, as the joint is fixed"))
            continue
        if joint.kind not in _SINGLE_AXIS:
            raise tag.error(f"a {joint.kind.value} joint cannot mimic; remove it")
        read.check_attributes(tag)
        master = read.required(tag, "joint")
        if master not in elements:
            hint = did_you_mean(master, elements, "; correct the name")
            raise tag.error(
                f"joint {quoted(master)} does not exist{hint} (--mimic independent ignores mimics)"
            )
        if joints[index[master]].kind not in _SINGLE_AXIS:
            kind = joints[index[master]].kind.value
            raise tag.error(
                f"joint {quoted(master)} is {kind}; only a revolute, continuous or prismatic "
                "joint can be mimicked"
            )
        multiplier = float(read.numbers(tag, "multiplier", 1, (1.0,))[0])
        offset = float(read.numbers(tag, "offset", 1, (0.0,))[0])
        if multiplier == 0:
            notes.append(tag.text("multiplier is 0, so the joint never moves"))
        links[i], tags[i] = (index[master], multiplier, offset), tag
    folded = list(joints)
    for i, (master_index, m, b) in links.items():
        seen = {i}
        while master_index in links:
            if master_index in seen:
                raise tags[i].error("mimics itself, through a cycle of mimic joints; break it")
            seen.add(master_index)
            master_index, m_next, b_next = links[master_index]
            m, b = m * m_next, m * b_next + b
        if not np.isfinite([m, b]).all():
            raise tags[i].error("the chain of multipliers overflows; correct them")
        folded[i] = replace(joints[i], mimic=Mimic(master_index, m, b))
    return folded


def _note_massless(joints: list[Joint], links: dict[str, Element], notes: list[str]) -> None:
    """A moving joint with nothing to move, its rotor included, has a singular mass matrix."""
    carries = [not joint.inertia.is_zero for joint in joints]
    for i in range(len(joints) - 1, -1, -1):  # a child's index is above its parent's
        if carries[i] and joints[i].parent >= 0:
            carries[joints[i].parent] = True
    for joint, loaded in zip(joints, carries, strict=True):
        if joint.kind.nv and not loaded and not joint.drivetrain.armature:
            notes.append(
                links[joint.body].text(
                    f"joint {quoted(joint.name)} moves no mass, so the mass matrix is singular: "
                    "inverse dynamics works, forward dynamics and M⁻¹ do not"
                )
            )
