"""Calls of named frames and masses: shapes, the integer model's errors, another base, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from rbdgen.api import states
from rbdgen.codegen.library import Singular
from rbdgen.design.functions import OF_FRAMES, OF_MASSES
from rbdgen.design.loading import load
from rbdgen.robot.frames import REFERENCES as FRAMES_OF_REFERENCE
from rbdgen.robot.model import RobotError
from rbdgen.words.ranges import NotPositive
from rbdgen_host.driver import Dynamics

QUADRUPED = str(Path(__file__).parents[1] / "robots" / "quadruped.urdf")
REFERENCES = {own: getattr(pin, own.replace("-", "_").upper()) for own in FRAMES_OF_REFERENCE}
SEEN = (*OF_FRAMES, *OF_MASSES)
ON_ANY_BASE = (*(name for name in SEEN if name != "subcom"), "osim")
CHOICES: dict[str, Any] = {
    "functions": ("g", "nle", *SEEN),
    "frames": ("lower_rod", "upper_rod"),
    "accelerator": False,
}
SHAPES = {
    "g": (2,),
    "nle": (2,),
    "p": (2, 3),
    "R": (2, 3, 3),
    "twist": (2, 6),
    "J": (2, 6, 2),
    "drift": (2, 6),
    "com": (3,),
    "subcom": (2, 3),
    "Jcom": (3, 2),
    "kinetic": (),
    "potential": (),
    "Ag": (6, 2),
    "hg": (6,),
}


def test_words_are_nearly_golden() -> None:
    given = states("pendulum", 200, functions=("id",))
    q, v = given["q"], given["qd"]
    golden, integer = (Dynamics("pendulum", kind, **CHOICES) for kind in ("golden", "integer"))
    expected, found = golden.everything(q, v), integer.everything(q, v)
    assert {name: array.shape[1:] for name, array in found.items()} == SHAPES
    for name, array in found.items():
        size = np.sqrt((expected[name] ** 2).mean())
        assert np.sqrt(((array - expected[name]) ** 2).mean()) < 1e-3 * size, name
    p, R = integer.pose(q[3])
    np.testing.assert_array_equal(p, found["p"][3])
    np.testing.assert_array_equal(R, found["R"][3])
    for name in ("twist", "drift", "hg", "nle"):
        np.testing.assert_array_equal(getattr(integer, name)(q, v), found[name])
    for name, array in (
        ("jac", "J"),
        ("com", "com"),
        ("subcom", "subcom"),
        ("jcom", "Jcom"),
        ("ag", "Ag"),
        ("g", "g"),
    ):
        np.testing.assert_array_equal(getattr(integer, name)(q), found[array])
    np.testing.assert_array_equal(integer.energy(q, v)[0], found["kinetic"])


@pytest.mark.parametrize("call", ON_ANY_BASE)
def test_another_base_changes_nothing(call: str) -> None:
    choices = {"functions": ON_ANY_BASE, "frames": ("lf_shin", "rh_shin"), "base": "floating"}
    given = states("hyq", 3, functions=("id",), base="floating")
    own = Dynamics("hyq", "golden", accelerator=False, **choices)
    other = Dynamics("hyq", "golden", accelerator=False, base_link="lf_shin", **choices)
    arrays = [given["q"], given["qd"]][: 2 if call in ("twist", "drift", "energy", "hg") else 1]
    expected, found = (driver.submit(call, *arrays).result() for driver in (own, other))
    pairs = zip(expected, found, strict=True) if isinstance(found, tuple) else [(expected, found)]
    for right, ours in pairs:
        np.testing.assert_allclose(ours, right, rtol=0, atol=1e-9 * max(np.abs(right).max(), 1.0))


@pytest.mark.parametrize("reference", REFERENCES)
def test_all_joints_as_pinocchio_has_them(reference: str) -> None:
    model, of = pin.buildModelFromUrdf(QUADRUPED, pin.JointModelFreeFlyer()), REFERENCES[reference]
    choices: dict[str, Any] = {"base": "floating", "frames": "all", "reference": reference}
    functions = ("twist", "pose", "jac", "drift")
    ours = Dynamics(QUADRUPED, "golden", functions=functions, accelerator=False, **choices)
    data, rng = model.createData(), np.random.default_rng(1)
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv))
    v = rng.normal(size=model.nv)
    # Pinocchio's joints are in the alphabet's order
    joints = [model.getJointId(name) for name in ours.joint_names]
    columns = [k for i in joints for k in range(model.idx_vs[i], model.idx_vs[i] + model.nvs[i])]
    placed = [k for i in joints for k in range(model.idx_qs[i], model.idx_qs[i] + model.nqs[i])]
    pin.forwardKinematics(model, data, q, v, 0 * v)
    pin.computeJointJacobians(model, data, q)
    p, R, twist = ours.forwardKinematics(q[placed], v[columns])
    J, drift = ours.getFrameJacobian(q[placed]), ours.drift(q[placed], v[columns])
    assert len(p) == len(joints) == model.njoints - 1
    aligned = reference == "local-world-aligned"
    acceleration = pin.getClassicalAcceleration if aligned else pin.getAcceleration
    for f, i in enumerate(joints):
        for found, wanted in (
            (p[f], data.oMi[i].translation),
            (R[f], data.oMi[i].rotation),
            (twist[f], pin.getVelocity(model, data, i, of).vector),
            (J[f], pin.getJointJacobian(model, data, i, of)[:, columns]),
            (drift[f], acceleration(model, data, i, of).vector),
        ):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * max(v @ v, 1.0))


def test_one_program_for_poses_and_velocities() -> None:
    """Compiled C++ computes both in one call, the golden model's values."""
    choices: dict[str, Any] = {
        "functions": ("twist", "pose"),
        "frames": "all",
        "reference": "local",
    }
    found, wanted = (
        Dynamics("pendulum", kind, accelerator=False, **choices).forwardKinematics(
            [[0.3, -1.2]], [[2.0, 0.5]]
        )
        for kind in ("cpp", "golden")
    )
    for ours, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, right, rtol=0, atol=1e-14)


