"""The designs that ``explore`` compares: what is tried, compiled, estimated and mapped.

Each result is kept in a folder by all that it depends on: the robot, the design, the compiler. With
``quick``, each of thousands of designs is estimated in milliseconds: those that differ in their
interval alone share a trace and words, and `quick_folds` schedules them together. One that takes a
task every clock is scheduled as always. Of some designs the schedule of `modulo` is made too, which
says how far the quick one is off.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from time import process_time
from typing import Any

from ..compile.accelerator_area import accelerator_features
from ..compile.expected import expected_errors
from ..compile.fixed_functions import FixedFunctions
from ..compile.flow import compile_front, front_end
from ..compile.plans import every
from ..compile.product import Product, clocks_of, energy_of
from ..design.choices import LARGEST_INTERVAL, MOST_GUARD, WORDS
from ..design.clock import ClockEstimate
from ..design.coordinates import brief, worst_share
from ..design.design import Design
from ..design.energy import EnergyEstimate
from ..design.functions import GIVES
from ..design.loading import load
from ..design.target import counted
from ..robot.model import RobotError
from ..schedule.area import estimated
from ..schedule.clock import slowest_clock
from ..schedule.energy import plan_energy
from ..schedule.features import Features, features
from ..schedule.plan import Plan
from ..schedule.quick import quick_folds
from ..schedule.units import shared_jobs
from ..shell.emit import emit
from ..system.cache import cached_result
from ..system.records import Record
from ..tasks.latency import latency_of, longest_latency
from ..tools.toolchain import SynthesisError
from .design_file import compiler_digest, design_digest
from .synthesis import mapped, yosys_version

Choices = dict[str, Any]
Intervals = tuple[int | None, ...]
INTERVALS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
CHECKED = 30  # designs of which both schedules are made
TOGETHER_CHECKED = 5  # of them that share their words


@dataclass(frozen=True)
class ExploredField:
    """A field of the design that is varied, unless the user or the design has chosen.

    ``values``: what is tried, where ``applies``; none: the design's own value alone.
    """

    field: str
    values: tuple[Any, ...] = ()
    applies: Callable[[Design], bool] = lambda _: True


def _has_gradients(design: Design) -> bool:
    return any(name.startswith("d") for f in design.functions for name in GIVES[f])


# One line for each choice that ``explore`` varies, beside the initiation interval. What the
# logarithmic formulation saves in latency it takes in cells and errors: only on request.
# Words have one width, or the error that they may leave: the other one is no choice then.
AXES = (
    ExploredField("formulation", ("composite", "recursive"), _has_gradients),
    ExploredField("width"),
    ExploredField("error"),
)

FOLD = ExploredField("fold")  # where several are asked for: "auto" compares them by itself


# The same where a design takes milliseconds. More guard bits are better, as wider words are.
QUICK_AXES = (
    AXES[0],
    ExploredField("width"),
    ExploredField("guard", tuple(range(1, MOST_GUARD + 1))),
    ExploredField("rotation", (4, 3)),
)


def combinations(
    design: Design, given: dict[str, Sequence[Any]], axes: Sequence[ExploredField] = AXES
) -> Iterator[Choices]:
    """Every combination of the axes' values; ``given`` are those that the user asked for."""
    values = []
    words = "width" if design.error is None else "error"
    axes = [axis for axis in axes if axis.field == words or axis.field not in WORDS]
    for axis in axes:
        tried = tuple(dict.fromkeys(given.get(axis.field, ())))
        if not tried:
            tried = axis.values if axis.values and axis.applies(design) else ()
        values.append(tried or (getattr(design, axis.field),))
    for chosen in itertools.product(*values):
        yield {axis.field: value for axis, value in zip(axes, chosen, strict=True)}


@dataclass(frozen=True)
class CompiledPoint(Record):
    """A design's figures before synthesis, ``interval``, ``latency`` and ``longest`` of its slowest
    function; ``multipliers_at`` every interval from 1 up, of a core; ``worst``: its coordinates
    with the largest errors, as `brief` has them, and ``error`` their `worst_share`."""

    interval: int
    latency: int
    longest: int
    multipliers: int
    features: Features
    multipliers_at: tuple[int, ...]
    worst: str
    error: float
    clock: ClockEstimate | None = None
    energy: EnergyEstimate | None = None

    @classmethod
    def of(cls, made: Product) -> CompiledPoint:
        """The figures of what was compiled."""
        own, multipliers_at = made.accelerator, tuple[int, ...]()
        if made.is_core:
            jobs = shared_jobs(made.fixed, made.front.target)
            multipliers_at = tuple(jobs.multipliers(k) for k in range(1, LARGEST_INTERVAL + 1))
        errors = expected_errors(made).errors
        return cls(
            interval=max(own.interval(name) for name in own.functions),
            latency=max(latency_of(own, name) for name in own.functions),
            longest=max(longest_latency(own, name) for name in own.functions),
            multipliers=own.multipliers,
            features=accelerator_features(own),
            multipliers_at=multipliers_at,
            worst=brief(errors),
            error=float(f"{worst_share(errors):.3g}"),
            clock=next(iter(clocks_of(made)), None),
            energy=energy_of(made),
        )


@dataclass(frozen=True)
class RefusedPoint(Record):
    """A design that its part is too small for, or whose robot has nothing to fold, in a line."""

    why_not: str


