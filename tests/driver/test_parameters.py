"""`set_parameters` in every kind of `Dynamics` that has registers: what that robot does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api import calibrate, generate
from rbdgen.api.folder import InputError
from rbdgen.design.loading import load
from rbdgen.robot.model import RobotError
from rbdgen_host.driver import Dynamics
from tests.support.another_robot import another
from tests.support.marks import fast_at, slow

STATE = np.random.default_rng(4).uniform(-1.0, 1.0, (3, 20, 2))
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("integer", {"accelerator": False, "width": 18, "fit": False}),
    "integer": ("integer", {"functions": ("id", "m"), "ii": 2}),
    "rtl": ("rtl", {"accelerator": False, "width": 18, "fit": False}),
    "cpp": ("cpp", {"functions": ("id", "fd")}),
    "cpp32": ("cpp32", {"functions": ("id",)}),
    "cuda": ("cuda-on-cpu", {"functions": ("id", "fd")}),
    "loops": ("cpp", {"functions": ("id",), "code": "loops"}),
}


@pytest.fixture(scope="module")
def robots(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    place = tmp_path_factory.mktemp("robots")
    return [another("pendulum", place, seed) for seed in (5, 6)]


@pytest.mark.rtl
@pytest.mark.parametrize("kind", fast_at((1, 3), [*KINDS]))
def test_like_that_robot(kind: str, robots: list[Path]) -> None:
    backend, choices = KINDS[kind]
    pendulum = Dynamics("pendulum", backend, parameters="registers", **choices)
    before = pendulum.rnea(*STATE)
    for file in robots:
        pendulum.set_parameters(file)
        tau, expected = pendulum.rnea(*STATE), golden.rnea(load(str(file))[1], *STATE)
        assert np.abs(tau - expected).max() < 2e-3
        assert np.abs(before - expected).max() > 2e-2
    pendulum.set_parameters("pendulum")
    assert np.array_equal(pendulum.rnea(*STATE), before)


@pytest.mark.rtl
def test_a_folder_by_file_and_by_words(robots: list[Path], tmp_path: Path) -> None:
    """The same words however they come, in the integer model and in the RTL; no real numbers."""
    place = generate("pendulum", tmp_path / "design", parameters="registers", fit=False)
    found = calibrate(place, str(robots[0]), tmp_path / "words.json")
    results = []
    for kind, said in (("integer", found), ("integer", tmp_path / "words.json"), ("rtl", found)):
        own = Dynamics(place, kind)
        own.set_parameters(said)
        results.append(own.rnea(*STATE))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
    real = generate("pendulum", tmp_path / "real", to="cpp", parameters="registers")
    calibrate(real, str(robots[0]), tmp_path / "real.json")
    with pytest.raises(InputError, match="takes words; calibrate anew"):
        own.set_parameters(tmp_path / "real.json")


@pytest.mark.parametrize("kind", ["cpp", slow("cuda-on-cpu")])
def test_compiled_programs_by_file_and_by_numbers(
    kind: str, robots: list[Path], tmp_path: Path
) -> None:
    """Each function by itself and all of them together, whether made before or after."""
    choices = {"functions": ("id", "fd", "minv"), "parameters": "registers"}
    place = generate("pendulum", tmp_path / "words", to="c", fit=False, **choices)
    words = calibrate(place, str(robots[0]), tmp_path / "words.json")
    real = generate("pendulum", tmp_path / "real", to="cpp", **choices)
    numbers = calibrate(real, str(robots[0]), tmp_path / "real.json")
    own = Dynamics("pendulum", kind, **choices)
    q, v, a = STATE
    before = own.rnea(q, v, a)
    _, robot = load(str(robots[0]))
    said = (robots[0], words, numbers, tmp_path / "words.json", tmp_path / "real.json")
    for file in said:
        own.set_parameters("pendulum")
        assert np.array_equal(own.rnea(q, v, a), before)
        own.set_parameters(file)
        np.testing.assert_allclose(own.rnea(q, v, a), golden.rnea(robot, q, v, a), rtol=1e-9)
        np.testing.assert_allclose(own.rnea(q[0], v[0], a[0]), own.rnea(q, v, a)[0], rtol=1e-12)
        np.testing.assert_allclose(own.aba(q, v, a), golden.aba(robot, q, v, a), rtol=1e-9)
    found = own.everything(q, v, a, tau=a)
    np.testing.assert_allclose(found["tau"], golden.rnea(robot, q, v, a), rtol=1e-9)
    np.testing.assert_allclose(found["Minv"], golden.minv(robot, q), rtol=1e-9)
    with pytest.raises(RobotError, match="5 joints; the design's robot has 2"):
        own.set_parameters("gantry")
    assert np.array_equal(own.everything(q, v, a, tau=a)["tau"], found["tau"])


def test_what_is_refused(robots: list[Path]) -> None:
    constants = Dynamics("pendulum", accelerator=False)
    with pytest.raises(InputError, match=r"set_parameters: .* constants of this design; param"):
        constants.set_parameters(robots[0])
    golden_one = Dynamics("pendulum", "golden", functions=("id",), parameters="registers")
    with pytest.raises(InputError, match="golden has no registers that can be written"):
        golden_one.set_parameters(robots[0])
    own = Dynamics("pendulum", "integer", parameters="registers", accelerator=False, fit=False)
    with pytest.raises(RobotError, match="5 joints; the design's robot has 2"):
        own.set_parameters("gantry")
    own.submit("rnea", *STATE)
    with pytest.raises(InputError, match="tasks wait to be collected"):
        own.set_parameters(robots[0])