def _crane(weight: float) -> str:
    """Two rods that turn about the vertical, and a slide along it that carries a hook."""

    def link(name: str, mass: float) -> str:
        inertia = " ".join(f'i{a}="{0.01 * mass}"' for a in ("xx", "yy", "zz"))
        inertia += ' ixy="0" ixz="0" iyz="0"'
        own = f'<inertial><mass value="{mass}"/><inertia {inertia}/></inertial>' if mass else ""
        return f'<link name="{name}">{own}</link>'

    links = [link("base", 0), link("inner", 2), link("outer", 1), link("hook", weight)]
    joints = [
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 0 1"/><origin xyz="{x} 0 0"/>'
        '<limit lower="-2" upper="2" effort="9" velocity="3"/></joint>'
        for name, kind, parent, child, x in (
            ("hip", "revolute", "base", "inner", 0),
            ("knee", "revolute", "inner", "outer", 1),
            ("lift", "prismatic", "outer", "hook", 1),
        )
    ]
    return f'<robot name="crane">{"".join(links + joints)}</robot>'


def test_operational_inertia_of_a_straight_arm(tmp_path: Path) -> None:
    """Where held directions are dependent C++ gives NaN and says in which state; it is damped."""
    (file := tmp_path / "crane.urdf").write_text(_crane(0.5))
    choices: dict[str, Any] = {"functions": ("osim",), "frames": "hook"}
    ours, golden = (
        Dynamics(file, kind, accelerator=False, **choices) for kind in ("cpp", "golden")
    )
    q = np.array([[0.1, 1.0, 0.2], [0.0, 0.0, 0.2]])
    found, wanted = ours.osim(q[0]), golden.getOperationalSpaceInertiaMatrix(q[0])
    assert found.shape == (6, 6) and not found[3:].any() and not found[:, 3:].any()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13 * wanted.max())
    assert wanted[2, 2] == pytest.approx(0.5)  # of the slide alone
    with pytest.raises(Singular, match=r"J M⁻¹ Jᵀ of its frames .* of state 1 is singular"):
        ours.osim(q)
    with pytest.raises(RobotError, match="osim: the held directions are dependent in some state"):
        golden.osim(q)
    damped = Dynamics(file, "golden", accelerator=False, contact_damping=0.01, **choices)
    assert damped.osim(q[1]).max() == pytest.approx(100.0)


def test_words_have_no_room_for_a_straight_arm(tmp_path: Path) -> None:
    """Its limits allow it to be straight, where Λ is infinite."""
    (file := tmp_path / "crane.urdf").write_text(_crane(0.5).replace('"-2"', '"0"'))
    choices: dict[str, Any] = {"functions": ("osim",), "frames": "hook", "accelerator": False}
    with pytest.raises(NotPositive, match=r"crane: osim: .* --contact-damping 0\.01"):
        Dynamics(file, "integer", **choices)
    with pytest.raises(RobotError, match=r"crane: dcfd: .* --contact-damping 0\.01, or --to cpp"):
        Dynamics(file, "integer", **{**choices, "functions": ("dcfd",)})


def test_what_weighs_nothing_has_no_centre(tmp_path: Path) -> None:
    (file := tmp_path / "crane.urdf").write_text(_crane(0))
    choices: dict[str, Any] = {"functions": ("subcom",), "frames": "all", "accelerator": False}
    with pytest.raises(RobotError, match='subcom: "hook" and what it carries weigh nothing'):
        Dynamics(file, "cpp", **choices)


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"functions": ("pose",)}, "functions: pose needs frames; name their links: --frames LINK"),
    (
        {"functions": ("subcom",), "frames": "all", "base": "floating", "base_link": "upper_rod"},
        "base_link: upper_rod: subcom is not converted to the file's base; leave it out",
    ),
    (
        {"functions": ("osim",), "frames": "all", "base": "floating", "root": "given"},
        "root: given: osim has no base with prescribed motion; leave it out",
    ),
    ({"functions": ("com",), "frames": ("lower_rod",)}, "lower_rod is for functions of them, pose"),
    (
        {"functions": ("jac",), "frames": ("lower",)},
        'frames: no link "lower"; did you mean "lower_rod"',
    ),
    (
        {"functions": ("id", "ag"), "accelerator": True},
        "functions: ag is no task of an accelerator, which has id, fd, m",
    ),
]


@pytest.mark.parametrize(("choices", "message"), REFUSALS)
def test_refusals(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        load("pendulum", **choices)


def test_programs_need_no_accelerator() -> None:
    """Functions that no accelerator has are chosen by name alone, in floating point."""
    robot = Dynamics("pendulum", "golden", functions=("jac", "rnea"), frames=("lower_rod",))
    assert robot.functions == ("jac", "id")
    assert Dynamics("pendulum", "golden", functions=("fd", "rk4")).functions == ("fd", "rk4")
    with pytest.raises(RobotError, match="jac is no task of an accelerator"):
        Dynamics("pendulum", "integer", functions=("jac",), frames=("lower_rod",))
