"""The call of second derivatives: words, C++ and the golden model, of the driver's shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen.api import InputError, states
from rbdgen.compile.front import MOST_TRIPLES, refuse_large
from rbdgen.design.loading import load
from rbdgen.robot.model import RobotError
from rbdgen_host.driver import Dynamics
from tests.support.random_robots import SINGLE, random_robot

CHOICES: dict[str, Any] = {"functions": ("ddid",), "accelerator": False}


def test_words_and_programs_are_nearly_golden() -> None:
    given = states("pendulum", 100, functions=("id",))
    arrays = [given[name] for name in ("q", "qd", "qdd")]
    golden, integer, cpp = (
        Dynamics("pendulum", kind, **CHOICES) for kind in ("golden", "integer", "cpp")
    )
    expected = golden.ddid(*arrays)
    for back_end, within in ((integer, 1e-3), (cpp, 1e-12)):
        found = back_end.ComputeRNEASecondOrderDerivatives(*arrays)
        assert [array.shape for array in found] == [(100, 2, 2, 2)] * 4
        for ours, theirs in zip(found, expected, strict=True):
            assert np.sqrt(((ours - theirs) ** 2).mean()) < within * np.sqrt((theirs**2).mean())
        one = back_end.submit("ddid", *(array[7] for array in arrays)).result()
        for alone, array in zip(one, found, strict=True):
            np.testing.assert_array_equal(alone, array[7])


def test_refusals() -> None:
    with pytest.raises(RobotError, match="base_link: lf_shin: ddid is not converted to the file's"):
        load("hyq", base="floating", base_link="lf_shin", functions=("ddid",))
    with pytest.raises(RobotError, match="functions: ddid is no task of an accelerator"):
        load("pendulum", functions=("ddid",), accelerator=True)
    with pytest.raises(RobotError, match="functions: ddid: not with --parameters registers"):
        load("pendulum", functions=("ddid",), parameters="registers")
    with pytest.raises(InputError, match="the design has did"):
        Dynamics("pendulum", "golden", functions=("did",), accelerator=False).ddid(
            *[[0.0, 0.0]] * 3
        )


def test_long_chains_are_refused() -> None:
    design, _ = load("pendulum", functions=("ddid",))
    chains = [random_robot(np.random.default_rng(1), n, SINGLE, branching=0.0) for n in (38, 39)]
    refuse_large(design, chains[0])
    with pytest.raises(RobotError, match=f"ddid: 10660 triples .*, of {MOST_TRIPLES} at most"):
        refuse_large(design, chains[1])
