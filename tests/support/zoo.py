"""A robot with a joint of every kind, whose order Pinocchio, which sorts by names, changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rbdgen import api

ROBOT = """
<robot name="zoo">
  {links}
  {joints}
</robot>
"""
LINK = """<link name="{name}"><inertial><mass value="1"/><origin xyz="0.1 0.2 0.3"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="0.1 0 0.2"/><axis xyz="{axis}"/>{limit}</joint>"""
LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="40"/>'
JOINTS = (
    ("wheel", "continuous", "body", "disc", "1 0 0", '<limit velocity="5" effort="6"/>'),
    ("arm", "revolute", "body", "rod", "0 1 0", LIMIT),
    ("bolt", "continuous", "rod", "nut", "0 0 1", ""),
    ("slide", "prismatic", "nut", "cart", "0 1 0", LIMIT),
    ("drone", "floating", "cart", "copter", "0 0 1", ""),
    ("crab", "planar", "body", "plate", "0 0 1", ""),
)


def urdf() -> str:
    """Its file."""
    links = "".join(LINK.format(name=name) for name in ("body", *(own[3] for own in JOINTS)))
    fields = ("name", "kind", "parent", "child", "axis", "limit")
    joints = "".join(JOINT.format(**dict(zip(fields, own, strict=True))) for own in JOINTS)
    return ROBOT.format(links=links, joints=joints)


def generated(folder: Path, **choices: Any) -> Path:
    """The folder of C++ of a design of it that is called ``zoo``, with a floating base."""
    file = folder / "zoo.urdf"
    file.write_text(urdf())
    options = {"base": "floating", "functions": ("com", "energy", "pose"), "frames": ("nut",)}
    return api.generate(file, folder / "made", to="cpp", name="zoo", **options, **choices).folder
