"""Entries of a URDF's joints that the dynamics leave out: a note for each kind.

What else than friction stands in ``<dynamics>``, and transmissions' reductions. Where the tags are
not URDF's own they are those of ROS 1 and 2, Gazebo, Drake and Isaac. What is zero, and a reduction
of 1, changes nothing and needs no note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..system.notes import changing
from .model import Array, JointKind
from .urdf_elements import ATTRIBUTES
from .xml_lines import Element, quoted

SHOWN = 3  # joints that a note names
UPRIGHT = 1 - 1e-12  # z of a direction that is +z
ROTORS = ("rotorinertia", "motorinertia", "armature")
REDUCTIONS = ("mechanicalreduction", "gearratio", "screwreduction", "reduction")


@dataclass(eq=False)
class _Found:
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


def unread(document: Element, moving: Mapping[str, JointKind]) -> list[str]:
    """A note for each kind of thing that is left out of the ``moving`` joints, by name."""
    found: dict[str, _Found] = {}
    named: dict[Element, list[str]] = {}

    def add(kind: str, element: Element, name: str, joints: list[str]) -> None:
        if joints:
            own = found.setdefault(kind, _Found(element))
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
    pending = [child for child in document.children[::-1] if child.tag != "link"]
    while pending:
        element = pending.pop()
        yield element
        pending.extend(reversed(element.children))


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
