"""The design as a file, and what the files of its folder are called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from ..design.design import Design
from ..design.limits import limits_table
from ..design.nested import CHOICES
from ..design.options import CHECKS
from ..robot.model import Robot
from ..system.quoting import printable

ROBOT, DESIGN, GRAPH = "robot.urdf", "design.yaml", "graph.txt"
LIMITS = "# made for: position, velocity, acceleration, effort (and who said so)\n"


def graph_file(stage: str) -> str:
    """The file of a stage's graph; ``stage``: empty of a core."""
    return f"graph_{stage}.txt" if stage else GRAPH


def design_text(design: Design, robot: str = ROBOT) -> str:
    """The design as YAML, of the URDF ``robot``: compiling it gives the same hardware."""
    limits: dict[str, Any] = _said(vars(design.limits))
    joints = {name: _said(vars(own)) for name, own in design.joint_limits.items()}
    if joints:
        limits["joints"] = joints
    entries = {"robot": robot, **_said({key: getattr(design, key) for key in CHECKS})}
    if design.joints:
        entries["joints"] = {name: _said(vars(own)) for name, own in design.joints.items()}
    chosen = {choice.what: _said(choice.entry) for choice in design.chosen}
    entries |= {what: chosen[what] for what in CHOICES if chosen.get(what)}
    if limits:
        entries["limits"] = limits
    return yaml.safe_dump(entries, sort_keys=False)


def design_file(design: Design, robot: Robot) -> str:
    """The same, and the limits that it comes to, for who reads it."""
    from ..draw.tables import limits_text  # SciPy, by way of the reports

    lines = [f"#   {printable(line)}\n" for line in limits_text(limits_table(design, robot))]
    return design_text(design) + "".join([LIMITS, *lines])


def filed_notes(design: Design, notes: Iterable[str]) -> tuple[str, ...]:
    """Notes as a design's folder keeps them: lines of the robot are those of its copy there."""
    start = f"{design.robot}:"
    return tuple(
        ROBOT + note[len(start) - 1 :] if note.startswith(start) else note for note in notes
    )


def _said(values: dict[str, Any]) -> dict[str, Any]:
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
    return {k: v for k, v in plain.items() if v is not None}
