"""An arm in URDF, with transmissions."""

from __future__ import annotations

FILE = "arm.urdf"
LINK = (
    '<link name="{}"><inertial><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
)
LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'


def arm(*inside: str, extra: str = "", kind: str = "revolute") -> str:
    """A chain of joints j0, j1, …; joint i is on line 2 + i, what is ``extra`` after the last."""
    joints = [
        f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/>'
        + (own if "<limit" in own or kind == "planar" else LIMIT + own)
        + "</joint>"
        for i, own in enumerate(inside)
    ]
    links = [LINK.format(f"l{i}") for i in range(len(inside) + 1)]
    return "\n".join(['<robot name="arm">', *joints, extra, *links, "</robot>"])


def transmission(joint: str, inside: str, around: str = "actuator") -> str:
    return (
        f'<transmission name="t_{joint}"><joint name="{joint}"/><{around} name="m">{inside}'
        f"</{around}></transmission>"
    )
