"""Operations chained within a clock: no path is longer than it, and no schedule shorter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdgen.design.target import find_target
from rbdgen.graph.graph import operands
from rbdgen.graph.node import Node, Op
from rbdgen.schedule.chained import ChainError, chain
from rbdgen.schedule.difference_constraints import ScheduleError, delay, gathering, levels
from rbdgen.schedule.fold import Fold, verify_fold
from tests.support.schedule_examples import compiled, random_graph

TARGET = find_target("xcup")
SEEDS = range(6)


def longest(fold: Fold, node: Node, seen: dict[Node, float]) -> float:
    """ns from the clock edge to the node's result along the longest path that leads to it."""
    if node not in seen:
        own, ns = delay(fold.fixed, TARGET, node), TARGET.delays
        before = [a for a in operands(node) if fold.time[a] == fold.start(node)]
        begins = max([ns.launch, *(longest(fold, a, seen) for a in before)])
        if fold.takes[node]:
            assert begins + own.enter + ns.capture <= fold.chain.period
            begins, own = ns.launch, replace(own, enter=own.leave)
        seen[node] = begins + own.enter
    return seen[node]


@pytest.mark.parametrize("interval", [1, 7])
@pytest.mark.parametrize("period", [14.0, 18.0, 33.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_path_is_longer_than_the_period(seed: int, period: float, interval: int) -> None:
    fold = chain(random_graph(seed), TARGET, period, interval)
    seen: dict[Node, float] = {}
    for node in fold.time:
        assert all(fold.time[a] <= fold.start(node) for a in operands(node))
        arrives = longest(fold, node, seen) + delay(fold.fixed, TARGET, node).check
        if fold.fixed.overflowing(node) and fold.time[node] == fold.flagged_at:
            arrives += gathering(TARGET, len(fold.checks[fold.flagged_at]) + 1)
        assert arrives + TARGET.delays.capture <= period


def earliest(fold: Fold) -> dict[Node, tuple[int, float]]:
    """Cycle and ns of each result if every operation starts as soon as it can."""
    ns, at = TARGET.delays, {}
    for node in fold.time:
        own, takes = delay(fold.fixed, TARGET, node), fold.takes[node]
        if node.op is Op.INPUT:
            at[node] = 1, ns.launch
            continue
        cycle, begins = max(at[a] for a in operands(node))
        if begins + own.enter + (0 if takes else own.check) + ns.capture > fold.chain.period:
            cycle, begins = cycle + 1, ns.launch
        at[node] = (cycle + takes, ns.launch + own.leave) if takes else (cycle, begins + own.enter)
    return at


@pytest.mark.parametrize("period", [14.0, 18.0, 50.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_waiting_costs_no_latency(seed: int, period: float) -> None:
    fold = chain(random_graph(seed), TARGET, period)
    soonest = earliest(fold)
    assert all(fold.time[n] >= cycle for n, (cycle, _) in soonest.items())
    assert max(fold.time.values()) <= max(fold.flagged_at, *(c for c, _ in soonest.values()))
    last = max(cycle for node, (cycle, _) in soonest.items() if fold.fixed.overflowing(node))
    assert fold.flagged_at in (last, last + 1)


def test_cycles_fall_with_the_period() -> None:
    fixed = compiled("gantry").fixed
    cycles = [chain(fixed, TARGET, period).latency for period in (14, 18, 25, 36, 72, 300)]
    assert cycles == sorted(cycles, reverse=True)
    assert cycles[-1] < cycles[0]


def bits(fold: Fold) -> int:
    """Register bits in which values wait."""
    last: dict[Node, int] = {}
    for node in fold.time:
        for operand in operands(node):
            last[operand] = max(last.get(operand, 0), fold.register(operand, fold.start(node)))
    return sum(count * fold.fixed.formats[node].width for node, count in last.items())


def test_registers_are_kept_for_an_interval() -> None:
    fixed = compiled("iiwa14-sincos").fixed
    every, sometimes = (chain(fixed, TARGET, 18.0, interval) for interval in (1, 16))
    assert every.latency == sometimes.latency
    assert bits(sometimes) < 0.6 * bits(every)
    assert (
        max(fold.register(n, fold.time[n]) for fold in (every, sometimes) for n in fold.time) == 0
    )


def test_too_short_a_period() -> None:
    with pytest.raises(ChainError, match=r"one mul takes [\d.]+ ns, of 6 ns"):
        chain(random_graph(0), TARGET, 6.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_verify_finds_what_does_not_hold(seed: int) -> None:
    """Any operation a cycle earlier than it can be, a flag too early, a shorter clock."""
    fold = chain(random_graph(seed), TARGET, 18.0)
    soonest = {node: cycle for node, (cycle, _) in earliest(fold).items()}
    rng = np.random.default_rng(seed)
    moved = [n for n in fold.time if n.op is not Op.INPUT and fold.time[n] == soonest[n] > 1]
    for node in rng.permutation(np.array(moved, object))[:10]:
        earlier = {**fold.time, node: fold.time[node] - 1}
        with pytest.raises(ScheduleError):
            verify_fold(replace(fold, time=earlier))
    assert fold.chain is not None
    for wrong in (
        replace(fold.chain, flag=fold.chain.flag - 1),
        replace(fold.chain, period=11.0),
    ):
        with pytest.raises(ScheduleError):
            verify_fold(replace(fold, chain=wrong))


def test_levels_of_lookup_tables() -> None:
    assert [levels(n) for n in (1, 4, 5, 16, 17, 64, 65)] == [1, 1, 2, 2, 3, 3, 4]
