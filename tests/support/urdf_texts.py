"""Small robots as text, one element a line."""

from __future__ import annotations

from rbdgen.robot.model import Robot
from rbdgen.robot.urdf import parse_urdf

FILE = "arm.urdf"
BODY = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)


def link(name: str, inside: str = BODY) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, parent: str, child: str, inside: str = "", kind: str = "revolute") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>"
    )


def robot(*lines: str) -> str:
    """A robot with one element a line: the first of ``lines`` is line 2 of the file."""
    return "\n".join(['<robot name="arm">', *lines, "</robot>"])


def arm(inside: str) -> str:
    """Base and one joint; what is ``inside`` the joint is on line 4."""
    return robot(link("base"), link("tip"), joint("j", "base", "tip", inside))


def body(inertial: str) -> str:
    """Base and one moving link; its ``inertial`` is on line 4."""
    return robot(link("base"), joint("j", "base", "tip"), link("tip", inertial))


def moments(xx: float, yy: float, zz: float, xy: float = 0.0) -> str:
    return (
        f'<inertial><mass value="1"/><inertia ixx="{xx}" ixy="{xy}" ixz="0" '
        f'iyy="{yy}" iyz="0" izz="{zz}"/></inertial>'
    )


def read(text: str | bytes, **options: object) -> Robot:
    return parse_urdf(text, file=FILE, **options)  # type: ignore[arg-type]


PAIR = (link("base"), link("tip"))
MIMIC = '<mimic joint="{}"/>'
