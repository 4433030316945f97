"""Joints in turn in Verilator: every bit and flag of the integer model, under stalls, on time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rbdgen.compiler import Core, compile_core, front_end
from rbdgen.schedule.rounds import RoundPlan
from tests.rtl.cores import (
    Built,
    any_words,
    check,
    check_on_time,
    shared_folder,
    states_within_limits,
    verilated,
)

pytestmark = [pytest.mark.rtl, pytest.mark.slow]


def compiled(robot: str, **choices: object) -> Core:
    return compile_core(front_end(robot, fold="joints", **choices))


CASES: dict[str, Callable[[], Core]] = {
    "pendulum_did_5": lambda: compiled("pendulum", functions=("did",), ii=5),
    "iiwa14_did_m_12": lambda: compiled("iiwa14", functions=("did", "m"), rotation=3, ii=12),
    "hyq_id_24": lambda: compiled("hyq", ii=24),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_folder(tmp_path_factory, "rounds")


@pytest.fixture(scope="module", params=list(CASES))
def built(request: pytest.FixtureRequest, folder: Path) -> Built:
    core = CASES[request.param]()
    assert isinstance(core.plan, RoundPlan)
    assert core.plan.interval == int(request.param.rpartition("_")[2])
    return Built(core, verilated(core, folder, request.param))


def test_every_bit_at_full_rate(built: Built) -> None:
    """A task every interval, each result after exactly the latency that was predicted."""
    for expected in (any_words(built.core, 1000, 1), states_within_limits(built.core, 1000, 2)):
        run = built.model.run(expected.tasks, seed=1)
        check(run, expected)
        check_on_time(run, built.core)


def test_words_that_overflow(built: Built) -> None:
    """Words from anywhere raise flags; states within the limits raise none."""
    assert any_words(built.core, 1000, 1).flags.any()
    assert not states_within_limits(built.core, 1000, 2).flags.any()


@pytest.mark.parametrize(("stall_in", "stall_out"), [(0.5, 0.0), (0.0, 0.95), (0.9, 0.5)])
def test_stalls_lose_nothing(built: Built, stall_in: float, stall_out: float) -> None:
    expected = any_words(built.core, 500, 3)
    run = built.model.run(expected.tasks, stall_in=stall_in, stall_out=stall_out, seed=4)
    check(run, expected)
    apart = np.diff(run.accept_cycle)
    assert (apart % built.core.plan.interval == 0).all()
