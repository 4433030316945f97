"""How far results are off, and what it is when they differ where they must not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..graph.arrays import SURE
from ..simulate.report import Errors
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
    states: int = 0
    fourth: float = 0.0  # of the states' sums of squares, the squares

    def add(self, values: NDArray, reference: NDArray) -> None:
        """Arrays (N, …) of N states more."""
        of_states = ((values - reference) ** 2).reshape(len(values), -1).sum(axis=1)
        self.square += float(of_states.sum())
        self.fourth += float((of_states**2).sum())
        self.states += len(values)
        self.reference += float((reference**2).sum())
        self.largest = max(self.largest, float(np.abs(values - reference).max(initial=0.0)))
        self.largest_reference = max(
            self.largest_reference, float(np.abs(reference).max(initial=0.0))
        )

    def surely(self) -> float:
        """Relative RMS that it has in all states, as far as those that were added tell."""
        if not self.reference:
            return 0.0
        variance = max(self.fourth - self.square**2 / self.states, 0.0)
        return math.sqrt(max(self.square - SURE * math.sqrt(variance), 0.0) / self.reference)

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


def keep_promise(where: object, errors: Mapping[str, Error], promised: float | None) -> None:
    """Mismatch where an array is off by more than the error that the design was made for."""
    for name, error in errors.items():
        if promised is not None and error.surely() > promised:
            rms = error.report().relative_rms
            raise Mismatch(
                f"{where}: error of {name} {rms:.3g} (RMS, {error.states} states), "
                f"{promised:g} promised; a smaller --error makes up for it"
            )
