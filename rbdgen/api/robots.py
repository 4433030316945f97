"""The robots that travel with rbdgen."""

from __future__ import annotations

from dataclasses import dataclass

from ..design.loading import load, shipped_robots
from ..draw.tables import table
from ..robot.canonical import merge_fixed
from ..robot.model import JointKind
from ..system.records import Record


@dataclass(frozen=True)
class Shipped(Record):
    """A robot: joints that move, how many of a kind, the longest chain of them."""

    name: str
    file: str
    moving: int
    kinds: str
    height: int


@dataclass(frozen=True)
class Robots(Record):
    """All of them."""

    robots: tuple[Shipped, ...]


def robots() -> Robots:
    """The robots that a name is enough for, as ``rbdgen info iiwa14``."""
    return Robots(tuple(_shipped(name) for name in sorted(shipped_robots())))


def as_text(found: Robots) -> str:
    """The same for people."""
    rows = [[own.name, own.moving, own.kinds, own.height, own.file] for own in found.robots]
    return table(("robot", "joints", "", "longest chain", "file"), rows)


def _shipped(name: str) -> Shipped:
    design, robot = load(name)
    moving = merge_fixed(robot)
    height: list[int] = []
    for joint in moving.joints:
        height.append(1 + (height[joint.parent] if joint.parent >= 0 else 0))
    kinds = [joint.kind for joint in moving.joints]
    counts = {kind: kinds.count(kind) for kind in JointKind if kind in kinds}
    said = ", ".join(f"{n} {kind.value}" for kind, n in counts.items())
    mimics = sum(joint.mimic is not None for joint in moving.joints)
    said += f", {mimics} of them mimic" * (mimics > 0)
    return Shipped(name, str(design.robot), len(kinds), said, max(height, default=0))
