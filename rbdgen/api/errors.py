"""How far results are off, and what it is when they differ where they must not."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import NDArray

from ..design.arrays import given_coordinates
from ..design.design import Design
from ..dynamics.interface import as_outputs
from ..graph.accuracy import REPORTED, SCALES, Accuracy, worst_of
from ..graph.word import SURE
from ..robot.model import Robot
from ..system.messages import Refusal

STALL = 0.3  # probability, per cycle and side, in runs under back-pressure


class Mismatch(Refusal, RuntimeError):
    """The hardware differs from its specification, or from what was predicted of it."""


def portions(states: int) -> list[int]:
    """Numbers of states at each of the `REPORTED` scales: half of all at the limits."""
    others = len(REPORTED) - 1
    small = [(states // 2 + k) // others for k in range(others)]
    return [states - sum(small), *small]


def entries_of(
    arrays: Iterable[tuple[str, NDArray, NDArray]],
    names: Iterable[str],
    design: Design,
    robot: Robot,
) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
    """Output → values (N,), and the same of the golden model's, from ``arrays`` with their names,
    values and the golden model's; ``names``: of the outputs that they have entries for."""
    given, words, golden = given_coordinates(design, robot), {}, {}
    for name, values, reference in arrays:
        words[name], golden[name] = values, reference
    return as_outputs(words, names, given), as_outputs(golden, names, given)


def keep_promise(where: object, found: Accuracy, promised: float | None) -> None:
    """Mismatch where a coordinate is surely off by more than the error that the design was made
    for, as far as the states that were added tell."""
    if promised is None:
        return
    worst = worst_of(found.shares(-SURE))
    if worst.share > promised:
        scale = SCALES.index(worst.scale)
        raise Mismatch(
            f"{where}: error of {worst.row} {worst.scale.name} {found.error(worst.row, scale):.3g} "
            f"(RMS, {found.sums[worst.row][scale].states} states), "
            f"{promised * worst.scale.times:g} promised; a smaller --error makes up for it"
        )
