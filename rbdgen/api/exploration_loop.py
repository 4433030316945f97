"""The designs of an exploration, made and measured: part of it in several processes at once."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..design.design import Design
from ..design.options import OPTIONS
from ..design.target import Target
from ..robot.model import RobotError
from ..schedule.area import estimated, miss
from ..schedule.quick import DesignPoint, QuickError
from ..system.quoting import Progress
from .exploration_points import (
    CHECKED,
    INTERVALS,
    TOGETHER_CHECKED,
    Choices,
    CompiledPoint,
    QuickPoints,
    RefusedPoint,
    compiled,
    compiled_before,
    may_be_refused,
    quick_before,
    quick_points,
    synthesised,
    synthesised_before,
)
from .folder import InputError
from .parallel import Executor, in_parallel

TOGETHER = 16  # designs of one piece of work at most
SHOWN = ("luts", "flip_flops")  # quantities whose error the report gives


class ExplorationWork:
    """The work of an exploration of one robot, split over several processes."""

    def __init__(
        self,
        robot: str,
        choices: Choices,
        target: Target,
        store: Path,
        jobs: int,
        progress: Progress,
        executor: Executor | None,
    ) -> None:
        self.robot, self.choices, self.target = robot, choices, target
        self.store, self.jobs, self.progress = store.absolute(), jobs, progress
        self.executor = executor

    def points(
        self, design: Design, combined: Sequence[Choices], intervals: Sequence[int]
    ) -> list[DesignPoint]:
        """Every design, with estimated cells; those that need too many multipliers without.

        How many are taken where limbs, joints or an accelerator's stages are time-multiplexed
        depends on which: such a design is compiled at each interval, and refused where it cannot
        be.
        """
        cores = [own for own in combined if not may_be_refused(design, own)]
        found = self._points_of_core(design, cores, intervals) if cores else []
        steps = tuple(dict.fromkeys(intervals or INTERVALS))
        own = [{**own, "ii": k} for own in combined if own not in cores for k in steps]
        each = self._compiled(own)
        refused = [point.why_not for point in each if isinstance(point, RefusedPoint)]
        if refused and not found and len(refused) == len(each):
            raise RobotError(refused[0])
        return found + [self._point(c, None, point) for c, point in zip(own, each, strict=True)]

    def _points_of_core(
        self, design: Design, combined: Sequence[Choices], intervals: Sequence[int]
    ) -> list[DesignPoint]:
        found = self._compiled([first_of(design, own) for own in combined])
        whole = [own for own in found if isinstance(own, CompiledPoint)]  # no core is refused
        tried: list[tuple[Choices, int]] = []  # and the multipliers it takes
        for own, first in zip(combined, whole, strict=True):
            if first_of(design, own)["ii"] is None:
                tried.append(({**own, "ii": None}, first.multipliers))
                continue
            at = first.multipliers_at
            steps = dict.fromkeys(intervals or saving(at))
            tried += [({**own, "ii": k}, at[k - 1]) for k in steps]
        # at one task a clock, products that find no multiplier are made of logic
        there = self.target.multipliers
        able = [own for own, n in tried if own["ii"] in (None, 1) or n <= there]
        folded = [own for own in able if own["ii"] not in (None, 1)]
        known: dict[str, CompiledPoint | RefusedPoint]
        known = {spoken(first_of(design, c)): f for c, f in zip(combined, whole, strict=True)}
        known |= {spoken(c): f for c, f in zip(folded, self._compiled(folded), strict=True)}
        return [
            self._point(own, n, known[spoken(own)] if own in able else None) for own, n in tried
        ]

    def quick_points(
        self, combined: Sequence[Choices], intervals: Sequence[int]
    ) -> tuple[list[DesignPoint], dict[str, QuickError]]:
        """Designs by quick schedules whose part has the multipliers, and how far they are off."""
        step = max(1, TOGETHER_CHECKED * len(combined) // CHECKED)
        inputs = [
            (self.robot, {**self.choices, **own}, tuple(intervals), k % step == 0, self.store)
            for k, own in enumerate(combined)
        ]
        ready, seconds = 0, 0.0

        def done(k: int, found: QuickPoints) -> None:
            nonlocal ready, seconds
            ready += len(found.points)
            seconds += found.seconds
            self.progress(
                f"{ready} designs, {1000 * seconds / max(ready, 1):.1f} ms of a processor each: "
                f"{spoken(combined[k])}"
            )

        each = in_parallel(
            quick_points, inputs, self.jobs, done, self.executor, quick_before, self.progress
        )
        points, both = [], []
        for own, found in zip(combined, each, strict=True):
            both += [(one.estimated, one.checked) for one in found.points if one.checked]
            for one in found.points:
                chosen = {**own, "ii": one.interval}
                points.append(
                    DesignPoint(
                        choices=chosen,
                        interval=one.interval,
                        latency=one.latency,
                        evaluations_per_clock=1 / one.interval,
                        multipliers=one.multipliers,
                        estimated=one.estimated,
                        clock=one.clock,
                        energy=one.energy,
                        mapped=None,
                        generate=command(self.robot, {**self.choices, **chosen}),
                    )
                )
        if not points:
            raise InputError(f"ii: {self.target.part} has too few multipliers at each of these")
        if both:
            seconds = sum(found.checking for found in each)
            self.progress(
                f"{len(both)} of them scheduled in full too, {1000 * seconds / len(both):.1f} ms "
                "of a processor each, without their words"
            )
        return points, {q: _quick_error([miss(a[q], b[q]) for a, b in both]) for q in SHOWN}

    def _compiled(self, all_of: Sequence[Choices]) -> list[CompiledPoint | RefusedPoint]:
        """Each, in the order given; those that differ in their interval alone share the words."""
        alike: dict[str, list[int]] = {}
        for k, own in enumerate(all_of):
            alike.setdefault(spoken({**own, "ii": None}), []).append(k)
        size = max(1, min(TOGETHER, -(-len(all_of) // self.jobs)))
        parts = [own[k : k + size] for own in alike.values() for k in range(0, len(own), size)]

        def done(i: int, each: Sequence[CompiledPoint | RefusedPoint]) -> None:
            for k, found in zip(parts[i], each, strict=True):
                if isinstance(found, RefusedPoint):
                    figures = found.why_not
                else:
                    figures = f"{found.multipliers} multipliers, latency {found.latency}"
                self.progress(f"compiled {spoken(all_of[k])}: {figures}")

        inputs = [
            (
                self.robot,
                {**self.choices, **all_of[part[0]], "ii": None},
                tuple(all_of[k]["ii"] for k in part),
                self.store,
            )
            for part in parts
        ]
        each = in_parallel(
            compiled, inputs, self.jobs, done, self.executor, compiled_before, self.progress
        )
        found = dict(
            zip((k for p in parts for k in p), (x for own in each for x in own), strict=True)
        )
        return [found[k] for k in range(len(all_of))]

    def _point(
        self, own: Choices, multipliers: int | None, found: CompiledPoint | RefusedPoint | None
    ) -> DesignPoint:
        generate = command(self.robot, {**self.choices, **own})
        if not isinstance(found, CompiledPoint):
            part, there = self.target.part, self.target.multipliers
            return DesignPoint(
                choices=own,
                interval=own["ii"],
                latency=None,
                evaluations_per_clock=1 / own["ii"],
                multipliers=multipliers,
                estimated=None,
                mapped=None,
                generate=generate,
                why_not=found.why_not
                if found
                else f"{multipliers} multipliers; {part} has {there}",
            )
        return DesignPoint(
            choices=own,
            interval=found.interval,
            latency=found.latency,
            longest=found.longest,
            evaluations_per_clock=1 / found.interval,
            multipliers=found.multipliers,
            estimated=estimated(self.target.family, found.features),
            clock=found.clock,
            energy=found.energy,
            mapped=None,
            generate=generate,
            worst=found.worst,
            error=found.error,
        )

    def synthesised(self, points: Sequence[DesignPoint], which: Sequence[int]) -> list[DesignPoint]:
        """The points with the cells of some of them, or why they could not be mapped."""
        at_once = min(self.jobs, len(which))
        self.progress(f"mapping {len(which)} designs, {at_once} at a time")

        def done(k: int, found: Mapping[str, int] | str) -> None:
            figures = found if isinstance(found, str) else f"{found['luts']} LUTs"
            self.progress(f"mapped {spoken(points[which[k]].choices)}: {figures}")

        inputs = [(self.robot, {**self.choices, **points[k].choices}, self.store) for k in which]
        results, before = list(points), synthesised_before
        each = in_parallel(
            synthesised, inputs, self.jobs, done, self.executor, before, self.progress
        )
        for k, found in zip(which, each, strict=True):
            own = {"why_not": found} if isinstance(found, str) else {"mapped": found}
            results[k] = replace(points[k], **own)
        return results


def _quick_error(off: Sequence[float]) -> QuickError:
    if not off:
        return QuickError(0, 0.0, 0.0)
    rms = math.sqrt(sum(x * x for x in off) / len(off))
    worst = max(min(off), max(off), key=abs)
    return QuickError(len(off), round(rms, 4), round(worst, 4))


def first_of(design: Design, own: Choices) -> Choices:
    """The first design of a combination of choices: one task a clock, or the only one there is.

    A design of least latency has the interval that follows from it.
    """
    alone = own.get("style", design.style) == "latency"
    return {**own, "ii": None if alone else 1}


def saving(multipliers_at: Sequence[int]) -> list[int]:
    """The ``INTERVALS`` that take fewer multipliers than the one before; entry k - 1: at k."""
    first, *rest = INTERVALS
    kept = [first]
    for interval in rest:
        if multipliers_at[interval - 1] < multipliers_at[kept[-1] - 1]:
            kept.append(interval)
    return kept


def spoken(choices: Mapping[str, Any]) -> str:
    """``formulation composite, width 18, ii 4``."""
    return ", ".join(f"{key} {value}" for key, value in choices.items() if value is not None)


def command(robot: str, choices: Choices) -> str | None:
    """The shell command that generates a design; None if an option cannot express a choice."""
    words = ["rbdgen", "generate", robot]
    for key, value in choices.items():
        if value is None or (key == "fit" and choices.get("ii") is not None):
            continue
        own = OPTIONS[key].words(value)
        if own is None:
            return None
        words += own
    return shlex.join(words)
