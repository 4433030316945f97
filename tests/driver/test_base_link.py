"""An accelerator on another base link answers for the file's base."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api import InputError, generate, info, read_manifest, simulate
from rbdgen.compile.samples import sample_states
from rbdgen.design.functions import ON_ACCELERATORS
from rbdgen.design.loading import load
from rbdgen.golden import random_state
from rbdgen.robot.canonical import merge_fixed
from rbdgen.robot.compose import reroot
from rbdgen.robot.model import RobotError
from rbdgen_host.driver import Dynamics
from rbdgen_host.driver.base_link import BaseLink
from tests.support.driver_designs import several
from tests.support.trees import floating_tree

NAME = str(Path(__file__).parents[1] / "robots" / "swinger.urdf")
LINK = "lower"
CALLS = {
    "rnea": ("q", "qd", "qdd"),
    "aba": ("q", "qd", "tau"),
    "crba": ("q",),
    "computeMinverse": ("q",),
    "computeGeneralizedGravity": ("q",),
    "nonLinearEffects": ("q", "qd"),
    "computeRNEADerivatives": ("q", "qd", "qdd"),
    "computeABADerivatives": ("q", "qd", "tau"),
    "computeABADerivativesFromMinverse": ("q", "qd", "qdd", "Minv"),
}
FLOATING: dict[str, Any] = {"base": "floating", "functions": ON_ACCELERATORS, "target": "xcup"}


def states(robot: str, n: int) -> dict[str, np.ndarray]:
    design, loaded = load(robot, accelerator=True, **FLOATING)
    return dict(sample_states(design, loaded, n, 3))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("robot", "link"), [("humanoid", "best"), ("iiwa14", "best"), ("hyq", "lf_shin")]
)
def test_results_are_those_of_the_files_base(robot: str, link: str, call: str) -> None:
    """The same accelerations, torques, matrices and gradients, in float64, forces and all."""
    state = states(robot, 5)
    arrays = [state[name] for name in CALLS[call]]
    own = Dynamics(robot, "golden", **FLOATING)
    other = Dynamics(robot, "golden", base_link=link, **FLOATING)
    assert own.joint_names == other.joint_names
    assert other.base_link is not None
    assert other.base_link.moved.joint_names != own.joint_names
    forces = None
    if "qd" in CALLS[call] and call != "nonLinearEffects":
        forces = np.random.default_rng(1).normal(0.0, 5.0, state["f_ext"].shape)
    found = several(other.submit(call, *arrays, f_ext=forces).result())
    for ours, expected in zip(
        found, several(own.submit(call, *arrays, f_ext=forces).result()), strict=True
    ):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(6))
def test_gradients_from_every_link_of_a_tree(seed: int) -> None:
    """Joints that slide and joints that mimic lie between the bases too."""
    robot = floating_tree(seed)
    rng = np.random.default_rng(seed)
    q, qd, qdd = random_state(robot, 3, rng, velocity=5.0, acceleration=5.0)
    forces = rng.normal(0.0, 5.0, (3, len(robot.moving), 6))
    given = {"q": q, "qd": qd, "qdd": qdd, "f_ext": forces}
    slopes = golden.rnea_derivatives(robot, q, qd, qdd, forces)
    for joint in robot.joints:
        if not joint.kind.nv:
            continue
        link = BaseLink(robot, reroot(merge_fixed(robot), joint.body))
        state = link.state(given)
        there = [link.moved, *(state[name] for name in given)]
        found = golden.rnea_derivatives(*there)._asdict()
        found |= {"tau": golden.rnea(*there), "M": golden.crba(link.moved, state["q"])}
        own = link.results(found, given)
        for name, expected in slopes._asdict().items():
            largest = np.abs(expected).max()
            np.testing.assert_allclose(own[name], expected, rtol=0, atol=1e-10 * largest)


@pytest.mark.slow
def test_every_bit_of_the_hardware(tmp_path: Path) -> None:
    functions = ("id", "m")
    choices = FLOATING | {"functions": functions, "base_link": LINK, "ii": 8}
    made = generate(NAME, tmp_path / "swinger", accelerator=True, **choices)
    manifest = read_manifest(made)
    assert manifest["base_link"] == LINK
    assert manifest["joint_names"] == ["root_joint", "elbow", "shoulder"]
    assert f"The base is the link {LINK}," in (made / f"{manifest['name']}.h").read_text()
    found = simulate(made, 100)
    said: list[str] = []
    Dynamics(made, "rtl", progress=said.append)
    assert not said  # nothing is compiled again
    assert set(found["functions"]) == set(functions)


@pytest.fixture(scope="module")
def integer() -> Dynamics:
    return Dynamics(NAME, "integer", on_overflow="raise", base_link=LINK, width=22, **FLOATING)


@pytest.mark.parametrize("call", CALLS)
def test_integer_is_nearly_golden(integer: Dynamics, call: str) -> None:
    state = states(NAME, 100)
    # a base that turns half as fast leaves the other link within its limits
    state["qd"], state["qdd"] = state["qd"] / 4, state["qdd"] / 4
    own = Dynamics(NAME, "golden", **FLOATING)
    if "tau" in CALLS[call]:
        state["tau"] = own.rnea(state["q"], state["qd"], state["qdd"])
    arrays = [state[name] for name in CALLS[call]]
    found = several(integer.submit(call, *arrays).result())
    for ours, expected in zip(found, several(own.submit(call, *arrays).result()), strict=True):
        error = np.sqrt(np.mean((ours - expected) ** 2) / np.mean(expected**2))
        assert error < 5e-3


def test_gradients_need_a_function_besides() -> None:
    driver = Dynamics(NAME, "golden", base="floating", base_link=LINK, functions=("did",))
    state = states(NAME, 1)
    with pytest.raises(InputError, match="did of the file's base needs m too"):
        driver.submit("did", *(state[name] for name in ("q", "qd", "qdd")))


def test_the_best_is_said() -> None:
    facts = info(NAME, base="floating", base_link="best")
    assert facts["base_link"] == "upper"
    assert "floating base, which holds upper" in facts.as_text()
    assert facts["latency"] < info(NAME, base="floating")["latency"]


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"base_link": "best"}, "base_link: .*only a floating base can be another link"),
        ({"base": "floating", "base_link": "elbow"}, 'base_link: no joint moves a link "elbow"'),
        ({"base": "floating", "base_link": LINK, "root": "given"}, "base_link: with root: given"),
        ({"base": "floating", "base_link": 3}, "base_link: a link's name, or best"),
    ],
)
def test_refusals(choices: dict[str, Any], says: str) -> None:
    with pytest.raises(RobotError, match=says):
        load(NAME, **choices)


def test_a_design_file_names_its_line(tmp_path: Path) -> None:
    robot = load(NAME)[0].robot
    file = tmp_path / "design.yaml"
    file.write_text(f"robot: {robot}\nbase: floating\nbase_link: hand\n")
    with pytest.raises(RobotError, match=r"design.yaml:3: base_link: no joint moves"):
        load(file)
