"""Closed loops that a URDF declares outside its tree: a line each.

URDF has no loops. Files say them in extensions: SDF's joints within ``<gazebo>``, ``<loop_joint>``,
URDF+'s ``<loop>`` and ``<coupling>``, Drake's constraints and springs between bodies, MJCF's
``<equality>`` within ``<mujoco>``; and in what an MJCF became (``LOOP``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..system.notes import changing, idle
from .model import RobotError
from .unread import plain
from .urdf_elements import LOOP
from .xml_lines import Element

SHOWN = 3  # loops that a refusal names
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
    pending = [element]
    while pending:
        found = pending.pop()
        if found.tag == "joint" and found.all("parent") and found.all("child"):
            yield found.text("closes a loop")
        elif found.tag == "equality":
            yield from (child.text("couples what it names") for child in found)
        else:
            pending.extend(reversed(found.children))


def left_open(document: Element, asked: bool, notes: list[str]) -> None:
    """Note each loop, left open as was ``asked``; else RobotError."""
    found = list(loops(document))
    if not asked and found:
        count = f"{len(found)} loops are" if len(found) > 1 else "a loop is"
        shown = "; ".join([*found[:SHOWN], *["…"] * (len(found) > SHOWN)])
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
