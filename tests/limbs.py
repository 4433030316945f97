"""Robots of limbs that are alike up to the sense in which their joints move."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rbdgen.robot.model import Robot
from rbdgen.robot.urdf import parse_urdf

WALKER = Path(__file__).parent / "robots" / "walker.urdf"
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
