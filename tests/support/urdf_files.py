"""Robots of URDF files, read as a design's robot is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rbdgen.robot.model import Robot
from rbdgen.robot.urdf import parse_urdf
from rbdgen.robot.xml_lines import read_bytes


def read_urdf(path: str | Path, **choices: Any) -> Robot:
    """The robot that a URDF file describes; ``choices``: of `parse_urdf`."""
    return parse_urdf(read_bytes(path), file=str(path), **choices)
