"""Optimal motions beside crocoddyl's: one row, and what is said where it is not installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rbdgen.api.results import Mismatch
from rbdgen.design.loading import load
from rbdgen_benchmarks.bench import mpc, mpc_problems
from rbdgen_host.driver.predictive import PredictiveController


def test_a_reach_is_solved_twice_the_same() -> None:
    _, robot = load("pendulum")
    start, problem = mpc_problems.reach(robot.nv, 10)
    solve = mpc_problems.ours(PredictiveController("pendulum", 10), start, problem)
    first, second = solve(1e-10), solve(1e-10)
    assert first[:2] == second[:2] and 2 < first.iterations < 20


@pytest.mark.slow
def test_crocoddyls_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("crocoddyl", reason="crocoddyl is not installed: the extra solvers")
    monkeypatch.setattr(mpc, "RUNS", 1)
    _, robot = load("pendulum")
    start, problem = mpc_problems.reach(robot.nv, 10)
    own = mpc_problems.ours(PredictiveController("pendulum", 10), start, problem)
    for inverse in (False, True):
        theirs = mpc_problems.crocoddyls("pendulum", start, problem, inverse)
        row = mpc._row("a reach", 10, "crocoddyl", own, theirs)
        assert len(row) == len(mpc.HEAD) and row[-1] > 1


def test_costs_that_differ() -> None:
    solves: list[Any] = [
        lambda _, cost=cost: mpc_problems.Solved(3, cost, 1.0) for cost in (1.0, 1.1)
    ]
    with pytest.raises(Mismatch, match=r"a cost of 1, beside 1\.1"):
        mpc._row("a reach", 10, "crocoddyl", *solves)


def test_what_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpc, "find_spec", lambda name: None)
    of = mpc.mpc.measure(tmp_path, lambda _: None)
    with pytest.raises(StopIteration) as end:
        next(of)
    assert "crocoddyl is not here: pip install" in end.value.value
