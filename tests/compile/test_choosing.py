"""The smallest design for a latency and a rate, beside those around it."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from rbdgen.compile.choosing import (
    Chosen,
    Reach,
    Try,
    choose,
    longest_of,
    three_digits,
)
from rbdgen.compile.fitting import Candidate
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.front import Front
from rbdgen.compile.product import Product, ResourceEstimate
from rbdgen.design.clock import FAMILY, ClockEstimate, Span
from rbdgen.design.target import ascending, find_target
from rbdgen.design.wishes import Wishes, hertz, seconds
from rbdgen.graph.text import to_text
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
    own = found.best.cost
    assert own.reaches and found.best.made.front.target is SMALL
    assert own.us.most <= 1 and own.rate.least >= 10
    assert own.need.filled == min(one.cost.need.filled for one in found.tried if one.cost.reaches)
    assert f"--ii {found.best.design.ii} " in found.line and "should reach that" in found.line
    assert found.facts.options == found.options and found.facts.reach


@pytest.mark.parametrize(("latency", "rate"), [(None, 30e6), (0.22e-6, None)])
def test_the_nearest_smaller_is_named(latency: float | None, rate: float | None) -> None:
    found = chosen(latency, rate)
    smaller = [one for one in found.tried if one.cost.size < found.best.cost.size]
    less = found.smaller
    assert less and found.best.cost.reaches and not less.cost.reaches
    assert less.cost.off == min(one.cost.off for one in smaller)
    said = found.facts.smaller
    assert said and said.misses == {}
    assert said.options == {"ii": less.design.ii, "fold": "none", "target": SMALL.name}
    assert f"; a smaller one, --ii {less.design.ii} --fold none " in found.line
    assert "is DOUBTFUL" in found.line
    far = replace(found, tried=[found.best, smaller[0]])
    ((name, times),) = smaller[0].cost.surely_missed.items()
    assert far.facts.smaller and far.facts.smaller.misses == {name: times}
    assert f"misses the {name} by {100 * (times - 1):.0f} %" in far.line


def test_where_none_is_smaller_none_is_named() -> None:
    found = chosen(None, 1e6)
    assert found.best.cost.reaches and found.facts.smaller is None


def test_the_answer_counts_the_wait_of_a_task() -> None:
    """A core that takes a task every 64 cycles is not there within 31 of when one comes."""
    own = chosen(0.3e-6, None).best
    plan, interval = own.made.plan, own.cost.interval
    assert own.cost.longest == plan.latency + interval - 1 and plan.waking < interval
    assert own.cost.reaches and 1 < interval < 64


def test_registers_are_chosen_for_too() -> None:
    own = front_end("pendulum", functions=("fd",), parameters="registers", width=18)
    found = choose(own, Wishes(3e-6), [SMALL])
    assert found.best.cost.reaches and found.options["fold"] == "none"


def test_the_product_is_that_of_the_options() -> None:
    found = chosen(1e-6, 10e6)
    again = compile_front(front_end("pendulum", width=18, **found.options))
    assert to_text(found.product().plan.fixed) == to_text(again.plan.fixed)
    assert found.product().plan.latency == again.plan.latency


def test_twice_the_rate_never_takes_a_smaller_design() -> None:
    filled = [chosen(None, rate).best.cost.need.filled for rate in (5e6, 20e6, 80e6)]
    assert filled == sorted(filled)


@pytest.mark.parametrize(("latency", "rate"), [(20e-9, None), (None, 1e9), (20e-9, 1e9)])
def test_where_nothing_reaches_them_the_nearest_is_said(
    latency: float | None, rate: float | None
) -> None:
    found = chosen(latency, rate)
    own = found.best.cost
    assert not own.reaches and not found.facts.reach
    assert own.off == min(one.cost.off for one in found.tried)
    assert "NOTHING of" in found.line
    settled = found.line.partition("settle for ")[2].replace(", ", " ").split()
    given = dict(zip(settled[::2], settled[1::2], strict=False))
    soon, often = given.get("--latency"), given.get("--rate")
    less = chosen(seconds(soon) if soon else None, hertz(often) if often else None)
    assert (soon, often) != (None, None) and less.best.cost.reaches


def test_three_digits_are_rounded_to_what_is_sure() -> None:
    assert three_digits(3.2149, math.ceil) == "3.22" and three_digits(3.2149, math.floor) == "3.21"
    assert three_digits(0.09991, math.ceil) == "0.1000"
    assert three_digits(1234.5, math.floor) == "1230" and three_digits(99.95, math.ceil) == "100.0"


def test_a_larger_part_where_the_smallest_is_too_small() -> None:
    tiny = replace(SMALL, multipliers=3, luts=2000)
    found = choose(front(), Wishes(None, 100e6), [tiny, *ascending(FAMILY)])
    assert found.best.cost.reaches and found.best.made.front.target.name == "ecp5-25f"
    assert any(one.made.front.target is tiny for one in found.tried)
    assert "no target is said (of ecp5-25f" in found.line


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


CLOCK = ClockEstimate(8, Span(100.0, 100.0, 100.0))


@cache
def one() -> Product:
    return compile_front(replace(front(), design=replace(front().design, ii=1)))


def planned(interval: int, wishes: Wishes, longest: int, multipliers: int = 1) -> Try:
    """A design of 100 MHz whatever its interval."""
    need = ResourceEstimate(SMALL, interval, multipliers, 0, None)
    made = one()
    return Candidate(made.design, Reach(wishes, need, (CLOCK,), longest, interval), made)


@pytest.mark.parametrize(
    ("wishes", "best", "plans"),
    [
        (Wishes(rate=10e6), 10, 5),  # 100 MHz by 10: found by the clock of the first
        (Wishes(latency=1.0), 64, 1),  # whatever there is will do
        (Wishes(latency=0.24e-6), 24, 8),
        (Wishes(latency=1e-9), None, 8),  # nothing does
        (Wishes(rate=1e9), None, 3),
    ],
)
def test_the_longest_interval_of_a_way(wishes: Wishes, best: int | None, plans: int) -> None:
    def at(interval: int) -> Try:
        return planned(interval, wishes, longest=interval)

    found = [own.cost for own in longest_of(range(2, 65), at)]
    reached = [own.interval for own in found if own.reaches]
    assert max(reached, default=None) == best and len(found) <= plans
    # the nearest is among them: no other is as fast
    assert reached or min(own.interval for own in found) == 2


def test_a_clock_like_no_other_is_doubtful() -> None:
    made = planned(8, Wishes(1e-6), longest=20)
    far = replace(CLOCK, beyond="90000 cells, where the model was fitted to 1000 to 30000")
    for clock, said in ((CLOCK, "that should reach that,"), (far, "that may reach that (DOUBTFUL")):
        best = replace(made, cost=replace(made.cost, clocks=(clock,)))
        found = Chosen(front(), [SMALL], chosen(1e-6, 10e6).words, best, [best])
        assert said in found.line and found.facts.reach
        assert found.facts.doubtful == clock.beyond and clock.beyond in found.line


def test_latencies_that_neither_rise_nor_fall() -> None:
    """A single interval, between those that are halved, is fast enough."""

    def at(interval: int) -> Try:
        return planned(interval, Wishes(0.455e-6), interval + (38 if interval >= 7 else 44))

    assert [own.cost.interval for own in longest_of(range(2, 65), at)][-1] == 7


def test_what_does_not_fit_is_not_made_shorter() -> None:
    def at(interval: int) -> Try:
        return planned(interval, Wishes(0.3e-6), interval, 29 if interval < 20 else 28)

    found = [own.cost for own in longest_of(range(2, 65), at)]
    assert max(own.interval for own in found if own.reaches) == 30


def test_a_power_is_wished_for_too() -> None:
    found = choose(front(), Wishes(None, 1e6, 1.0), [SMALL])
    own = found.best.cost
    assert own.reaches and own.watts and own.watts.most <= 1 and " W," in found.line
    assert found.facts.watts == own.watts
    least = choose(front(), Wishes(None, 1e6, 1e-6), [SMALL])
    assert not least.best.cost.reaches and re.search(r"settle for --power [0-9.]+W", least.line)


def test_a_power_is_of_a_core() -> None:
    own = front_end("pendulum", functions=("id", "m"), accelerator=True, width=18)
    with pytest.raises(RobotError, match="power: of a core"):
        choose(own, Wishes(power=1.0), [SMALL])
