"""Notes of what a URDF has that is passed over, and of numbers that look like degrees."""

from __future__ import annotations

import math
from collections.abc import Iterator

from .unread import beside_links, few, plain, said_number
from .xml_lines import Element, one_line

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


def passed_over(document: Element) -> Iterator[str]:
    """A note for each tag, by what it is a child of, that is neither read nor known."""
    found: dict[tuple[str, str], list[Element]] = {}
    pending = [document]
    while pending:
        element = pending.pop()
        for child in element:
            include = plain(child.tag).startswith("include")
            if include or (child.tag not in SILENT[element.tag] and ":" not in child.tag):
                found.setdefault((element.tag, child.tag), []).append(child)
        pending.extend(reversed([child for child in element if child.tag in SILENT]))
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
    turned: list[Element] = []
    pending = [document]
    while pending:
        element = pending.pop()
        words = element.attributes.get("rpy", "").split() if element.tag == "origin" else []
        if any(abs(said_number(word)) > MOST_ANGLE for word in words):
            turned.append(element)
        pending.extend(
            child
            for child in reversed(element.children)
            if child.tag in ("link", "joint", "inertial", "origin")
        )
    if turned:
        more = f", and {len(turned) - 1} more" if len(turned) > 1 else ""
        yield turned[0].text(f"rpy{more}: more than a turn; in degrees? URDF's angles are radians")
