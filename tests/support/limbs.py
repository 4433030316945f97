"""Robots of limbs that are alike up to the sense in which their joints move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from rbdgen.robot.model import Robot
from rbdgen.robot.urdf import parse_urdf

WALKER = Path(__file__).parents[1] / "robots" / "walker.urdf"
SLIDE = """<link name="rail"/>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="body"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="50" velocity="2"/></joint>
</robot>"""
LIMB = """
<joint name="hip{k}" type="revolute">
  <parent link="base"/><child link="thigh{k}"/><origin xyz="{k} 0 0"/><axis xyz="0 {hip} 0"/>
  <limit lower="-2" upper="2" velocity="6" effort="50"/>
</joint>
<link name="thigh{k}"><inertial><origin xyz="0.02 0 -0.2"/><mass value="{mass}"/>
  <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.01"/></inertial></link>
<joint name="shin{k}" type="prismatic">
  <parent link="thigh{k}"/><child link="foot{k}"/><axis xyz="0 0 {shin}"/>
  <limit lower="{lower}" upper="{upper}" velocity="2" effort="50"/>
</joint>
<link name="foot{k}"><inertial><origin xyz="0.01 0 -0.3"/><mass value="0.7"/>
  <inertia ixx="0.004" ixy="0" ixz="0" iyy="0.005" iyz="0" izz="0.002"/></inertial></link>
"""


def robot_of_limbs(
    senses: Sequence[tuple[int, int]], masses: Sequence[float] | None = None
) -> Robot:
    """The robot of `urdf_of_limbs`."""
    return parse_urdf(urdf_of_limbs(senses, masses).encode())


def urdf_of_limbs(senses: Sequence[tuple[int, int]], masses: Sequence[float] | None = None) -> str:
    """A hip that turns and a shin that slides by -0.1 to 0.4 m for each pair of ±1.

    The pair is the sense in which the two joints count; ``masses`` [kg] are the thighs'.
    """
    limbs = [
        LIMB.format(
            k=k,
            hip=hip,
            shin=shin,
            lower=-0.1 if shin > 0 else -0.4,
            upper=0.4 if shin > 0 else 0.1,
            mass=masses[k] if masses else 1.3,
        )
        for k, (hip, shin) in enumerate(senses)
    ]
    return f'<robot name="limbs"><link name="base"/>{"".join(limbs)}</robot>'


def urdf_of_cart() -> str:
    """The walker's body on a rail: two legs, swinging, on a trunk that slides."""
    return WALKER.read_text().replace("</robot>", SLIDE)


LEG = (  # axis, where from the joint before, of each joint of a leg of six
    ("0 0 1", (0.0, 0.1, -0.1)),
    ("1 0 0", (0.02, 0.03, -0.05)),
    ("0 1 0", (0.0, 0.01, -0.04)),
    ("0 1 0", (0.03, 0.02, -0.4)),
    ("0 1 0", (-0.01, 0.0, -0.42)),
    ("1 0 0", (0.05, 0.0, -0.03)),
)
TURN = '<limit lower="-1" upper="1" velocity="5" effort="90"/></joint>'
BODY = """<link name="{name}"><inertial><origin xyz="0.02 {y} -0.06"/><mass value="{mass}"/>
<inertia ixx="0.03" iyy="0.04" izz="0.02" ixy="{xy}" ixz="0.002" iyz="{yz}"/></inertial></link>"""


def urdf_of_biped() -> str:
    """A body on two legs of six joints, each the other's mirror image; their axes are parallel."""
    parts = [BODY.format(name="body", y=0, mass=20, xy=0, yz=0)]
    for side, s in (("left", 1), ("right", -1)):
        below = "body"
        for k, (axis, (x, y, z)) in enumerate(LEG):
            name = f"{side}{k}"
            parts.append(BODY.format(name=name, y=s * 0.01, mass=6 - k, xy=s * 3e-3, yz=s * 1e-3))
            parts.append(
                f'<joint name="{name}" type="revolute"><parent link="{below}"/><child '
                f'link="{name}"/><origin xyz="{x} {s * y} {z}"/><axis xyz="{axis}"/>{TURN}'
            )
            below = name
    return f'<robot name="biped">{"".join(parts)}</robot>'


