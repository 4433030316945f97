"""Quick folds: the same rules as of any fold, beside what the linear programs find."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import front_end
from rbdgen.design.target import find_target
from rbdgen.graph.fixed import FixedGraph
from rbdgen.graph.graph import operands
from rbdgen.graph.node import Op
from rbdgen.schedule.area import estimated
from rbdgen.schedule.features import features
from rbdgen.schedule.fold import verify_fold
from rbdgen.schedule.modulo import fold, waiting_bits
from rbdgen.schedule.quick import quick_folds
from rbdgen.schedule.units import shared_jobs

QUADRUPED = str(Path(__file__).parents[1] / "robots" / "quadruped.urdf")
TARGET = find_target("ecp5-85f")
CASES = {
    "gantry": ("gantry", {"functions": ("did",)}),
    "iiwa14": ("iiwa14", {}),
    "reciprocals": ("pendulum", {"functions": ("fd",), "width": 24}),
    "floating": (QUADRUPED, {"base": "floating", "functions": ("m",)}),
}
INTERVALS = (2, 3, 5, 8, 16, 33, 64)


@pytest.fixture(scope="module", params=list(CASES))
def fixed(request: pytest.FixtureRequest) -> FixedGraph:
    robot, choices = CASES[request.param]
    return FixedFunctions(front_end(robot, fit=False, **choices)).whole[1]


def test_they_keep_the_rules_and_come_near_to_full_ones(fixed: FixedGraph) -> None:
    jobs = shared_jobs(fixed, TARGET)
    quick = list(quick_folds(fixed, TARGET, INTERVALS, jobs))
    assert [own.interval for own in quick] == list(INTERVALS)
    more = []
    for own in quick:
        verify_fold(own)
        full = fold(fixed, TARGET, own.interval, jobs, selected=True)
        assert own.multipliers == full.multipliers and own.units == full.units
        assert own.latency <= full.latency  # the rules are tried at each interval, ties apart
        least, bits = (waiting_bits(fixed, f.time, f.takes, f.interval) for f in (full, own))
        assert bits <= 2 * least
        guess, there = (estimated("ecp5", features(f))["luts"] for f in (own, full))
        more.append(guess / there - 1)
    assert min(more) > -0.02 and max(more) < 0.06


def test_no_operation_alone_waits_with_fewer_bits_elsewhere(fixed: FixedGraph) -> None:
    """All others where they are, no place of an operation of its own is better than its own."""
    jobs = shared_jobs(fixed, TARGET)
    (own,) = quick_folds(fixed, TARGET, [8], jobs)
    free = [n for n in own.time if not own.shared(n) and n.op is not Op.INPUT and operands(n)]
    rng = np.random.default_rng(3)
    width = {n: fixed.formats[n].width for n in own.time}
    readers = {n: [m for m in own.time if n in operands(m)] for n in own.time}
    end, worse = max(own.time.values()), 0

    def waiting(node: object, start: int) -> int:
        starts = {m: start if m is node else own.start(m) for m in own.time}
        bits = 0
        for value in {*operands(node), node}:
            done = start + own.takes[node] if value is node else own.time[value]
            bits += width[value] * max([0, *(starts[m] - done for m in readers[value])])
        return bits

    for k in rng.choice(len(free), 12):
        node = free[k]
        first = max(own.time[a] for a in operands(node))
        last = min((own.start(m) for m in readers[node]), default=end) - own.takes[node]
        here = waiting(node, own.start(node))
        worse += here > min(waiting(node, start) for start in range(first, last + 1))
    assert worse <= 1  # what moved last may have left one better place behind
