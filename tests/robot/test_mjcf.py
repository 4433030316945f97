"""MJCF becomes the robot that MuJoCo itself makes of it; what is left out is said."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.robot.model import JointKind, Robot, RobotError
from rbdgen.system.quoting import changing
from tests.support.mjcf_texts import ARM, Array, followed, read

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

KINDS = ("hinge", "hinge", "slide")


def drawn(seed: int) -> str:
    """A tree of seven bodies by a seed, up to three joints each; every other one floats."""
    rng = np.random.default_rng(seed)

    def numbers(n: int, scale: float = 1.0) -> str:
        return " ".join(f"{x:.6g}" for x in scale * rng.normal(size=n))

    inside = [""] * 8
    for i in range(7, 0, -1):
        joints = (
            '<freejoint name="free"/>'
            if i == 1 and seed % 2
            else "".join(
                f'<joint name="j{i}{k}" type="{rng.choice(KINDS)}" pos="{numbers(3, 0.3)}" '
                f'axis="{numbers(3)}" ref="{rng.normal():.6g}" armature="{rng.uniform():.6g}" '
                f'damping="{rng.uniform():.6g}"/>'
                for k in range(rng.integers(0 if i > 1 else 1, 4))
            )
        )
        size = " ".join(f"{x:.6g}" for x in rng.uniform(0.05, 0.4, 3))
        body = (
            f'<body name="b{i}" pos="{numbers(3)}" quat="{numbers(4)}">{joints}'
            f'<geom type="ellipsoid" size="{size}" pos="{numbers(3, 0.2)}" quat="{numbers(4)}"/>'
            f"{inside[i]}</body>"
        )
        inside[rng.integers(0 if i == 1 else 1, i)] += body
    return (
        f'<mujoco model="drawn"><compiler angle="radian"/><worldbody>{inside[0]}'
        "</worldbody></mujoco>"
    )


def theirs(text: str, robot: Robot, states: int, seed: int) -> dict[str, Array]:
    """States of the robot, and what MuJoCo says of the file in each: tau and M.

    Springs and what a medium does are taken off, and what is of a free joint: they are left out
    here. Friction loss is a constraint there, see below. Coordinates of a free joint are mapped:
    ours are the body's twist in its own frame, theirs are linear in the world's.
    """
    model = mujoco.MjModel.from_xml_string(text)
    model.jnt_stiffness[:] = 0
    model.opt.density = model.opt.viscosity = 0
    for k in np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        model.dof_armature[model.jnt_dofadr[k] :][:6] = 0
        model.dof_damping[model.jnt_dofadr[k] :][:6] = 0
    data = mujoco.MjData(model)
    G, b = followed(model, robot)
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, (states, robot.nq))
    qd, qdd = rng.normal(size=(2, states, robot.nv))
    tau, M = np.zeros((states, robot.nv)), np.zeros((states, robot.nv, robot.nv))
    free = robot.joints[robot.free[0]].kind is JointKind.FLOATING
    for k in range(states):
        S, drift = np.eye(model.nv), np.zeros(model.nv)
        if free:
            q[k, 3:7] /= np.linalg.norm(q[k, 3:7])
            data.qpos[:] = q[k]
            data.qpos[3:7] = np.roll(q[k, 3:7], 1)
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, data.qpos[3:7])
            S[:3, :3] = R.reshape(3, 3)
            drift[:3] = np.cross(qd[k, 3:6], qd[k, :3])
        else:
            data.qpos[:] = G @ q[k] + b
        data.qvel[:] = S @ G @ qd[k]
        data.qacc[:] = S @ (G @ qdd[k] + drift)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_makeM(model, data)
        full, force = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
        mujoco.mj_fullM(model, data, full)
        M[k] = G.T @ S.T @ full @ S @ G
        mujoco.mj_rne(model, data, 1, force)
        mujoco.mj_passive(model, data)
        force += model.dof_armature * data.qacc - data.qfrc_passive
        tau[k] = G.T @ S.T @ force
    return {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "M": M}


def without_coulomb(robot: Robot) -> Robot:
    """Its damping stays."""
    joints = [replace(j, drivetrain=replace(j.drivetrain, friction=0)) for j in robot.joints]
    return robot.with_joints(joints)


def assert_same(text: str, robot: Robot, seed: int) -> None:
    of = theirs(text, robot, 20, seed)
    model = mujoco.MjModel.from_xml_string(text)
    names = [model.joint(k).name for k in range(model.njnt)]
    assert robot.joint_names == [name for name in names if name in robot.joint_names]
    tau = golden.rnea(without_coulomb(robot), of["q"], of["qd"], of["qdd"])
    assert_allclose(tau, of["tau"], rtol=0, atol=1e-9 * np.abs(of["tau"]).max())
    M = golden.crba(robot, of["q"])
    assert_allclose(M, of["M"], rtol=0, atol=1e-9 * np.abs(of["M"]).max())


@pytest.mark.parametrize("seed", range(20))
def test_drawn_robots_are_mujocos(seed: int, tmp_path: Path) -> None:
    text = drawn(seed)
    assert_same(text, read(text, tmp_path / "drawn.xml")[0], seed)


def test_an_arm_is_mujocos_and_what_is_left_out_is_said(tmp_path: Path) -> None:
    robot, notes = read(ARM, tmp_path / "arm.xml")
    assert_same(ARM, robot, 0)
    limits = {robot.joints[i].name: robot.joints[i].limits for i in robot.free}
    limits |= {joint.name: joint.limits for joint in robot.joints if joint.mimic}
    assert (limits["turn"].lower, limits["slide"].upper) == (-np.pi / 2, 1.0)
    assert limits["tilt"].effort == 7.0
    said = [note.partition(": ")[2] for note in notes if note.startswith("arm.xml: ")]
    assert said == [
        f"MJCF, converted by way of MuJoCo {mujoco.__version__}",
        "gravity is the file's, 0 0 -1.62 m/s², unless a design says another",
        'joint "turn": follows, exactly: 1 "tilt" + 0.349066',
        "at their joint's anchor, not at their body's frame: frames of links upper, lower",
        changing("density or viscosity of a medium: left out"),
        changing('stiffness of joint "tilt": left out; joints have no springs'),
        "contacts: left out; geoms give their inertia alone",
        "1 tendon: left out; efforts and limits of motion are the joints'",
        "1 actuator: left out; tau is at the joints, whatever gears and limits of forces say",
    ]
    rest = "".join(note for note in notes if not note.startswith("arm.xml: "))
    assert 'friction of joint "roll": smoothed' in rest and "armature" not in rest
    (roll,) = (joint.drivetrain for joint in robot.joints if joint.name == "roll")
    assert (roll.armature, roll.damping, roll.friction, roll.width) == (0.01, 0.1, 0.2, 0.1)


def test_friction_is_mujocos_friction_loss_where_a_joint_slides(tmp_path: Path) -> None:
    """There it is a constraint, which is at its limit unless the joint is slow."""
    text = (
        '<mujoco><option><flag contact="disable"/></option><worldbody><body><joint name="j" '
        'axis="0 1 0" frictionloss="0.7" damping="0.2" armature="0.1"/>'
        '<geom size="0.1" pos="0.3 0 0"/></body></worldbody></mujoco>'
    )
    robot = read(text, tmp_path / "arm.xml")[0]
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for qd in (-9.0, -3.0, 3.0, 9.0):
        data.qpos[:], data.qvel[:] = 0.4, qd
        mujoco.mj_forward(model, data)
        qdd = golden.aba(robot, [[0.4]], [[qd]], [[0.0]])
        assert_allclose(qdd, [data.qacc], rtol=1e-7)


def test_what_a_free_joint_has_is_left_out_and_said(tmp_path: Path) -> None:
    text = (
        '<mujoco><worldbody><body><joint name="root" type="free" damping="2" armature="3"/>'
        '<geom size="0.1"/></body></worldbody></mujoco>'
    )
    notes = read(text, tmp_path / "arm.xml")[1]
    said = {note.partition(": ")[2] for note in notes}
    of = 'of joint "root": left out; it is free'
    assert {changing(f"{x} {of}") for x in ("damping", "armature")} <= said


def test_included_files_are_read(tmp_path: Path) -> None:
    start, end = ARM.index("<worldbody>"), ARM.index("<tendon>")
    (tmp_path / "bodies.xml").write_text(f"<mujoco>{ARM[start:end]}</mujoco>")
    main = ARM[:start] + '<include file="bodies.xml"/>' + ARM[end:]
    assert_same(ARM, read(main, tmp_path / "arm.xml")[0], 1)


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ('<joint name="hip" type="ball"/>', 'joint "hip": turns as a ball, .*; write three hinges'),
        ('<joint type="screw"/>', "MuJoCo refuses it: .*screw"),
    ],
)
def test_refused_in_one_line(joint: str, message: str, tmp_path: Path) -> None:
    text = f'<mujoco><worldbody><body>{joint}<geom size="1"/></body></worldbody></mujoco>'
    with pytest.raises(RobotError, match=f"arm.xml: {message}") as refused:
        read(text, tmp_path / "arm.xml")
    assert "\n" not in str(refused.value)


SWING = (
    '<mujoco model="{}"><option {}><flag contact="disable" {}/></option><worldbody><body{}>'
    '<joint axis="0 1 0" damping="0.2" frictionloss="0.7" armature="0.1" range="-60 60" '
    'limited="true"/><geom size="0.1" pos="0.3 0 0"/></body></worldbody></mujoco>'
)


@pytest.mark.parametrize(
    "flags",
    [
        "",
        'gravity="disable"',
        'damper="disable"',
        'frictionloss="disable"',
        'limit="disable"',
        'spring="disable"',
        'constraint="disable"',
        'gravity="disable" damper="disable"',
    ],
)
@pytest.mark.parametrize("option", ["", 'gravity="1 2 -3"', 'gravity="0 0 0"'])
def test_options_and_flags_are_mujocos(option: str, flags: str, tmp_path: Path) -> None:
    """What disables a force here disables it there: q̈ of a joint that turns fast, with
    friction."""
    text = SWING.format("swing", option, flags, "")
    robot = read(text, tmp_path / "swing.xml")[0]
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = 0.4, 5.0
    mujoco.mj_forward(model, data)
    assert_allclose(golden.aba(robot, [[0.4]], [[5.0]], [[0.0]]), [data.qacc], rtol=1e-7)
    off = "limit=" in flags or "constraint=" in flags
    assert np.isinf(robot.joints[0].limits.upper) == off


def test_gravity_of_a_design_wins_and_goes_with_its_folder(tmp_path: Path) -> None:
    (tmp_path / "swing.xml").write_text(SWING.format("swing", 'gravity="0 0 -1.62"', "", ""))
    assert load(tmp_path / "swing.xml")[1].gravity.tolist() == [0, 0, -1.62]
    assert load(tmp_path / "swing.xml", gravity=(0, 0, -3))[1].gravity.tolist() == [0, 0, -3]
    urdf = Path(load(tmp_path / "swing.xml")[0].robot)
    assert load(urdf)[1].gravity.tolist() == [0, 0, -1.62]


def test_names_may_look_like_xacro(tmp_path: Path) -> None:
    name = "$(arg side)"
    robot, _ = read(SWING.format("${m}", "", "", f' name="{name}"'), tmp_path / "swing.xml")
    assert robot.name == "${m}" and name in (robot.joint_names[0], robot.joints[0].body)


def test_what_has_no_name_is_named_by_its_number(tmp_path: Path) -> None:
    robot, notes = read(SWING.format("", "", "", ""), tmp_path / "swing.xml")
    assert (robot.name, robot.joint_names, robot.joints[0].body) == ("swing", ["joint0"], "body1")
    assert "swing.xml: the model has no name; called swing" in notes
    assert "swing.xml: bodies without a name, called by their number: body1" in notes
    text = SWING.format("m", "", "", "").replace("</body>", '<body name="body1"/></body>')
    assert [joint.body for joint in read(text, tmp_path / "b.xml")[0].joints] == [
        "body1_1",
        "body1",
    ]


MESH = (
    '<mujoco><compiler {}/><asset><mesh name="m" file="none.stl"/><texture name="t" type="2d" '
    'file="none.png"/><material name="c" texture="t"/></asset><worldbody><geom type="mesh" '
    'mesh="m"/><body name="a"><joint name="j"/>{}<geom type="mesh" mesh="m" material="c"/></body>'
    "</worldbody></mujoco>"
)
INERTIAL = '<inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>'


def test_files_of_meshes_may_be_missing_where_inertias_are_written(tmp_path: Path) -> None:
    robot, notes = read(MESH.format("", INERTIAL), tmp_path / "a.xml")
    assert robot.joints[0].inertia.mass == 2
    assert any("none.stl': meshes" in note and "no inertia follows" in note for note in notes)
    for text in (MESH.format("", ""), MESH.format('inertiafromgeom="true"', INERTIAL)):
        with pytest.raises(RobotError, match=r"MuJoCo refuses it: .*none\.stl"):
            read(text, tmp_path / "a.xml")


def test_what_mujoco_warns_of_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """MuJoCo's way is a line on standard error and a file where the user stands."""
    monkeypatch.chdir(tmp_path)
    text = SWING.format("m", "", "", ' pos="0 0 NaN"')
    with pytest.raises(RobotError, match=r"swing\.xml"):
        read(text, tmp_path / "swing.xml")
    text = text.replace("<worldbody>", '<custom><numeric name="a" data="NaN"/></custom><worldbody>')
    notes = read(text.replace(' pos="0 0 NaN"', ""), tmp_path / "swing.xml")[1]
    assert any("MuJoCo says: XML contains a 'NaN'" in note for note in notes)
    text = SWING.format("m", "", "", "").replace("<w", '<compiler settotalmass="5"/><w', 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot, notes = read(text, tmp_path / "swing.xml")
    assert_allclose(robot.joints[0].inertia.mass, 5)
    assert any("MuJoCo says: compiler attribute 'settotalmass'" in note for note in notes)
    assert [file.name for file in tmp_path.iterdir()] == ["swing.xml"]
    assert "WARNING" not in capfd.readouterr().err


@pytest.mark.parametrize("root", ["mujocoinclude", "body", "default"])
def test_a_part_of_an_mjcf_is_called_so(root: str, tmp_path: Path) -> None:
    with pytest.raises(RobotError, match=rf"a.xml:1: <{root}>: .*this is a part of an MJCF"):
        read(f"<{root}/>", tmp_path / "a.xml")
