"""The fewest cycles within a budget of multipliers, at the fastest clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rbdgen.design.target import find_target
from rbdgen.graph.fixed import FixedGraph
from rbdgen.schedule.chained import quickest
from rbdgen.schedule.fold import Fold
from rbdgen.schedule.modulo import fold
from rbdgen.schedule.units import shared_jobs
from tests.support.schedule_examples import compiled, random_graph

TARGET = find_target("ecp5-85f")


def shared(fixed: FixedGraph, interval: int) -> Fold:
    """What the throughput style makes of an interval above 1."""
    return fold(fixed, TARGET, interval, selected=True)


@pytest.mark.parametrize("case", ["pendulum", "gantry", "random3"])
def test_with_a_unit_for_every_product_nothing_waits(case: str) -> None:
    core = compiled(case)
    jobs = shared_jobs(core.fixed, TARGET)
    found = quickest(core.fixed, TARGET, jobs, jobs.multipliers(1))
    assert found.interval == 1
    assert found.latency <= core.plan.latency  # no FIFOs between regions


@pytest.mark.parametrize("share", [0.15, 0.3, 0.6])
def test_never_slower_than_the_throughput_style(share: float) -> None:
    fixed = random_graph(2)
    jobs = shared_jobs(fixed, TARGET)
    budget = max(int(jobs.multipliers(1) * share), jobs.multipliers(64))
    throughput = shared(fixed, jobs.least_interval(budget))
    found = quickest(fixed, TARGET, jobs, budget)
    assert found.multipliers <= budget
    assert found.latency <= throughput.latency
    assert found.latency >= shared(fixed, 1).latency
    seldom = throughput.interval + 2
    given = quickest(fixed, TARGET, jobs, budget, seldom)
    assert given.interval == seldom
    assert given.latency <= shared(fixed, seldom).latency


def test_idle_units_shorten_the_way() -> None:
    """At the least interval jobs wait for units; at a longer one the same units do not."""
    core = compiled("gantry")
    jobs = shared_jobs(core.fixed, TARGET)
    least = jobs.least_interval(10)
    found = quickest(core.fixed, TARGET, jobs, 10)
    assert found.interval > least
    assert found.latency < shared(core.fixed, least).latency
    assert found.latency == shared(core.fixed, 1).latency
    assert found.multipliers <= 10


def test_less_than_one_unit_of_each_kind() -> None:
    fixed = random_graph(1)
    part = replace(TARGET, multipliers=1)
    with pytest.raises(ValueError, match=r"at least \d+ hardware multipliers"):
        quickest(fixed, part, shared_jobs(fixed, part), 1)