def urdf_of_carousel(arms: int) -> str:
    """Arms of two joints, all round a table that turns."""
    parts = ['<link name="ground"/>', BODY.format(name="table", y=0, mass=9, xy=0, yz=0)]
    joints = [("table", "ground", (0.0, 0.0, 0.0), 0.0, "0 0 1")]
    for k in range(arms):
        angle = 2 * math.pi * k / arms
        hip = (math.cos(angle), math.sin(angle), 0.2)
        joints.append((f"upper{k}", "table", hip, angle, "0 1 0"))
        joints.append((f"lower{k}", f"upper{k}", (0.5, 0.1, 0.0), 0.0, "1 0 0"))
        parts += [
            BODY.format(name=f"{part}{k}", y=0.01, mass=2, xy=3e-3, yz=1e-3)
            for part in ("upper", "lower")
        ]
    parts += [
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{name}"/>'
        f'<origin xyz="{x!r} {y!r} {z!r}" rpy="0 0 {angle!r}"/><axis xyz="{axis}"/>{TURN}'
        for name, parent, (x, y, z), angle, axis in joints
    ]
    return f'<robot name="carousel">{"".join(parts)}</robot>'


def urdf_of_hexapod() -> str:
    """A body on six legs of three joints, all round it."""
    parts = [BODY.format(name="body", y=0, mass=9, xy=0, yz=0)]
    for k in range(6):
        angle, on = 2 * math.pi * k / 6, "body"
        at = (0.3 * math.cos(angle), 0.3 * math.sin(angle), 0.0)
        for n, axis in enumerate(("0 0 1", "0 1 0", "0 1 0")):
            name, (x, y, z), turn = f"leg{k}_{n}", at, 0.0 if n else angle
            parts.append(BODY.format(name=name, y=0.01, mass=2 - n / 2, xy=3e-3, yz=1e-3))
            parts.append(
                f'<joint name="{name}" type="revolute"><parent link="{on}"/><child link="{name}"/>'
                f'<origin xyz="{x!r} {y!r} {z!r}" rpy="0 0 {turn!r}"/><axis xyz="{axis}"/>{TURN}'
            )
            at, on = (0.2, 0.01, -0.02), name
    return f'<robot name="hexapod">{"".join(parts)}</robot>'


def urdf_of_faun() -> str:
    """The walker's legs, and two arms of two joints on a torso that turns on its body."""
    parts = [BODY.format(name="torso", y=0.02, mass=3, xy=1e-3, yz=2e-3)]
    joints = [("torso", "body", (0.02, 0.01, 0.2), "0 0 1")]
    for side, s in (("left", 1), ("right", -1)):
        joints.append((f"{side}_upper", "torso", (0.01, s * 0.2, 0.15), "0 1 0"))
        joints.append((f"{side}_lower", f"{side}_upper", (0.05, s * 0.03, -0.2), "1 0 0"))
        parts += [
            BODY.format(name=f"{side}_{part}", y=s * 0.01, mass=1, xy=s * 3e-3, yz=s * 1e-3)
            for part in ("upper", "lower")
        ]
    parts += [
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{name}"/>'
        f'<origin xyz="{x} {y} {z}"/><axis xyz="{axis}"/>{TURN}'
        for name, parent, (x, y, z), axis in joints
    ]
    return WALKER.read_text().replace("</robot>", f"{''.join(parts)}</robot>")


def urdf_of_pairs() -> str:
    """The walker with two more legs, which are as heavy again: two pairs of legs on one body."""
    whole = WALKER.read_text()
    legs = whole[whole.index('<link name="left">') : whole.index("</robot>")]
    for old, new in (
        ('"left', '"hind_left'),
        ('"right', '"hind_right'),
        ('value="2"', 'value="4"'),
        ('xyz="0.2 ', 'xyz="0.7 '),
        ('xyz="-0.2 ', 'xyz="-0.7 '),
    ):
        legs = legs.replace(old, new)
    return whole.replace("</robot>", f"{legs}</robot>")
