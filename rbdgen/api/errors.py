"""How far results are off, and what it is when they differ where they must not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..design.arrays import given_coordinates
from ..design.design import Design
from ..design.runs import Errors
from ..dynamics.interface import as_outputs
from ..graph.accuracy import Accuracy
from ..graph.arrays import SURE
from ..graph.rows import REPORTED, SCALES, worst_of
from ..robot.model import Robot
from ..system.refusal import Refusal

NOISE = 2.0**-48  # of the largest entry of all arrays: a smaller array is float64's rounding
STALL = 0.3  # probability, per cycle and side, in runs under back-pressure


class Mismatch(Refusal, RuntimeError):
    """The hardware differs from its specification, or from what was predicted of it."""


@dataclass
class Error:
    """Sums for a relative RMS and a largest error against the golden model."""

    square: float = 0.0
    reference: float = 0.0
    largest: float = 0.0
    largest_reference: float = 0.0

    def add(self, values: NDArray, reference: NDArray) -> None:
        """Arrays (N, …) of N states more."""
        self.square += float(((values - reference) ** 2).sum())
        self.reference += float((reference**2).sum())
        self.largest = max(self.largest, float(np.abs(values - reference).max(initial=0.0)))
        self.largest_reference = max(
            self.largest_reference, float(np.abs(reference).max(initial=0.0))
        )

    def report(self) -> Errors:
        """The errors over all states and outputs that were added."""
        if not self.reference:
            return Errors(0.0, self.largest, 0.0)
        rms = float(np.sqrt(self.square / self.reference))
        return Errors(rms, self.largest, self.largest / self.largest_reference)


def without_noise(errors: Mapping[str, Error]) -> dict[str, Error]:
    """The errors of a function's arrays, each name's own, relative to what is more than rounding.

    An array that is zero in every state comes out of the golden model as rounding noise, to which
    no error can be compared: its reference becomes the zero that it is.
    """
    most = max((error.largest_reference for error in errors.values()), default=0.0)
    return {
        name: replace(error, reference=0.0) if error.largest_reference <= NOISE * most else error
        for name, error in errors.items()
    }


def portions(states: int) -> list[int]:
    """How many of them are at each of the `REPORTED` scales: half at the limits."""
    others = len(REPORTED) - 1
    small = [(states // 2 + k) // others for k in range(others)]
    return [states - sum(small), *small]


def add_arrays(
    found: Accuracy,
    scale: int,
    arrays: Iterable[tuple[str, NDArray, NDArray]],
    names: Iterable[str],
    design: Design,
    robot: Robot,
) -> None:
    """States at a scale: ``arrays`` with their names, values and the golden model's; ``names``: of
    the outputs that they have entries for."""
    given, words, golden = given_coordinates(design, robot), {}, {}
    for name, values, reference in arrays:
        words[name], golden[name] = values, reference
    found.add(scale, as_outputs(words, names, given), as_outputs(golden, names, given))


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
