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
from rbdgen.driver import Dynamics
from rbdgen.robot.model import RobotError
from tests.api.test_calibration import another

STATE = np.random.default_rng(4).uniform(-1.0, 1.0, (3, 20, 2))
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("integer", {"accelerator": False, "fit": False}),
    "integer": ("integer", {"functions": ("id", "m"), "ii": 2}),
    "rtl": ("rtl", {"accelerator": False, "fit": False}),
}


@pytest.fixture(scope="module")
def robots(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    place = tmp_path_factory.mktemp("robots")
    return [another("pendulum", place, seed) for seed in (5, 6)]


@pytest.mark.rtl
@pytest.mark.parametrize("kind", KINDS)
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
    """The same words however they come, in the integer model and in the RTL."""
    place = generate("pendulum", tmp_path / "design", parameters="registers", fit=False)
    found = calibrate(place, str(robots[0]), tmp_path / "words.json")
    results = []
    for kind, said in (("integer", found), ("integer", tmp_path / "words.json"), ("rtl", found)):
        own = Dynamics(place, kind)
        own.set_parameters(said)
        results.append(own.rnea(*STATE))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_what_is_refused(robots: list[Path]) -> None:
    constants = Dynamics("pendulum", accelerator=False)
    with pytest.raises(InputError, match=r"set_parameters: .* constants of this design; param"):
        constants.set_parameters(robots[0])
    compiled = Dynamics("pendulum", "golden", functions=("id",), parameters="registers")
    with pytest.raises(InputError, match="golden has no registers that can be written"):
        compiled.set_parameters(robots[0])
    own = Dynamics("pendulum", parameters="registers", accelerator=False, fit=False)
    with pytest.raises(RobotError, match="5 joints; the design's robot has 2"):
        own.set_parameters("gantry")
    own.submit("rnea", *STATE)
    with pytest.raises(InputError, match="tasks wait to be collected"):
        own.set_parameters(robots[0])
