"""Many designs of one function: what each costs, and which of them no other beats."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..design.choices import LARGEST_INTERVAL
from ..design.design import Design
from ..design.loading import load, refuse_unknown
from ..design.target import Target, find_target
from ..draw.exploration import picture
from ..estimate.area import estimated, fitted, miss, model_error
from ..estimate.explored import Explored, Point, QuickError, Sites
from ..synthesize.tool import SynthesisError
from .cluster import Executor, at_a_time, executor_of
from .folder import InputError, OutputError, write_file
from .mapped import yosys_version
from .parallel import in_parallel
from .pareto import front
from .places import check_place, default_place
from .points import (
    AXES,
    INTERVALS,
    QUICK_AXES,
    Choices,
    Compiled,
    Progress,
    combinations,
    compiled,
    compiled_before,
    synthesised,
    synthesised_before,
)
from .quick_points import CHECKED, QuickPoints, quick_before, quick_points, refuse_quick
from .quick_points import TOGETHER as TOGETHER_CHECKED
from .results import Exploration

REPORT, PICTURE, PAGE, KEPT = "explore.json", "pareto.svg", "report.html", "kept"
TOGETHER = 16  # designs of one piece of work at most
SHOWN = ("luts", "flip_flops")  # quantities whose error the report gives


def explore(
    robot: str,
    output: str | Path | None = None,
    intervals: Sequence[int] = (),
    widths: Sequence[int] = (),
    synthesis: bool = True,
    jobs: int | None = None,
    progress: Progress = lambda _: None,
    force: bool = False,
    executor: str | None = None,
    executor_options: Mapping[str, Any] | None = None,
    quick: bool = False,
    **choices: Any,
) -> Exploration:
    """Compile ``robot`` at every initiation interval, word width and formulation, and compare.

    ``intervals`` [cycles] and ``widths`` [bit] restrict what is tried (default: ``INTERVALS`` as
    far as they save multipliers; the design's width); ``choices`` are fields of Design, and a
    ``formulation`` among them is the only one tried. Cells are estimated; with ``synthesis``, Yosys
    maps the designs on the Pareto front until each on the front is mapped. Fewer multipliers, fewer
    LUTs, shorter intervals and wider words are better; what exceeds the part is not on the front.

    ``quick``: thousands of designs in minutes, by schedules without linear programs, in which
    multipliers are shared and nothing takes turns: unless restricted, every interval at which the
    part has the multipliers, every width, guard bits, and both ways to rotate. How far their
    estimates are off is measured on some designs.

    Results are kept in OUTPUT/kept: an interrupted run goes on where it was. Work is done in
    ``jobs`` processes (default: one for each core); with more than one, a script that calls this
    must guard its main part by ``if __name__ == "__main__":``. ``executor``: "local" or
    "slurm", whose jobs do it instead, through submitit with ``executor_options``;
    OUTPUT/jobs/jobs.json says what ran where. Writes explore.json, pareto.svg and a page,
    report.html, to ``output`` (default: build/NAME_explore; what it has of another robot,
    function or part is replaced only with ``force``). Returns the report, and ``text``, its
    table.

    Raises InputError, OutputError, RobotError or SynthesisError, in one line.
    """
    refuse_unknown(choices, explore)
    _refuse(intervals, widths, jobs, choices)
    choices = {**choices, "fit": False}  # what is larger than the part is compared too
    if quick:
        choices = {"fold": "none", **choices}
    design, loaded = load(robot, **choices)
    target = find_target(design.target)
    if target.family not in fitted()["families"]:
        raise InputError(f"target: no area model of {design.target}, so nothing to compare by")
    if widths and design.error is not None:
        raise InputError("widths: words follow from the design's error; give one of the two")
    if synthesis and not yosys_version():
        raise SynthesisError('no Yosys: pip install "rbdgen[synthesis]", or do without synthesis')
    name = default_place(robot, loaded.name, design, choices).name
    place = Path(output) if output is not None else Path("build") / f"{name}_explore"
    taken = OutputError(f"{place}: exists and is not explore's; name another with -o")
    if os.path.isfile(place):  # noqa: PTH113  # false for what cannot be a path
        raise taken
    check_place(place / REPORT)
    if place.exists() and not (place / KEPT).is_dir() and not _is_empty(place):
        raise taken
    if not force:
        _refuse_another(place, loaded.name, design)

    if quick and (why := refuse_quick(design)):
        raise InputError(why)
    through = executor_of(executor, place / "jobs", executor_options)
    at_once = at_a_time(jobs, through, os.cpu_count() or 1)
    work = _Work(robot, choices, target, place / KEPT, at_once, progress, through)
    given = {"width": widths, **_chosen(choices)}
    combined = list(combinations(design, given, QUICK_AXES if quick else AXES))
    off: Mapping[str, QuickError] | None = None
    if quick:
        found, off = work.quick_points(combined, intervals)
    else:
        found = work.points(design, combined, intervals)
    points = with_front(found, target)
    while synthesis and (missing := [k for k, p in enumerate(points) if _is_unmapped(p)]):
        points = with_front(work.synthesised(points, missing), target)
    report = Explored(
        robot=loaded.name,
        functions=design.functions,
        target=design.target,
        part=target.part,
        limits=Sites(target.multipliers, target.luts),
        model={q: model_error(target.family, q) for q in SHOWN},
        points=tuple(points),
        quick=off,
    )
    write_file(place / REPORT, json.dumps(report.to_json(), indent=2) + "\n")
    write_file(place / PICTURE, picture(report))
    exploration = Exploration(report, place)
    write_file(place / PAGE, exploration.page())
    return exploration


def _refuse_another(place: Path, robot: str, design: Design) -> None:
    """OutputError for a folder with the exploration of another robot, function or part."""
    try:
        there = json.loads((place / REPORT).read_bytes())
        found = there["robot"], tuple(there["functions"]), there["target"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # none, or damaged
        return
    if found != (robot, design.functions, design.target):
        raise OutputError(
            f"{place}: has explored {found[0]}: {', '.join(found[1])} on {found[2]}; name another "
            "folder with -o, or replace its report with --force"
        )


def _is_empty(place: Path) -> bool:
    return place.is_dir() and not any(place.iterdir())


def _refuse(
    intervals: Sequence[int], widths: Sequence[int], jobs: int | None, choices: Choices
) -> None:
    for field in ("ii", "multipliers"):
        if choices.get(field) is not None:
            raise InputError(f"{field}: explore varies the interval; give the intervals to try")
    for interval in intervals:
        if not 1 <= interval <= LARGEST_INTERVAL:
            raise InputError(f"ii: from 1 to {LARGEST_INTERVAL} cycles, not {interval}")
    if widths and choices.get("width") is not None:
        raise InputError("width, widths: give one of the two")
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs: at least 1, not {jobs}")


def _chosen(choices: Choices) -> dict[str, Sequence[Any]]:
    """Fields that are given one value are not varied."""
    return {key: (value,) for key, value in choices.items() if value is not None}


class _Work:
    """What has to be done for a robot, part of it in several processes at once."""

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
    ) -> list[Point]:
        """Every design, with estimated cells; those that need too many multipliers without."""
        whole = self._compiled([first_of(design, own) for own in combined])
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
        known = {spoken(first_of(design, c)): f for c, f in zip(combined, whole, strict=True)}
        known |= {spoken(c): f for c, f in zip(folded, self._compiled(folded), strict=True)}
        return [
            self._point(own, n, known[spoken(own)] if own in able else None) for own, n in tried
        ]

    def quick_points(
        self, combined: Sequence[Choices], intervals: Sequence[int]
    ) -> tuple[list[Point], dict[str, QuickError]]:
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
                    Point(
                        choices=chosen,
                        interval=one.interval,
                        latency=one.latency,
                        evaluations_per_clock=1 / one.interval,
                        multipliers=one.multipliers,
                        estimated=one.estimated,
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

    def _compiled(self, all_of: Sequence[Choices]) -> list[Compiled]:
        """Each, in the order given; those that differ in their interval alone share the words."""
        alike: dict[str, list[int]] = {}
        for k, own in enumerate(all_of):
            alike.setdefault(spoken({**own, "ii": None}), []).append(k)
        size = max(1, min(TOGETHER, -(-len(all_of) // self.jobs)))
        parts = [own[k : k + size] for own in alike.values() for k in range(0, len(own), size)]

        def done(i: int, each: Sequence[Compiled]) -> None:
            for k, found in zip(parts[i], each, strict=True):
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

    def _point(self, own: Choices, multipliers: int, found: Compiled | None) -> Point:
        interval = found.interval if found else own["ii"]
        part, there = self.target.part, self.target.multipliers
        return Point(
            choices=own,
            interval=interval,
            latency=found.latency if found else None,
            evaluations_per_clock=1 / interval,
            multipliers=found.multipliers if found else multipliers,
            estimated=estimated(self.target.family, found.features) if found else None,
            mapped=None,
            generate=command(self.robot, {**self.choices, **own}),
            why_not=None if found else f"{multipliers} multipliers; {part} has {there}",
        )

    def synthesised(self, points: Sequence[Point], which: Sequence[int]) -> list[Point]:
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
    """The command that generates a design; None for what a command line cannot say."""
    words = ["rbdgen", "generate", robot]
    for key, value in choices.items():
        if value is None:
            continue
        if key == "fit":
            if not value and choices.get("ii") is None:
                words.append("--no-fit")
            continue
        option = {"functions": "--function"}.get(key, f"--{key.replace('_', '-')}")
        values = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(v, str | int | float) for v in values):
            return None
        joint = "," if key == "functions" else " "
        words += [option, joint.join(map(str, values))]
    return " ".join(words)


def _is_unmapped(point: Point) -> bool:
    """Whether it is on the front, and Yosys has not tried it."""
    return point.pareto and point.mapped is None and point.why_not is None


def with_front(points: Sequence[Point], target: Target) -> list[Point]:
    """The points, each with whether it fits the part, and whether it is on the Pareto front.

    Figures are those of Yosys where there are any. An estimate may exceed the part by as much as
    the model has ever been off: Yosys will tell.
    """
    worst = model_error(target.family).worst
    costs: dict[int, tuple[float, ...]] = {}  # of what fits
    for k, point in enumerate(points):
        room = target.luts * (1 if point.mapped else 1 + worst)
        if point.cells and point.multipliers <= target.multipliers and point.cells["luts"] <= room:
            luts, width = point.cells["luts"], point.choices["width"]
            guard = point.choices.get("guard", 0)
            costs[k] = point.multipliers, luts, point.interval, -width, -guard
    best = dict(zip(costs, front(list(costs.values())), strict=True))
    return [
        replace(point, fits=k in costs, pareto=best.get(k, False)) for k, point in enumerate(points)
    ]
