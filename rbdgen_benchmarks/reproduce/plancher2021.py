"""Plancher et al., Accelerating Robot Dynamics Gradients on a CPU, GPU, and FPGA (2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rbdgen.draw.tables import table
from rbdgen.system.quoting import Progress

from ..bench.codesign import codesign
from .report import Reproduction
from .word_sweep import HEAD, LATER, Problem, Row, cells, drawn, enough, sweep

PAPER = """\
The paper (§V-A): a trajectory optimisation of the iiwa with the gradient alone in fixed point is
solved with many types; it takes Q16.16, and 12 bits before and 5 behind the point would do. Its
task, cost and horizon are not in the text."""
ABOUT = f"""\
iLQR: 64 knots in a second, semi-implicit Euler; roll-outs, costs and M⁻¹ in float64, the gradient
in words: "error E", of as many bits each as keep an error of E of each output coordinate's own
size, matrices by rows, at the limits, and 10 E at a tenth of them; "N bits", of one width; "Qa.b",
with one binary point. "error": of the coordinate that is off most, over what is allowed at its
scale. "bits": of sums and products, in the mean; "multipliers": of an ECP5, with a task in each
cycle. Solved: within 0.1 % of float64's optimum after 80 iterations at most; "in time": at
most {LATER} iterations after float64. "iterations": the median; "to float64": how many more, of
the tasks that were solved. "clipped": inputs beyond the limits of the words, in all iterations.
"overflowed": states with a word that was too short; of one point, operations that saturated, once
for each iteration and however many states."""


def plancher(full: bool, place: Path, progress: Progress) -> Reproduction:
    """Figures 1, 2 and 3: what ``rbdgen bench codesign`` measures, prints and draws; the sweep of
    words, of more of them if ``full``."""
    found = codesign(place, progress)
    problems, rows = sweep(full, progress)
    text = "\n\n".join(
        [
            PAPER,
            ABOUT,
            *(_table(problem, rows) for problem in problems),
            _enough(rows),
            "Measured: this CPU's times, cycles of our RTL at the paper's clock, links by their "
            "models, as listed first; iterations by the integer model, of which the Verilog has "
            "every bit (10 bits: the model's alone), one point by numbers rounded and saturated. "
            "The paper's: its text, the three lines of figures. What differs: its CPU and link "
            "are others, its FPGA ran, ours is scheduled and not placed; no GPU is timed; our "
            "tasks are our own, and our formulation is composite, not its recursion. HyQ's trunk "
            "is held and its feet touch nothing: there are no contacts here.",
        ]
    )
    numbers = {
        **found,
        "words": [asdict(row) for row in rows],
        "float64": {
            problem.title: dict(zip(problem.tasks.names, problem.iterations, strict=True))
            for problem in problems
        },
    }
    return Reproduction(text, numbers, {"004-words.svg": drawn(rows)})


def _table(problem: Problem, rows: Sequence[Row]) -> str:
    own = [row for row in rows if row.problem == problem.title]
    limits = f"{problem.limits.velocity:g} rad/s, {problem.limits.acceleration:g} rad/s²"
    tasks = ", ".join(
        f"{name} {k}" for name, k in zip(problem.tasks.names, problem.iterations, strict=True)
    )
    return (
        f"{problem.title}; words for {limits}\nfloat64's iterations: {tasks}\n\n"
        + table(HEAD, cells(own))
        + (f"\n\n{problem.note}" if problem.note else "")
    )


def _enough(rows: Sequence[Row]) -> str:
    lines = [
        f"With which words all tasks are solved, at most {LATER} iterations after float64, as with "
        "all that were tried of more bits:"
    ]
    for (problem, function), found in enough(rows).items():
        said = "; ".join(f"{kind}: {_said(row)}" for kind, row in found.items())
        lines.append(f"{problem}, {function}: {said}")
    return "\n".join(lines)


def _said(row: Row | None) -> str:
    if row is None:
        return "none that was tried"
    return row.words if row.size.multipliers is None else f"{row.words}, {row.size}"
