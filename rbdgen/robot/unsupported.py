"""Entries of a robot's file that the dynamics leave out: a note for each kind.

What else than friction stands in ``<dynamics>``, and transmissions' reductions. Where the tags are
not URDF's own they are those of ROS 1 and 2, Gazebo, Drake and Isaac. What is zero, and a reduction
of 1, changes nothing and needs no note.

Numbers that look like degrees are noted, too.

Closed loops that a URDF declares outside its tree have a line each.

URDF has no loops. Files say them in extensions: SDF's joints within ``<gazebo>``, ``<loop_joint>``,
URDF+'s ``<loop>`` and ``<coupling>``, Drake's constraints and springs between bodies, MJCF's
``<equality>`` within ``<mujoco>``; and in what an MJCF became (``LOOP``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..system.quoting import changing, idle
from .model import Array, JointKind, RobotError
from .urdf_elements import ATTRIBUTES, LOOP
from .xml_lines import Element, one_line, quoted

SHOWN = 3  # joints that a note names
UPRIGHT = 1 - 1e-12  # z of a direction that is +z
ROTORS = ("rotorinertia", "motorinertia", "armature")
REDUCTIONS = ("mechanicalreduction", "gearratio", "screwreduction", "reduction")


@dataclass(eq=False)
class _Entries:
    """The entries of one kind: where first, under which names, at which joints."""

    first: Element
    names: dict[str, None] = field(default_factory=dict)
    joints: dict[str, None] = field(default_factory=dict)

    def text(self, message: str) -> str:
        at = f"{self.first.file}:{self.first.line}: "
        return f"{at}{', '.join(self.names)} of {few(list(self.joints))} {message}"


def few(names: list[str]) -> str:
    """``joint "a"``, or ``5 joints ("a", "b", "c" …)``."""
    if len(names) == 1:
        return f"joint {quoted(names[0])}"
    more = " …" if len(names) > SHOWN else ""
    return f"{len(names)} joints ({', '.join(map(quoted, names[:SHOWN]))}{more})"


def ignored_entries(document: Element, moving: Mapping[str, JointKind]) -> list[str]:
    """A note for each kind of thing that is left out of the ``moving`` joints, by name."""
    found: dict[str, _Entries] = {}
    named: dict[Element, list[str]] = {}

    def add(kind: str, element: Element, name: str, joints: list[str]) -> None:
        if joints:
            own = found.setdefault(kind, _Entries(element))
            own.names[name] = None
            own.joints |= dict.fromkeys(joints)

    for joint in document.all("joint"):
        name = joint.attributes["name"]
        if name not in moving:
            continue
        for element in joint.all("dynamics"):
            for key, value in element.attributes.items():
                taken = key in ATTRIBUTES["dynamics"]
                if (not taken or moving[name].nv > 1) and said_number(value) != 0:
                    add("several" if taken else _kind(key), element, key, [name])
        for element in joint.all("limit"):
            for key in element.attributes:
                if key not in ATTRIBUTES["limit"]:
                    add("limit", element, key, [name])
    for element in beside_links(document):
        if element.tag == "dynamics":  # is looked at above
            continue
        values = {**element.attributes, element.tag: element.content}
        values[element.tag] = element.attributes.get("value", element.content)
        for key, value in values.items():
            if plain(key) in REDUCTIONS and said_number(value) not in (0, 1):
                add("reduction", element, key, whose(element, moving, named))
    return [found[kind].text(message) for kind, message in MESSAGES.items() if kind in found]


MESSAGES = {
    "limit": "in <limit>: not read",
    "spring": changing("in <dynamics>: not read; joints have no springs"),
    "rotor": changing(
        "in <dynamics>: not read; a rotor's inertia, times the squared reduction, is armature there"
    ),
    "dynamics": changing("in <dynamics>: not read; only damping, friction and armature are"),
    "several": changing(
        "in <dynamics>: left out; only joints that turn or slide have friction and rotors"
    ),
    "reduction": "read for rotors' inertias alone; positions, rates and efforts are the joints', "
    "not the motors'",
}


def _kind(key: str) -> str:
    """Which of ``MESSAGES`` speaks of such an attribute of ``<dynamics>``."""
    name = plain(key)
    if "spring" in name or "stiffness" in name:
        return "spring"
    return "rotor" if name in (*ROTORS, *REDUCTIONS) else "dynamics"


def tilted_planes(joints: Mapping[str, tuple[Element, JointKind, Array]]) -> list[str]:
    """A note of the planar joints whose plane is not the x-y plane of their own frame."""
    tilted = {
        name: element
        for name, (element, kind, axis) in joints.items()
        if kind is JointKind.PLANAR and axis[2] < UPRIGHT
    }
    if not tilted:
        return []
    first = next(iter(tilted.values()))
    return [
        changing(
            f"{first.file}:{first.line}: planar {few(list(tilted))}: moves in the plane normal to "
            "its axis (x unless the file says), as URDF defines; Pinocchio ignores the axis and "
            "takes z"
        )
    ]


def beside_links(document: Element) -> Iterator[Element]:
    """All elements but links and what is in them, in file order."""
    return document.below(lambda element: element.tag != "link" or element.parent is not document)


def whose(
    element: Element, moving: Mapping[str, JointKind], named: dict[Element, list[str]]
) -> list[str]:
    """The joints that an element speaks of: the nearest around it that names any, in itself or
    its children. ``named`` keeps what has been looked up."""
    around: Element | None = element
    while around is not None and around.parent is not None:
        if around not in named:
            said = [around, *around.children]
            names = [e.attributes.get(key, "") for e in said for key in ("name", "reference")]
            named[around] = [name for name in names if name in moving]
        if named[around]:
            return named[around]
        around = around.parent
    return []


def plain(name: str) -> str:
    """``drake:rotor_inertia`` → ``rotorinertia``."""
    return name.rpartition(":")[2].replace("_", "").lower()


def said_number(text: str) -> float:
    """The number in a text; 0 if it is none: the entry is not used, and may be anything."""
    try:
        return float(text)
    except ValueError:
        return 0.0


# Children that say nothing of the dynamics, beside those that are read. What has a prefix, such as
# ``drake:``, is a tool's.
SILENT = {
    "robot": {"link", "joint", "material", "transmission", "gazebo", "sensor", "ros2_control"},
    "link": {
        "inertial",
        "visual",
        "collision",
        "contact",
        "sensor",
        "self_collision_checking",
        "collision_checking",
        "self_filter",
    },
    "joint": {
        *("origin", "axis", "parent", "child", "limit", "mimic", "dynamics", "calibration"),
        *("safety_controller", "hardwareInterface", "hardware"),
    },
    "inertial": {"origin", "mass", "inertia"},
}
MOST_TURNS = 2  # either way, of a joint's limits: arms have that much
MOST_ANGLE = 2 * math.pi + 0.01  # of a rotation in a file: more says nothing that less does not
NONE = 1e3  # a limit beyond this is a way to say that there is none


def ignored_elements(document: Element) -> Iterator[str]:
    """A note for each tag, by what it is a child of, that is neither read nor known."""
    found: dict[tuple[str, str], list[Element]] = {}
    for element in (document, *document.below(lambda child: child.tag in SILENT)):
        for child in element:
            include = plain(child.tag).startswith("include")
            if include or (child.tag not in SILENT[element.tag] and ":" not in child.tag):
                found.setdefault((element.tag, child.tag), []).append(child)
    for (parent, tag), elements in found.items():
        what = f"in <{parent}>: not read"
        if plain(tag).startswith("include"):
            what = "not read, nor what it includes; xacro includes files: <xacro:include>"
        elif len(elements) > 1:
            what += f", nor {len(elements) - 1} more of them"
        first = elements[0]
        yield f"{first.file}:{first.line}: <{one_line(tag)}> {what}"


def coupled_elsewhere(document: Element) -> Iterator[str]:
    """A note of joints that a controller or a simulator makes follow others, and URDF does not."""
    follows = {
        joint.attributes.get("name")
        for joint in document.all("joint")
        if any(plain(child.tag) == "mimic" for child in joint)
    }
    found: dict[str, Element] = {}
    for element in beside_links(document):
        inside = element.children
        if element.tag == "joint" and any(
            child.tag == "param" and child.attributes.get("name") == "mimic" for child in inside
        ):
            found.setdefault(element.attributes.get("name", ""), element)
        for child in inside:
            if plain(child.tag) == "mimicjoint":
                found.setdefault(child.content.strip() or child.attributes.get("name", ""), child)
    left = {name: element for name, element in found.items() if name not in follows}
    if left:
        first = next(iter(left.values()))
        yield (
            f"{first.file}:{first.line}: {few(list(left))}: follows another for a controller or a "
            "simulator alone, and is free here; write <mimic> into the joint"
        )


def in_degrees(document: Element) -> Iterator[str]:
    """A note of joints' limits, and of rotations, that are too large for radians."""
    joints: dict[str, Element] = {}
    for joint in document.all("joint"):
        for limit in joint.all("limit"):
            ends = [abs(said_number(limit.attributes.get(key, ""))) for key in ("lower", "upper")]
            far = 2 * math.pi * MOST_TURNS + 0.01 < max(ends) < NONE
            if joint.attributes.get("type") == "revolute" and far:
                joints.setdefault(joint.attributes.get("name", ""), limit)
    if joints:
        first = next(iter(joints.values()))
        numbers = ((key, first.attributes.get(key, "")) for key in ("lower", "upper", "velocity"))
        said = ", ".join(f"{key} {one_line(value)}" for key, value in numbers if value)
        others = " of the first" if len(joints) > 1 else ""
        yield (
            f"{first.file}:{first.line}: limits of {few(list(joints))}: {said}{others}: more than "
            f"{MOST_TURNS} turns; in degrees? URDF's angles are radians, its velocities rad/s"
        )
    placed = document.below(lambda child: child.tag in ("link", "joint", "inertial", "origin"))
    turned = [
        element
        for element in placed
        if element.tag == "origin"
        and any(abs(said_number(x)) > MOST_ANGLE for x in element.attributes.get("rpy", "").split())
    ]
    if turned:
        more = f", and {len(turned) - 1} more" if len(turned) > 1 else ""
        yield turned[0].text(f"rpy{more}: more than a turn; in degrees? URDF's angles are radians")


