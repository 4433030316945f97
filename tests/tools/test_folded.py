"""Folded cores in Verilator: every bit and flag of the integer model, under any stalls, on time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rbdgen.compile.product import Product
from rbdgen.graph.word import kind_of
from rbdgen.schedule.fold import Fold
from rbdgen.schedule.round_plan import RoundPlan
from tests.support.cores import (
    Built,
    any_words,
    check,
    check_on_time,
    shared_folder,
    states_within_limits,
    verilated,
)
from tests.support.made import compiled

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

ROBOTS = Path(__file__).parents[1] / "robots"
QUADRUPED, GRIPPER = (str(ROBOTS / f"{name}.urdf") for name in ("quadruped", "gripper"))


CASES: dict[str, Callable[[], Product]] = {
    "gantry_2": lambda: compiled("gantry", ii=2),
    "pendulum_fd_mixed_3": lambda: compiled("pendulum", functions=("fd",), error=1e-5, ii=3),
    "gantry_did_16": lambda: compiled("gantry", functions=("did",), ii=16),
    "pendulum_did_joints_5": lambda: compiled("pendulum", fold="joints", functions=("did",), ii=5),
    "iiwa14_did_m_joints_12": lambda: compiled(
        "iiwa14", fold="joints", functions=("did", "m"), rotation=3, ii=12
    ),
    "gripper_did_m_joints_24": lambda: compiled(
        GRIPPER, fold="joints", functions=("did", "m"), ii=24
    ),
    "tiago_id_joints_28": lambda: compiled("tiago_like", fold="joints", ii=28),
    "quadruped_did_joints_28": lambda: compiled(
        QUADRUPED, base="floating", fold="joints", functions=("did",), ii=28
    ),
    "gantry_forces_joints_16": lambda: compiled(
        "gantry", fold="joints", external_forces=("turntable", "gripper_mount"), ii=16
    ),
    "pendulum_minv_fd_joints_16": lambda: compiled(
        "pendulum", fold="joints", functions=("minv", "fd"), ii=16
    ),
    # an entry of M is constant, and in other units than in its visit
    "gantry_minv_m_joints_48": lambda: compiled(
        "gantry", fold="joints", functions=("minv", "m"), ii=48
    ),
    "pendulum_difd_joints_16": lambda: compiled(
        "pendulum", fold="joints", functions=("difd",), ii=16
    ),
    "quadruped_fd_4": lambda: compiled(QUADRUPED, base="floating", functions=("fd",), ii=4),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_folder(tmp_path_factory, "folded")


@pytest.fixture(scope="module", params=list(CASES))
def built(request: pytest.FixtureRequest, folder: Path) -> Built:
    core = CASES[request.param]()
    assert isinstance(core.plan, RoundPlan if "joints" in request.param else Fold)
    assert core.plan.interval == int(request.param.rpartition("_")[2])
    return Built(core, verilated(core, folder, request.param))


def test_every_bit_at_full_rate(built: Built) -> None:
    """A task every interval, each result after exactly the latency that was predicted."""
    for expected in (any_words(built.core, 2000, 1), states_within_limits(built.core, 1000, 2)):
        run = built.model.run(expected.tasks, seed=1)
        check(run, expected)
        check_on_time(run, built.core)


def test_words_that_overflow(built: Built) -> None:
    """Words from anywhere raise flags, but of angles alone; states within the limits raise none."""
    angles_alone = all(kind_of(name) == "q" for name in built.core.fixed.inputs)
    assert any_words(built.core, 2000, 1).flags.any() != angles_alone
    assert not states_within_limits(built.core, 1000, 2).flags.any()


@pytest.mark.parametrize(
    ("stall_in", "stall_out"), [(0.5, 0.0), (0.0, 0.9), (0.4, 0.4), (0.9, 0.5), (0.99, 0.1)]
)
def test_stalls_lose_nothing(built: Built, stall_in: float, stall_out: float) -> None:
    expected = any_words(built.core, 1000, 3)
    run = built.model.run(expected.tasks, stall_in=stall_in, stall_out=stall_out, seed=4)
    check(run, expected)
    took = run.result_cycle - run.accept_cycle
    assert took.min() >= built.core.plan.latency
    assert stall_out or (took == built.core.plan.latency).all()
    apart = np.diff(run.accept_cycle)
    awake = apart[apart <= built.core.plan.latency]  # what comes later it may have rested before
    assert (awake % built.core.plan.interval == 0).all()
