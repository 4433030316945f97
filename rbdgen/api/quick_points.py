"""Thousands of designs, each estimated in milliseconds: what `explore` compares with ``quick``.

Designs that differ in their interval alone share a trace and words, and `quick_folds` schedules
them together. One that takes a task every clock is scheduled as always. Of some designs the
schedule of `modulo` is made too, which says how far the quick one is off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from ..compile.flow import front_end
from ..compile.plans import every
from ..compile.words import Words
from ..design.choices import LARGEST_INTERVAL
from ..design.design import Design
from ..estimate.area import estimated
from ..estimate.features import features
from ..schedule.plan import Plan
from ..schedule.quick import quick_folds
from ..schedule.units import shared_jobs
from ..system.records import Record
from .points import Choices, all_of
from .result_cache import kept

CHECKED = 30  # designs of which both schedules are made
TOGETHER = 5  # of them that share their words


@dataclass(frozen=True)
class QuickPoint(Record):
    """A design by its quick schedule; ``checked``: its cells by the other one, of a few."""

    interval: int
    latency: int
    multipliers: int
    estimated: Mapping[str, int]
    checked: Mapping[str, int] | None = None


@dataclass(frozen=True)
class QuickPoints(Record):
    """Designs that share their words, and the ``seconds`` of a processor that they took, words and
    all; ``checking``: those of the full schedules of what is checked."""

    points: tuple[QuickPoint, ...]
    seconds: float
    checking: float


def quick_points(
    robot: str, choices: Choices, intervals: Sequence[int], check: bool, place: Path
) -> QuickPoints:
    """A design at each of the intervals at which its part has the multipliers, or at all of 1 to
    `LARGEST_INTERVAL` where none are given; ``check``: both ways at `TOGETHER` of them. Kept in
    ``place``."""
    compute = partial(_computed, robot, choices, intervals, check)
    found = kept(place, "quick", _input(robot, choices, intervals, check), compute)
    return QuickPoints.from_json(found)


def quick_before(
    robot: str, choices: Choices, intervals: Sequence[int], check: bool, place: Path
) -> QuickPoints | None:
    """The same if it is kept in ``place``."""
    found = kept(place, "quick", _input(robot, choices, intervals, check), None)
    return None if found is None else QuickPoints.from_json(found)


def refuse_quick(design: Design) -> str | None:
    """Why there are no quick schedules of such a design: a field and what it may be; or None."""
    wrong = [
        (design.style != "throughput", "style: quick schedules are of style throughput"),
        (design.scheduler != "list", "scheduler: quick schedules are made by a list scheduler"),
        (design.error is not None, "error: quick designs have words of one width; give --widths"),
        (
            design.fold not in ("auto", "none"),
            "fold: in quick designs multipliers are shared, and nothing takes turns",
        ),
    ]
    return next((what for is_so, what in wrong if is_so), None)


def _input(robot: str, choices: Choices, intervals: Sequence[int], check: bool) -> str:
    return f"{all_of(robot, choices)} {list(intervals)} {check}"


def _computed(
    robot: str, choices: Choices, intervals: Sequence[int], check: bool
) -> dict[str, Any]:
    started = process_time()
    front = front_end(robot, **choices)
    fixed = Words(front).whole[1]
    target = front.target
    jobs = shared_jobs(fixed, target)
    tried = sorted(set(intervals)) or range(1, LARGEST_INTERVAL + 1)
    folded = [k for k in tried if k > 1 and jobs.multipliers(k) <= target.multipliers]

    def full(interval: int) -> Plan:
        return every(interval, front.design, fixed, jobs, target)

    def point(plan: Plan) -> QuickPoint:
        cells = estimated(target.family, features(plan))
        return QuickPoint(plan.interval, plan.latency, plan.multipliers, cells)

    points = [point(full(1))] if 1 in tried else []
    points += [point(plan) for plan in quick_folds(fixed, target, folded, jobs)]
    seconds = process_time() - started
    both = folded[:: max(1, len(folded) // TOGETHER)][:TOGETHER] if check else []
    started = process_time()
    checked = {k: estimated(target.family, features(full(k))) for k in both}
    return QuickPoints(
        points=tuple(replace(own, checked=checked.get(own.interval)) for own in points),
        seconds=seconds,
        checking=process_time() - started,
    ).to_json()
