"""Trajectory optimisation with gradients in words (Plancher et al. 2021, §V-A): words that keep an
error per coordinate, words of one width, and words with one binary point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rbdgen.compile.flow import front_end
from rbdgen.compile.words import sample_inputs
from rbdgen.system.quoting import Progress
from rbdgen_host.driver import Dynamics

from ..bench.ilqr import Array, Points, Robotics, Tasks, solve
from ..bench.trajectories import arm, legs
from .solved_share import Share, solved_share
from .word_choices import ONE_POINT, SIZE_HEAD, TARGET, Choice, Size, fewest_bits, size_cells
from .word_gradients import OnePoint, PerSignal

MOST = 120  # iterations of float64, which look for the optimum
TRIED = 80  # of words
WITHIN = 1e-3  # of the optimum's cost: solved
LATER = 2  # iterations more than float64's: in time
REACHES, DRAWN = 16, 24
FUNCTIONS = ("difd", "dfd")


@dataclass(frozen=True)
class Tried:
    """Errors per coordinate; widths; and of one point the bits before it, the sign among them, and
    behind it."""

    errors: tuple[float, ...]
    widths: tuple[int, ...]
    points: tuple[tuple[int, int], ...]


ALL = Tried(
    (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 7e-4, 5e-4, 3e-4, 2e-4, 1e-4, 3e-5),
    (10, 12, 14, 16, 17, 18, 20, 24, 32),
    (
        *((8, 2), (8, 4), (10, 4), (12, 4), (12, 5), (12, 6), (12, 7), (12, 8)),
        *((10, 10), (12, 12), (16, 6), (16, 8), (16, 16)),
    ),
)
# Robot → what is tried in minutes
FEW = {
    "iiwa14": Tried(
        (1e-2, 3e-3, 1e-3, 5e-4, 3e-4, 2e-4, 1e-4),
        (14, 16, 17, 18, 20, 24),
        ((12, 5), (12, 6), (12, 8), (12, 12), (16, 16)),
    ),
    "hyq": Tried((1e-1, 1e-2, 1e-3), (10, 18), ((8, 4), (12, 8))),
}
FAST = Tried((1e-3, 1e-4, 3e-5), (18, 22), ((16, 8),))
ALL_FAST = Tried(ALL.errors, (18, 20, 22, 24), ((12, 8), (16, 8), (16, 16)))


@dataclass(frozen=True)
class Limits:
    """Limits of the states for which words are made: rad/s, rad/s²."""

    velocity: float
    acceleration: float


ARM, HURRIED, LEGS = Limits(10.0, 800.0), Limits(60.0, 3500.0), Limits(12.0, 800.0)


@dataclass(frozen=True)
class Problem:
    """Tasks of a robot; their optimum by float64, and after how many iterations it comes near."""

    title: str
    robot: str
    limits: Limits
    tasks: Tasks
    robotics: Robotics
    best: Array
    iterations: tuple[int, ...]
    note: str = ""

    def of(self, own: Sequence[int], note: str) -> Problem:
        """Some of its tasks."""
        few = np.array(own)
        return replace(
            self,
            tasks=self.tasks.of(few),
            best=self.best[few],
            iterations=tuple(self.iterations[k] for k in own),
            note=note,
        )


@dataclass(frozen=True)
class Row:
    """The result of one kind of words.

    ``iterations``: by task, None where it was not solved; ``more``: than float64's, of the tasks
    that were solved; ``excess``: of the costs at the end over float64's optimum, the worst.
    """

    problem: str
    function: str
    kind: str
    words: str
    size: Size
    iterations: tuple[int | None, ...]
    more: tuple[int, ...]
    excess: float
    clipped: int
    lost: int

    @property
    def tasks(self) -> int:
        return len(self.iterations)

    @property
    def in_time(self) -> int:
        """The number of tasks that were solved, and hardly later than by float64."""
        return sum(own <= LATER for own in self.more)

    @property
    def median(self) -> float | None:
        own = [k for k in self.iterations if k is not None]
        return float(np.median(own)) if own else None


def sweep(full: bool, progress: Progress) -> tuple[list[Problem], list[Row]]:
    """All of it; with more words if ``full``. NoCompiler, CompilerError."""
    usual, fast = _arms(progress)
    trots, _ = _problem("HyQ: trotting in place", "hyq", LEGS, legs, progress)
    rows: list[Row] = []
    for problem in (usual, trots):
        for function in FUNCTIONS:
            rows += _rows(problem, function, ALL if full else FEW[problem.robot], progress)
    rows += _rows(fast, "difd", ALL_FAST if full else FAST, progress)
    return [usual, trots, fast], rows


def near(costs: Sequence[float], best: float) -> int | None:
    """The number of iterations until the cost is within 0.1 % of the best; None if it never is."""
    return next((k for k, cost in enumerate(costs) if cost <= best * (1 + WITHIN)), None)


def _arms(progress: Progress) -> tuple[Problem, Problem]:
    """The figure eight and the first reaches whose float64 iterates stay within the limits of the
    words; and the reaches that were drawn before those were together, with limits of their own."""
    title = "iiwa 14: figure eight, reaches"
    whole, largest = _problem(title, "iiwa14", ARM, lambda own: arm(own, range(DRAWN)), progress)
    slow = [v <= ARM.velocity and a <= ARM.acceleration for v, a in largest]
    kept = [0, *(k for k in range(1, len(slow)) if slow[k])][: REACHES + 1]
    others = [k for k in range(1, kept[-1]) if k not in kept]
    seeds = ", ".join(whole.tasks.names[k].removeprefix("reach ") for k in others)
    usual = whole.of(
        kept,
        f"Left out: reaches {seeds}, in which float64 itself goes beyond these limits on its way.",
    )
    fast = whole.of(others, "The reaches that were left out above.")
    return usual, replace(fast, title="iiwa 14: faster reaches", limits=HURRIED)


def _problem(
    title: str, robot: str, limits: Limits, make: Callable[[Any], Tasks], progress: Progress
) -> tuple[Problem, Array]:
    """And the largest |q̇|, |q̈| of each task on float64's way (tasks, 2)."""
    progress(f"{title}: float64")
    tasks = make(front_end(robot, functions=("id",)).robot)
    dynamics = Dynamics(robot, "cpp", functions=("fd", "minv", "dfd"), accelerator=False)

    def exact(at: Points) -> tuple[Array, Array]:
        dq, dqd, _ = dynamics.computeABADerivatives(at.q, at.qd, at.tau)
        return dq, dqd

    robotics = Robotics(dynamics.aba, dynamics.computeMinverse)
    found = solve(tasks, robotics, exact, MOST)
    best = np.array([min(costs) for costs in found.costs])
    after = [near(costs, own) for costs, own in zip(found.costs, best, strict=True)]
    iterations = tuple(k for k in after if k is not None)
    return Problem(title, robot, limits, tasks, robotics, best, iterations), found.largest


