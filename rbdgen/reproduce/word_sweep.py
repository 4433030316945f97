"""Trajectory optimisation with gradients in words of 10 to 32 bits (Plancher et al. 2021, §V-A)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..compile.flow import front_end
from ..compile.words import sample_inputs
from ..draw.shares import Share, picture
from ..driver import Dynamics
from .ilqr import Array, Points, Robotics, Tasks, solve
from .trajectories import arm, legs
from .word_gradients import TARGET, OnePoint, PerSignal, Progress

MOST = 120  # iterations of float64, which look for the optimum
TRIED = 80  # of words
WITHIN = 1e-3  # of the optimum's cost: solved
REACHES, DRAWN = 16, 24
FUNCTIONS = ("difd", "dfd")
# Widths per signal, and of one point the bits before it, the sign among them, and behind it
Formats = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]
ALL: Formats = (
    (10, 12, 14, 16, 17, 18, 20, 24, 32),
    (
        *((8, 2), (8, 4), (10, 4), (12, 4), (12, 5), (12, 6), (12, 7), (12, 8)),
        *((10, 10), (12, 12), (16, 6), (16, 8), (16, 16)),
    ),
)
# (robot, function) → what is tried in minutes
FEW: Mapping[tuple[str, str], Formats] = {
    ("iiwa14", "difd"): ((10, 12, 14, 16, 17, 18, 20, 32), (*ALL[1][:8], (16, 16))),
    ("iiwa14", "dfd"): ((10, 12, 14, 16, 18), ((12, 4), (12, 6), (12, 8), (12, 12), (16, 16))),
    ("hyq", "difd"): ((10, 14, 18), ((8, 2), (8, 4), (12, 4), (12, 8), (16, 16))),
    ("hyq", "dfd"): ((10, 14, 18), ((8, 2), (8, 4), (12, 4), (12, 8), (16, 16))),
}
FAST_FORMATS: Formats = ((18, 22), ((16, 8),))
ALL_FAST: Formats = ((18, 20, 22, 24), ((12, 8), (16, 8), (16, 16)))


@dataclass(frozen=True)
class Limits:
    """Limits of the states for which words are made: rad/s, rad/s²."""

    velocity: float
    acceleration: float


ARM, FAST, LEGS = Limits(10.0, 800.0), Limits(60.0, 3500.0), Limits(12.0, 800.0)


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

    ``iterations``: by task, None where it was not solved; ``excess``: of the costs at the end over
    float64's optimum, the worst.
    """

    problem: str
    function: str
    words: str
    bits: int
    solved: int
    tasks: int
    iterations: tuple[int | None, ...]
    change: float | None
    excess: float
    clipped: int
    lost: int

    @property
    def median(self) -> float | None:
        own = [k for k in self.iterations if k is not None]
        return float(np.median(own)) if own else None


def sweep(full: bool, progress: Progress) -> tuple[list[Problem], list[Row]]:
    """All of it; with more widths if ``full``. NoCompiler, CompilerError."""
    usual, fast = _arms(progress)
    trots, _ = _problem("HyQ: trotting in place", "hyq", LEGS, legs, progress)
    rows: list[Row] = []
    for problem in (usual, trots):
        for function in FUNCTIONS:
            formats = ALL if full else FEW[problem.robot, function]
            rows += _rows(problem, function, *formats, progress)
    rows += _rows(fast, "difd", *(ALL_FAST if full else FAST_FORMATS), progress)
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
    return usual, replace(fast, title="iiwa 14: faster reaches", limits=FAST)


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


def _rows(
    problem: Problem,
    function: str,
    widths: Iterable[int],
    points: Iterable[tuple[int, int]],
    progress: Progress,
) -> list[Row]:
    front = front_end(problem.robot, functions=(function,), target=TARGET, **asdict(problem.limits))
    given = sample_inputs(front)
    rows = []
    for width in widths:
        progress(f"{problem.title}: {function}, {width} bits per signal")
        own = PerSignal(front, given, width, progress)
        rows.append(_row(problem, function, "per signal", width, own))
    for whole, fraction in points:
        words = f"Q{whole}.{fraction}"
        progress(f"{problem.title}: {function}, {words}")
        row = _row(problem, function, words, whole + fraction, OnePoint(front, whole, fraction))
        rows.append(row)
    return rows


def _row(
    problem: Problem, function: str, words: str, bits: int, gradient: PerSignal | OnePoint
) -> Row:
    targets = problem.best * (1 + WITHIN)
    found = solve(problem.tasks, problem.robotics, gradient, TRIED, targets)
    pairs = list(zip(found.costs, problem.best, strict=True))
    iterations = tuple(near(costs, best) for costs, best in pairs)
    changes = [k - f for k, f in zip(iterations, problem.iterations, strict=True) if k is not None]
    return Row(
        problem.title,
        function,
        words,
        bits,
        len(changes),
        len(iterations),
        iterations,
        float(np.median(changes)) if changes else None,
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
            row.bits,
            f"{row.solved}/{row.tasks}",
            _said(row.median, ""),
            _said(row.change, "+"),
            f"{100 * max(row.excess, 0.0):.2g} %",
            row.clipped,
            row.lost,
        ]
        for row in rows
    ]


HEAD = (
    *("function", "words", "bits", "solved", "iterations", "to float64", "worst excess"),
    *("clipped", "overflowed"),
)


def _said(value: float | None, sign: str) -> str:
    return "-" if value is None else f"{value:{sign}g}"


def drawn(rows: Sequence[Row]) -> str:
    """An SVG document: solved by width; of several points of a width, where most are solved."""
    best: dict[str, dict[int, Row]] = {}
    for row in rows:
        kind = row.words if row.words == "per signal" else "one point"
        own = best.setdefault(f"{row.problem}; {row.function}, {kind}", {})
        known = own.get(row.bits)
        if known is None or (row.solved, -row.excess) > (known.solved, -known.excess):
            own[row.bits] = row
    shares = {
        name: {
            bits: Share(r.solved, r.tasks, _said(r.median, ""), _hint(r)) for bits, r in x.items()
        }
        for name, x in best.items()
    }
    columns = sorted({bits for own in best.values() for bits in own})
    below = "bits of a word; solved of all tasks, median iterations to 0.1 % of float64's optimum"
    return picture("004: iLQR with gradients in words", shares, columns, below)


def _hint(row: Row) -> str:
    return f"{row.words}, worst excess {100 * max(row.excess, 0.0):.2g} %"


def smallest(rows: Iterable[Row]) -> Mapping[tuple[str, str, str], int | None]:
    """(problem, function, kind of words) → the least bits from which on all widths solve all."""
    kinds: dict[tuple[str, str, str], dict[int, bool]] = {}
    for row in rows:
        kind = row.words if row.words == "per signal" else "one point"
        own = kinds.setdefault((row.problem, row.function, kind), {})
        own[row.bits] = own.get(row.bits, False) or row.solved == row.tasks
    found: dict[tuple[str, str, str], int | None] = {}
    for key, own in kinds.items():
        found[key] = None
        for bits in sorted(own, reverse=True):
            if not own[bits]:
                break
            found[key] = bits
    return found
