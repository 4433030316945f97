"""Conventions that differ from Pinocchio's, as docs/driver.md lists them, and how to have those."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin

from rbdgen.design.nested import JointDrivetrain
from rbdgen_host.driver import Dynamics

INERTIA = (
    '<inertial><origin xyz="0.1 {y} 0.3"/><mass value="2"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0.01" iyy="0.12" iyz="0" izz="0.09"/></inertial>'
)
LIMIT = '<limit lower="-2" upper="2" velocity="5" effort="9"/>'
# file order is not that of names; a rotor and friction; a mimic joint; a turn without end; a plane
ROBOT = f"""<robot name="all"><link name="root"/>
<link name="l1">{INERTIA.format(y=0.2)}</link><link name="l2">{INERTIA.format(y=0)}</link>
<link name="l3">{INERTIA.format(y=-0.1)}</link><link name="l4">{INERTIA.format(y=0.3)}</link>
<link name="l5">{INERTIA.format(y=0.05)}</link>
<joint name="z" type="revolute"><parent link="root"/><child link="l1"/><axis xyz="1 0 0"/>{LIMIT}
 <dynamics damping="3" friction="2" armature="0.7"/></joint>
<joint name="a" type="continuous"><parent link="root"/><child link="l2"/><axis xyz="0 1 0"/>
 <origin xyz="0 0.3 0.1"/></joint>
<joint name="m" type="revolute"><parent link="l2"/><child link="l3"/><axis xyz="0 1 0"/>{LIMIT}
 <mimic joint="z" multiplier="2"/><origin xyz="0.2 0 0"/></joint>
<joint name="p" type="planar"><parent link="l1"/><child link="l4"/><axis xyz="0 0 1"/>
 <origin xyz="0 0 0.4"/></joint>
<joint name="g" type="prismatic"><parent link="l4"/><child link="l5"/><axis xyz="0 0 1"/>{LIMIT}
 </joint></robot>"""
OURS = ["z", "p", "g", "a", "m"]  # in file order, each before its children


def test_pinocchios_conventions_can_be_had(tmp_path: Path) -> None:
    file = tmp_path / "all.urdf"
    file.write_text(ROBOT)
    model = pin.buildModelFromUrdf(str(file))
    driver = Dynamics(
        file,
        "golden",
        functions=("id", "m"),
        friction=False,
        mimic="independent",
        joints={"z": JointDrivetrain(armature=0)},
    )
    assert driver.notes[-1].startswith("damping and friction") and len(driver.notes) < 4
    assert list(dict.fromkeys(name.partition(".")[0] for name in driver.joint_names)) == OURS
    assert model.names.tolist() == ["universe", "a", "m", "z", "p", "g"]
    rng = np.random.default_rng(3)
    v, a = rng.uniform(-1, 1, (2, driver.nv))
    turn, plane, slide, free, mimic = rng.uniform(-1, 1, len(OURS))
    of_p = np.array([0.3, -0.4, np.cos(plane), np.sin(plane)])
    q = np.array([turn, *of_p, slide, free, mimic])
    forces = rng.normal(size=(len(OURS), 6))
    taken = dict(zip(OURS, np.split(np.arange(7), [1, 4, 5, 6]), strict=True))
    theirs = np.concatenate([taken[name] for name in model.names[1:]])  # where each of v is in ours
    of_q = {"a": [np.cos(free), np.sin(free)], "m": [mimic], "z": [turn], "p": of_p, "g": [slide]}
    carried = pin.StdVec_Force()
    carried.append(pin.Force.Zero())
    for name in model.names[1:]:
        force = forces[OURS.index(name)]
        carried.append(pin.Force(force[:3], force[3:]))
    data = model.createData()
    there = np.concatenate([of_q[name] for name in model.names[1:]])
    expected = pin.rnea(model, data, there, v[theirs], a[theirs], carried)
    found = driver.rnea(q, v, a, f_ext=forces)[theirs]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    M = pin.crba(model, data, there)
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(driver.crba(q)[np.ix_(theirs, theirs)], M, rtol=0, atol=1e-12)
