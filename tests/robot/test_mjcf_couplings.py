"""Joints that an MJCF couples follow as MuJoCo's constraints hold them; loops are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.robot.model import JointKind, RobotError
from tests.support.mjcf_texts import followed, read

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

BODY = (
    '<body name="{0}" pos="0.2 0.1 0.3"><joint name="j{0}" type="{1}" axis="{2}" ref="{3}" '
    'pos="0 0.1 0" damping="0.3" armature="0.05"/>'
    '<geom type="ellipsoid" size="0.1 0.2 0.3" pos="0.1 0.05 0"/>{4}</body>'
)
CHAIN = BODY.format(
    *("a", "hinge", "0 1 0", 0.2),
    BODY.format(
        *("b", "slide", "1 1 0", -0.3),
        BODY.format(
            *("c", "hinge", "1 0 0", 0), BODY.format("d", "hinge", "1 2 3", 0.7, '<site name="s"/>')
        ),
    ),
)


def model_of(extra: str, flags: str = "") -> str:
    option = f'<option gravity="1 2 -9"><flag contact="disable" {flags}/></option>'
    return (
        f'<mujoco model="m"><compiler angle="radian"/>{option}'
        f'<default><default class="off"><equality active="false"/></default></default>'
        f'<worldbody><site name="o"/>{CHAIN}</worldbody>{extra}</mujoco>'
    )


def equality(one: str, two: str = "", poly: str = "0 1 0 0 0", more: str = "") -> str:
    second = f'joint2="{two}"' if two else ""
    return f'<joint joint1="{one}" {second} polycoef="{poly}" {more}/>'


@pytest.mark.parametrize(
    ("said", "free"),
    [
        (equality("jc", "ja", "0.3 -2 0 0 0"), ["ja", "jb", "jd"]),
        (equality("ja", "jd", "-0.1 0.5 0 0 0"), ["jb", "jc", "jd"]),  # the master comes later
        (equality("jc", "jb") + equality("jd", "jc", "0.1 3 0 0 0"), ["ja", "jb"]),  # a chain
        (equality("jc", poly="0.4 0 0 0 0"), ["ja", "jb", "jd"]),  # it is locked
        (equality("jb", poly="-0.2 0 0 0 0") + equality("jd", "jb"), ["ja", "jc"]),
        (equality("jc", "ja", "0.4 0 0 0 0"), ["ja", "jb", "jd"]),  # whatever the master does
        (equality("jc", "ja", more='active="false"'), ["ja", "jb", "jc", "jd"]),
        (equality("jc", "ja", more='class="off"'), ["ja", "jb", "jc", "jd"]),
    ],
)
def test_coupled_joints_are_mujocos(said: str, free: list[str], tmp_path: Path) -> None:
    """Positions satisfy MuJoCo's constraints, and tau and M are its, seen through them."""
    text = model_of(f"<equality>{said}</equality>")
    robot, notes = read(text, tmp_path / "m.xml")
    assert robot.joint_names == free
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    G, b = followed(model, robot)
    for joint in robot.joints:
        if joint.kind is JointKind.FIXED:
            k = model.joint(joint.name).id
            at = [
                float(note.split("fixed at ")[1].split()[0]) for note in notes if joint.name in note
            ]
            b[model.jnt_dofadr[k]] = at[0]
    rng = np.random.default_rng(1)
    for q, qd, qdd in rng.normal(size=(5, 3, robot.nv)):
        data.qpos[:], data.qvel[:], data.qacc[:] = G @ q + b, G @ qd, G @ qdd
        force, M = np.zeros(model.nv), np.zeros((model.nv, model.nv))
        mujoco.mj_forward(model, data)
        held = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        assert_allclose(data.efc_pos[held], 0, atol=1e-6 if "fixed at" in "".join(notes) else 1e-12)
        mujoco.mj_fullM(model, data, M)
        data.qacc[:] = G @ qdd
        mujoco.mj_rne(model, data, 1, force)
        force += model.dof_armature * data.qacc - data.qfrc_passive
        assert_allclose(golden.rnea(robot, q[None], qd[None], qdd[None])[0], G.T @ force, atol=1e-9)
        assert_allclose(golden.crba(robot, q[None])[0], G.T @ M @ G, atol=1e-10)


LOOPS = {
    "connect": '<equality><connect name="c" body1="d" anchor="0 0 1"/></equality>',
    "connect of sites": '<equality><connect site1="s" site2="o"/></equality>',
    "weld": '<equality><weld body1="a" body2="d"/></equality>',
    "not linear": f"<equality>{equality('jc', 'ja', '0 1 0.5 0 0')}</equality>",
    "twice": f"<equality>{equality('jc', 'ja')}{equality('jc', 'jb')}</equality>",
    "round": f"<equality>{equality('jc', 'ja')}{equality('ja', 'jc')}</equality>",
    "flex": '<deformable><flex name="f" dim="1" body="a c" element="0 1" '
    'vertex="0 0 0 0 0 0"/></deformable>',
    "spring": '<tendon><fixed name="t" stiffness="2"><joint joint="ja" coef="1"/>'
    '<joint joint="jc" coef="1"/></fixed></tendon>',
    "rotor": '<tendon><fixed name="t" armature="2"><joint joint="ja" coef="1"/>'
    '<joint joint="jc" coef="1"/></fixed></tendon>',
}


@pytest.mark.parametrize("kind", LOOPS)
def test_loops_are_refused_unless_left_open(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "m.xml"
    file.write_text(model_of(LOOPS[kind]))
    with pytest.raises(RobotError, match=r"m.xml: <.*another robot's; --open-loops") as refused:
        load(file)
    assert "\n" not in str(refused.value)
    notes: list[str] = []
    assert load(file, open_loops=True, notes=notes)[0].open_loops
    assert any("left out, as asked" in note for note in notes)


@pytest.mark.parametrize("flag", ["equality", "constraint"])
def test_what_a_flag_disables_is_no_loop(flag: str, tmp_path: Path) -> None:
    text = model_of(LOOPS["weld"], f'{flag}="disable"')
    _, notes = read(text, tmp_path / "m.xml")
    assert "m.xml: 1 equality constraint: left out; disabled by its flag" in notes
    read(model_of(LOOPS["spring"], 'spring="disable"'), tmp_path / "m.xml")


def test_a_tendon_that_nothing_moves_is_no_loop(tmp_path: Path) -> None:
    text = LOOPS["spring"].replace('stiffness="2"', 'limited="true" range="0 1"')
    notes = read(model_of(text), tmp_path / "m.xml")[1]
    assert "m.xml: 1 tendon: left out; efforts and limits of motion are the joints'" in notes
