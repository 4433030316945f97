"""Many designs of one function: what each costs, and which of them no other beats."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from ..design.choices import LARGEST_INTERVAL, WIDTHS
from ..design.design import Design
from ..design.effects import refused
from ..design.loading import load, refuse_unknown
from ..design.options import CHECKS, DesignChoices
from ..design.rules import QUICK
from ..design.target import Target, ascending, find_target
from ..draw.exploration import as_text as exploration_text
from ..draw.exploration import picture
from ..schedule.area import fitted, model_error
from ..schedule.quick import DesignPoint, Explored, QuickError, Sites
from ..system.quoting import Progress
from ..system.records import Record
from ..tools.toolchain import SynthesisError
from .exploration_loop import SHOWN, ExplorationWork
from .exploration_points import AXES, FOLD, QUICK_AXES, Choices, combinations
from .folder import InputError, OutputError, write_file
from .output_paths import check_place, default_place
from .parallel import at_a_time, executor_of
from .reports import NoReport, read_report
from .results import TextReport, study_page
from .synthesis import yosys_version

REPORT, PICTURE, PAGE, KEPT = "explore.json", "pareto.svg", "report.html", "kept"


class Exploration(TextReport[Explored]):
    """The result of `explore`; its files are in ``place``."""

    def __init__(self, report: Explored, place: Path) -> None:
        super().__init__(report)
        self.place = place

    def headline(self) -> str:
        own = self.facts
        best = sum(point.pareto for point in own.points)
        return (
            f"{own.robot}: {', '.join(own.functions)} on {own.target}: "
            f"{len(own.points)} designs, {best} of them on the front"
        )

    def as_text(self) -> str:
        return exploration_text(self.facts)

    def picture(self) -> Path | None:
        return self.place / "pareto.svg"

    def page(self) -> str:
        """The same as a page, with the picture, and what makes each design on the front."""
        spoken = [(point, point.generate) for point in self.facts.points if point.pareto]
        commands = [
            (f"{point.multipliers} multipliers, a task every {point.interval}", command)
            for point, command in spoken
            if command is not None
        ]
        return study_page(self.headline(), picture(self.facts), self.as_text(), commands)


def explore(
    robot: str,
    output: str | Path | None = None,
    intervals: Sequence[int] = (),
    widths: Sequence[int] = (),
    folds: Sequence[str] = (),
    synthesis: bool = True,
    jobs: int | None = None,
    progress: Progress = lambda _: None,
    force: bool = False,
    executor: str | None = None,
    executor_options: Mapping[str, Any] | None = None,
    quick: bool = False,
    **choices: Unpack[DesignChoices],
) -> Exploration:
    """Compile ``robot`` at every initiation interval, word width and formulation, and compare.

    ``intervals`` [cycles] and ``widths`` [bit] restrict the candidates. By default they are those
    of `INTERVALS` that save multipliers, and the design's error or width. ``folds`` are ways to
    share hardware, by default the one that the compiler chooses. ``choices`` are fields of
    Design; a ``formulation`` among them is the only one tried. Cells are estimated. With
    ``synthesis``, Yosys maps designs until all on the Pareto front are mapped. The criteria are
    multipliers, LUTs, time from task to task, time to a result, nJ of a result, and errors; less is
    better. What exceeds the part is not on the front. Times are µs of the core, at the clock that
    is expected of the slowest speed grade; for parts without a model of the clock they are cycles.

    ``quick`` compares thousands of designs in minutes, by schedules without linear programs. They
    share multipliers, and nothing is time-multiplexed. Unless restricted, every interval, width,
    number of guard bits and kind of rotation is tried. The error of these estimates is measured on
    some of the designs.

    Results are stored in OUTPUT/kept, so an interrupted run continues. ``jobs`` processes work at a
    time, by default one for each core. With more than one, a script must guard its main part by
    ``if __name__ == "__main__":``. The ``executor`` "local" or "slurm" uses jobs of submitit
    instead, with ``executor_options``; OUTPUT/jobs/jobs.json lists them. explore.json, pareto.svg
    and report.html are written to ``output``, by default build/NAME_explore. Results of another
    robot, function or part in that folder are replaced only with ``force``.

    Returns the report, whose ``text`` is its table. Raises InputError, OutputError, RobotError or
    SynthesisError, in one line.
    """
    refuse_unknown(choices, explore)
    _refuse(intervals, widths, folds, quick, jobs, choices)
    asked: dict[str, Any] = {
        **choices,
        "fit": False,
    }  # what is larger than the part is compared too
    if quick:
        asked = {"fold": "none", **asked}
        if asked.get("width") is None and asked.get("error") is None:
            widths = widths or range(WIDTHS[0], WIDTHS[1] + 1)
    words = {"width": widths[0]} if widths else {}
    design, loaded = load(robot, **{**asked, **words})
    target = find_target(design.target)
    if target.family not in fitted()["families"]:
        raise InputError(f"target: no area model of {design.target}, so nothing to compare by")
    if widths and design.error is not None:
        raise InputError("widths: words follow from the design's error; give one of the two")
    if synthesis and not yosys_version():
        raise SynthesisError('no Yosys: pip install "rbdgen[synthesis]", or do without synthesis')
    name = default_place(robot, loaded.name, design, asked).name
    place = Path(output) if output is not None else Path("build") / f"{name}_explore"
    taken = OutputError(f"{place}: exists and is not explore's; name another with -o")
    if os.path.isfile(place):  # noqa: PTH113  # false for what cannot be a path
        raise taken
    check_place(place / REPORT)
    if place.exists() and not (place / KEPT).is_dir() and not _is_empty(place):
        raise taken
    if not force:
        _refuse_another(place, loaded.name, design)

    if quick and (why := refused(design, QUICK)):
        raise InputError(why)
    through = executor_of(executor, place / "jobs", executor_options)
    at_once = at_a_time(jobs, through, os.cpu_count() or 1)
    work = ExplorationWork(robot, asked, target, place / KEPT, at_once, progress, through)
    given = {"width": widths, "fold": folds, **_chosen(asked)}
    axes = QUICK_AXES if quick else (*AXES, FOLD) if folds else AXES
    combined = list(combinations(design, given, axes))
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


@dataclass(frozen=True)
class _Explored(Record):
    """The fields read from a report of ``explore``."""

    robot: str
    functions: tuple[str, ...]
    target: str


def _refuse_another(place: Path, robot: str, design: Design) -> None:
    """OutputError for a folder with the exploration of another robot, function or part."""
    try:
        found = read_report(place, REPORT, _Explored)
    except NoReport:  # damaged
        return
    if found and found != _Explored(robot, design.functions, design.target):
        raise OutputError(
            f"{place}: has explored {found.robot}: {', '.join(found.functions)} on {found.target}; "
            "name another folder with -o, or replace its report with --force"
        )


def _is_empty(place: Path) -> bool:
    return place.is_dir() and not any(place.iterdir())


def _refuse(
    intervals: Sequence[int],
    widths: Sequence[int],
    folds: Sequence[str],
    quick: bool,
    jobs: int | None,
    choices: Mapping[str, Any],
) -> None:
    for field in ("ii", "multipliers"):
        if choices.get(field) is not None:
            raise InputError(f"{field}: explore varies the interval; give the intervals to try")
    for interval in intervals:
        if not 1 <= interval <= LARGEST_INTERVAL:
            raise InputError(f"ii: from 1 to {LARGEST_INTERVAL} cycles, not {interval}")
    if widths and choices.get("width") is not None:
        raise InputError("width, widths: give one of the two")
    if folds and choices.get("fold") is not None:
        raise InputError("fold, folds: give one of the two")
    if folds and quick and {*folds} != {"none"}:
        raise InputError("folds: quick designs share multipliers alone, as --fold none; leave out")
    for fold in folds:
        try:
            CHECKS["fold"](fold)
        except ValueError as error:
            raise InputError(f"folds: {error}") from None
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs: at least 1, not {jobs}")


def _chosen(choices: Choices) -> dict[str, Sequence[Any]]:
    """Fields that are given one value are not varied."""
    return {key: (value,) for key, value in choices.items() if value is not None}


def _is_unmapped(point: DesignPoint) -> bool:
    """Whether it is on the front, and Yosys has not tried it."""
    return point.pareto and point.mapped is None and point.why_not is None


def with_front(points: Sequence[DesignPoint], target: Target) -> list[DesignPoint]:
    """The points, each with whether it fits the part, and whether it is on the Pareto front.

    Compared are multipliers, LUTs, the time from task to task, the longest from a task to its
    result, nJ of a result where they are known, and errors. Times are µs of the clock that is
    expected where that is known, else cycles. Errors are those that are asked for, else that of the
    worst coordinate. Of quick designs, the width and guard bits stand for the error, and no time to
    a result is compared.

    Figures are those of Yosys where there are any. An estimate may exceed the part by as much as
    the model has ever been off: Yosys will tell.
    """
    worst = model_error(target.family).worst
    costs: dict[int, tuple[float, ...]] = {}  # of what fits
    for k, point in enumerate(points):
        if _holds(target, point, 1 + worst):
            costs[k] = costs_of(point)
    best = dict(zip(costs, front(list(costs.values())), strict=True))
    parts = ascending(target.family)
    return [
        replace(
            point,
            fits=k in costs,
            pareto=best.get(k, False),
            smallest=next((own.name for own in parts if _holds(own, point, 1 - worst)), None),
        )
        for k, point in enumerate(points)
    ]


def _holds(part: Target, point: DesignPoint, room: float) -> bool:
    """Whether a part has the sites; of estimated LUTs, ``room`` times as many."""
    cells, multipliers = point.cells, point.multipliers
    return (
        cells is not None
        and multipliers is not None
        and multipliers <= part.multipliers
        and cells["luts"] <= part.luts * (1 if point.mapped else room)
    )


def costs_of(point: DesignPoint) -> tuple[float, ...]:
    """All that is compared of a design, see `with_front`; less of each is better."""
    assert point.cells and point.multipliers is not None
    mhz, words = point.clock.mhz.about if point.clock else 1.0, point.choices
    costs = [point.multipliers, point.cells["luts"], point.interval / mhz]
    nj = point.energy.nj.about if point.energy else 0.0
    if point.longest is None:
        return *costs, nj, -words.get("width", 0), -words.get("guard", 0)
    error = words.get("error") or point.error
    return *costs, nj, point.longest / mhz, error or 0.0


def front(costs: Sequence[Sequence[float]]) -> list[bool]:
    """Whether each row of costs is on the front: no other is as low everywhere and lower somewhere.

    Of rows that are equal, all are on the front or none.
    """
    if not costs:
        return []
    rows, which = np.unique(np.array(costs, float), axis=0, return_inverse=True)
    # Of rows that differ, one that is nowhere higher is lower somewhere, and sorts before.
    best = [not (rows[:k] <= own).all(axis=1).any() for k, own in enumerate(rows)]
    return [best[k] for k in which.ravel()]


def beats(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether ``one`` is nowhere higher than ``other``, and lower somewhere."""
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
