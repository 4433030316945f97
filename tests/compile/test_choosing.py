"""The smallest design for a latency and a rate, beside those around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from rbdgen.compile.choosing import Chosen, _along, ascending, choose
from rbdgen.compile.fitting import SharingChoice
from rbdgen.compile.flow import front_end
from rbdgen.compile.front import Front
from rbdgen.design.clock import ClockEstimate, Span
from rbdgen.design.target import find_target
from rbdgen.design.wishes import Wishes
from rbdgen.robot.model import RobotError

SMALL = find_target("ecp5-25f")


@cache
def front() -> Front:
    return front_end("pendulum", width=18)


@cache
def chosen(latency: float | None, rate: float | None) -> Chosen:
    return choose(front(), Wishes(latency, rate), [SMALL])


def test_the_answer_reaches_the_wishes_and_fits() -> None:
    found = chosen(1e-6, 10e6)
    own = found.best
    assert own.reaches and own.made.front.target is SMALL
    assert own.us.most <= 1 and own.rate.least >= 10
    assert own.need.filled == min(one.need.filled for one in found.tried if one.reaches)
    assert f"--ii {own.made.design.ii} " in found.line and "should reach that" in found.line
    assert found.facts.options == own.options and found.facts.reach


def test_twice_the_rate_never_takes_a_smaller_design() -> None:
    filled = [chosen(None, rate).best.need.filled for rate in (5e6, 20e6, 80e6)]
    assert filled == sorted(filled)


def test_where_nothing_reaches_them_the_nearest_is_said() -> None:
    found = chosen(20e-9, None)
    assert not found.best.reaches and not found.facts.reach
    assert found.best.off == min(one.off for one in found.tried)
    assert "NOTHING of" in found.line
    settled = found.line.partition("settle for --latency ")[2]
    assert float(settled.partition("us")[0]) == pytest.approx(found.best.us.most, rel=0.01)


def test_a_larger_part_where_the_smallest_is_too_small() -> None:
    tiny = replace(SMALL, multipliers=3, luts=2000)
    found = choose(front(), Wishes(None, 100e6), [tiny, *ascending()])
    assert found.best.reaches and found.best.made.front.target.name == "ecp5-25f"
    assert any(one.made.front.target is tiny for one in found.tried)


@pytest.mark.parametrize(
    ("choices", "part", "why"),
    [
        ({"ii": 4}, "ecp5-25f", "leave out --ii"),
        ({"fit": False}, "ecp5-25f", "leave out --ii"),
        ({}, "xcup", "not known before it is placed; .* ecp5-25f, ecp5-45f, ecp5-85f"),
    ],
)
def test_refused(choices: dict[str, Any], part: str, why: str) -> None:
    own = front_end("pendulum", width=18, **choices)
    with pytest.raises(RobotError, match=why):
        choose(own, Wishes(1e-6), [find_target(part)])


class Planned:
    """A design whose clock is 100 MHz whatever its interval, and that takes one interval's time."""

    def __init__(self, wishes: Wishes, interval: int) -> None:
        self.wishes, self.interval = wishes, interval
        self.clock = ClockEstimate(8, Span(100.0, 100.0, 100.0))
        self.missed = wishes.missed(self.clock.us(interval), self.clock.rate(interval))
        self.reaches = not self.missed
        self.need = type("Need", (), {"fits": True})


@pytest.mark.parametrize(
    ("wishes", "best", "plans"),
    [
        (Wishes(rate=10e6), 10, 2),  # 100 MHz by 10: found by the clock of the first
        (Wishes(latency=1.0), 64, 1),  # whatever there is will do
        (Wishes(latency=1e-9), None, 5),  # nothing does
        (Wishes(rate=1e9), None, 1),
    ],
)
def test_the_longest_interval_of_a_way(wishes: Wishes, best: int | None, plans: int) -> None:
    at: Callable[[int], Any] = lambda k: Planned(wishes, k)  # noqa: E731
    found = list(_along(SharingChoice("none", 2, lambda: range(2, 65)), at))
    reached = [one.interval for one in found if one.reaches]
    assert max(reached, default=None) == best and len(found) <= plans + 3
