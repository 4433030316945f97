"""A robot mounted on another, as a URDF of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..design.loading import filed
from ..robot.compose import mounted
from ..robot.xml_lines import read_bytes
from .folder import write_file
from .places import check_place


def mount(
    base: str,
    arm: str,
    link: str,
    output: str | Path,
    *,
    xyz: Sequence[float] = (0.0, 0.0, 0.0),
    rpy: Sequence[float] = (0.0, 0.0, 0.0),
    prefix: str = "arm_",
) -> Path:
    """Write to ``output`` the URDF of ``base`` with ``arm`` fixed to its ``link``; returns it.

    Both are URDFs, YAML designs or shipped robots, of which the URDF counts alone. ``xyz`` [m] and
    ``rpy`` [rad]: where the arm stands in the link's frame. Its links and joints get ``prefix``.

    Raises RobotError or OutputError, in one line.
    """
    place = Path(output)
    check_place(place)
    files = filed(base).robot, filed(arm).robot
    texts = read_bytes(files[0]), read_bytes(files[1])
    text = mounted(*texts, link, xyz=xyz, rpy=rpy, prefix=prefix, files=files)
    write_file(place, text)
    return place
