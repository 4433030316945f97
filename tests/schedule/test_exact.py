"""Exact modulo schedules: as good as the list scheduler's or better, and the bound where proven."""

from __future__ import annotations

import sys

import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.target import find_target
from rbdgen.schedule.exact import NoSolver, exact
from rbdgen.schedule.fold import verify_fold
from rbdgen.schedule.modulo import durations, fold
from rbdgen.schedule.units import shared_jobs

TARGET = find_target("ecp5-85f")


@pytest.mark.parametrize("interval", [2, 3, 6])
def test_no_longer_than_the_list_schedule(interval: int) -> None:
    """And no shorter than with every unit its own, which the list scheduler finds exactly."""
    fixed = compile_front(front_end("gantry")).fixed
    listed = fold(fixed, TARGET, interval)
    solved = verify_fold(fold(fixed, TARGET, interval, solver=True))
    assert fold(fixed, TARGET, 1).latency <= solved.latency <= listed.latency
    assert solved.multipliers == listed.multipliers


def test_the_same_schedule_every_time() -> None:
    fixed = compile_front(front_end("pendulum", functions=("fd",))).fixed
    first, second = (fold(fixed, TARGET, 4, solver=True) for _ in range(2))
    assert first.time == second.time
    assert first.place == second.place


def test_a_latency_is_proven() -> None:
    """With one unit of each kind."""
    fixed = compile_front(front_end("pendulum", functions=("id",))).fixed
    jobs = shared_jobs(fixed, TARGET)
    interval = max(len(members) for members in jobs.of.values())
    listed = fold(fixed, TARGET, interval)
    _, proven = exact(fixed, durations(fixed, TARGET), jobs, listed.units, interval, listed.time)
    assert proven


def test_without_the_solver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(NoSolver, match=r'pip install "rbdgen\[scheduling\]"'):
        compile_front(front_end("gantry", ii=3, scheduler="exact"))