JOINTS_SHOWN = 3  # loops that a refusal names
OF_ROBOT = {
    *("loopjoint", "loop", "coupling", "ballconstraint", "distanceconstraint", "weldconstraint"),
    *("linearspringdamper", "linearbushingrpy", "bushing", "constraint", "tendon"),
}


def loops(document: Element) -> Iterator[str]:
    """A line for each loop, with its file, line and element."""
    for element in document:
        if element.tag == LOOP:
            yield element.attributes.get("text") or element.text("closes a loop")
        elif plain(element.tag) in OF_ROBOT:
            yield element.text("closes a loop")
        elif element.tag in ("gazebo", "mujoco"):
            yield from _of_simulators(element)


def _of_simulators(element: Element) -> Iterator[str]:
    """Joints with two links in what Gazebo reads, equalities in what MuJoCo does."""
    for found in element:
        if found.tag == "joint" and found.all("parent") and found.all("child"):
            yield found.text("closes a loop")
        elif found.tag == "equality":
            yield from (child.text("couples what it names") for child in found)
        else:
            yield from _of_simulators(found)


def left_open(document: Element, asked: bool, notes: list[str]) -> None:
    """Note each loop, left open as was ``asked``; else RobotError."""
    found = list(loops(document))
    if not asked and found:
        count = f"{len(found)} loops are" if len(found) > 1 else "a loop is"
        shown = "; ".join([*found[:JOINTS_SHOWN], *["…"] * (len(found) > JOINTS_SHOWN)])
        raise RobotError(
            f"{shown}: {count} not computed, so its dynamics would be another robot's; "
            "--open-loops (open_loops=True) leaves out what closes them"
        )
    notes += [changing(f"{loop}: left out, as asked: the open tree's dynamics") for loop in found]


def notes_of_none(document: Element, dropped: int) -> list[str]:
    """A note on loops that were to be left open where there is none, nor a joint ``dropped``."""
    if dropped or any(loops(document)):
        return []
    return [idle("open_loops", True, "robots with loops, and this one has none")]