def compiled(
    robot: str, choices: Choices, intervals: Intervals, place: Path
) -> list[CompiledPoint | RefusedPoint]:
    """A design at each of the intervals, compiled; some may be refused of accelerators, and where
    limbs or joints are to be time-multiplexed. Each is kept in ``place``."""
    each = [{**choices, "ii": ii} for ii in intervals]

    @cache
    def words() -> FixedFunctions:
        return FixedFunctions(front_end(robot, **each[0]))

    def compute(own: Choices) -> dict[str, Any]:
        design, _ = load(robot, **own)
        try:
            made = compile_front(replace(words().front, design=design), words=words())
        except RobotError as error:
            if not may_be_refused(design, own):
                raise
            return RefusedPoint(str(error)).to_json()
        return CompiledPoint.of(made).to_json()

    found = [cached_result(place, "point", all_of(robot, c), partial(compute, c)) for c in each]
    return [_point_of(own) for own in found]


def may_be_refused(design: Design, own: Choices) -> bool:
    """Whether a design with its ``own`` choices may be impossible at some intervals: as what it
    time-multiplexes, limbs, joints or an accelerator's stages, says."""
    return design.accelerator or own.get("fold", design.fold) in ("limbs", "joints")


def _point_of(kept: Any) -> CompiledPoint | RefusedPoint:
    return (RefusedPoint if "why_not" in kept else CompiledPoint).from_json(kept)


def compiled_before(
    robot: str, choices: Choices, intervals: Intervals, place: Path
) -> list[CompiledPoint | RefusedPoint] | None:
    """The same if all are kept in ``place``."""
    each = [{**choices, "ii": ii} for ii in intervals]
    found = [cached_result(place, "point", all_of(robot, own), None) for own in each]
    return None if None in found else [_point_of(own) for own in found]


def synthesised(robot: str, choices: Choices, place: Path) -> Mapping[str, int] | str:
    """Sites of a design as Yosys maps it, or why it does not. Kept in ``place``."""

    def compute() -> dict[str, int]:
        core = compile_front(front_end(robot, **choices))
        family = core.front.target.family
        cells = mapped(emit(core.accelerator, "core"), family, place, lambda _: None).cells
        return counted(family, cells)

    try:
        return dict(cached_result(place, "sites", _mapped_of(robot, choices), compute))
    except SynthesisError as error:  # not kept: it may be this machine's
        return str(error)


def synthesised_before(robot: str, choices: Choices, place: Path) -> Mapping[str, int] | None:
    """The same if it is kept in ``place``."""
    found: Mapping[str, int] | None = cached_result(
        place, "sites", _mapped_of(robot, choices), None
    )
    return found


def _mapped_of(robot: str, choices: Choices) -> str:
    """All that the sites depend on."""
    return f"{yosys_version()} {all_of(robot, choices)}"


def all_of(robot: str, choices: Choices) -> str:
    """All that a design's figures depend on."""
    design, _ = load(robot, **choices)
    return f"{compiler_digest()} {design_digest(design)}"


@dataclass(frozen=True)
class QuickPoint(Record):
    """A design by its quick schedule; ``checked``: its cells by the other one, of a few."""

    interval: int
    latency: int
    multipliers: int
    estimated: Mapping[str, int]
    clock: ClockEstimate | None = None
    energy: EnergyEstimate | None = None
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
    `LARGEST_INTERVAL` where none are given; ``check``: both ways at `TOGETHER_CHECKED` of them.
    Kept in ``place``."""
    compute = partial(_computed, robot, choices, intervals, check)
    found = cached_result(place, "quick", _input(robot, choices, intervals, check), compute)
    return QuickPoints.from_json(found)


def quick_before(
    robot: str, choices: Choices, intervals: Sequence[int], check: bool, place: Path
) -> QuickPoints | None:
    """The same if it is kept in ``place``."""
    found = cached_result(place, "quick", _input(robot, choices, intervals, check), None)
    return None if found is None else QuickPoints.from_json(found)


def _input(robot: str, choices: Choices, intervals: Sequence[int], check: bool) -> str:
    return f"{all_of(robot, choices)} {list(intervals)} {check}"


def _computed(
    robot: str, choices: Choices, intervals: Sequence[int], check: bool
) -> dict[str, Any]:
    started = process_time()
    front = front_end(robot, **choices)
    fixed = FixedFunctions(front).whole[1]
    target = front.target
    jobs = shared_jobs(fixed, target)
    tried = sorted(set(intervals)) or range(1, LARGEST_INTERVAL + 1)
    folded = [k for k in tried if k > 1 and jobs.multipliers(k) <= target.multipliers]

    def full(interval: int) -> Plan:
        return every(interval, front.design, fixed, jobs, target)

    def point(plan: Plan) -> QuickPoint:
        own = features(plan)
        cells, clock = estimated(target.family, own), slowest_clock(target, own)
        energy = plan_energy(target, own, plan.interval)
        return QuickPoint(plan.interval, plan.latency, plan.multipliers, cells, clock, energy)

    points = [point(full(1))] if 1 in tried else []
    points += [point(plan) for plan in quick_folds(fixed, target, folded, jobs)]
    seconds = process_time() - started
    both = folded[:: max(1, len(folded) // TOGETHER_CHECKED)][:TOGETHER_CHECKED] if check else []
    started = process_time()
    checked = {k: estimated(target.family, features(full(k))) for k in both}
    return QuickPoints(
        points=tuple(replace(own, checked=checked.get(own.interval)) for own in points),
        seconds=seconds,
        checking=process_time() - started,
    ).to_json()