def _rows(problem: Problem, function: str, tried: Tried, progress: Progress) -> Iterator[Row]:
    front = front_end(problem.robot, functions=(function,), target=TARGET, **asdict(problem.limits))
    given = sample_inputs(front)
    choices = [Choice(error=error) for error in tried.errors]
    for choice in (*choices, *(Choice(width=width) for width in tried.widths)):
        progress(f"{problem.title}: {function}, {choice} per signal")
        own = PerSignal(front, given, choice, progress)
        yield _row(problem, function, choice.kind, str(choice), own)
    for whole, fraction in tried.points:
        words = f"Q{whole}.{fraction}"
        progress(f"{problem.title}: {function}, {words}")
        yield _row(problem, function, ONE_POINT, words, OnePoint(front, whole, fraction))


def _row(
    problem: Problem, function: str, kind: str, words: str, gradient: PerSignal | OnePoint
) -> Row:
    targets = problem.best * (1 + WITHIN)
    found = solve(problem.tasks, problem.robotics, gradient, TRIED, targets)
    pairs = list(zip(found.costs, problem.best, strict=True))
    iterations = tuple(near(costs, best) for costs, best in pairs)
    more = zip(iterations, problem.iterations, strict=True)
    return Row(
        problem.title,
        function,
        kind,
        words,
        gradient.size,
        iterations,
        tuple(k - f for k, f in more if k is not None),
        max(float(costs[-1] / best - 1) for costs, best in pairs),
        gradient.counts.clipped,
        gradient.counts.overflowed,
    )


def cells(rows: Iterable[Row]) -> list[list[Any]]:
    """A table's, under `HEAD`."""
    return [
        [
            row.function,
            row.words,
            *size_cells(row.size),
            f"{len(row.more)}/{row.tasks}",
            f"{row.in_time}/{row.tasks}",
            "-" if row.median is None else f"{row.median:g}",
            f"{min(row.more):+d} to {max(row.more):+d}" if row.more else "-",
            f"{100 * max(row.excess, 0.0):.2g} %",
            row.clipped,
            row.lost,
        ]
        for row in rows
    ]


HEAD = (
    *("function", "words", *SIZE_HEAD, "solved", "in time", "iterations", "to float64"),
    *("worst excess", "clipped", "overflowed"),
)


def drawn(rows: Sequence[Row]) -> str:
    """An SVG document: solved in time by mean bits; of several with as many, where most are."""
    best: dict[str, dict[int, Row]] = {}
    for row in rows:
        own = best.setdefault(f"{row.problem}; {row.function}, {row.kind}", {})
        known = own.get(bits := round(row.size.bits))
        if known is None or (row.in_time, -row.excess) > (known.in_time, -known.excess):
            own[bits] = row
    shares = {
        name: {bits: Share(r.in_time, r.tasks, r.words, _hint(r)) for bits, r in x.items()}
        for name, x in best.items()
    }
    columns = sorted({bits for own in best.values() for bits in own})
    below = (
        f"bits of a word in the mean; solved of all tasks, at most {LATER} iterations after float64"
    )
    return solved_share("004: iLQR with gradients in words", shares, columns, below)


def _hint(row: Row) -> str:
    median = "" if row.median is None else f", median of iterations {row.median:g}"
    return f"{row.words}{median}, worst excess {100 * max(row.excess, 0.0):.2g} %"


def enough(rows: Iterable[Row]) -> Mapping[tuple[str, str], Mapping[str, Row | None]]:
    """(problem, function) → kind of words → those with the fewest bits in the mean from which on
    all that were tried solve all tasks, at most `LATER` iterations after float64."""
    kinds: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        kinds.setdefault((row.problem, row.function), {}).setdefault(row.kind, []).append(row)
    return {
        whose: {
            kind: fewest_bits(((row.size.bits, row) for row in own), lambda r: r.in_time == r.tasks)
            for kind, own in tried.items()
        }
        for whose, tried in kinds.items()
    }
