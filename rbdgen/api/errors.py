"""How far results are off, and what it is when they differ where they must not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STALL = 0.3  # probability, per cycle and side, in runs under back-pressure


class Mismatch(RuntimeError):
    """The hardware differs from its specification, or from what was predicted of it."""


@dataclass
class Error:
    """Sums for a relative RMS and a largest error against the golden model."""

    square: float = 0.0
    reference: float = 0.0
    largest: float = 0.0
    largest_reference: float = 0.0

    def add(self, values: NDArray, reference: NDArray) -> None:
        self.square += float(((values - reference) ** 2).sum())
        self.reference += float((reference**2).sum())
        self.largest = max(self.largest, float(np.abs(values - reference).max(initial=0.0)))
        self.largest_reference = max(
            self.largest_reference, float(np.abs(reference).max(initial=0.0))
        )

    def report(self) -> dict[str, float]:
        """Relative RMS over all states and outputs; largest, absolute and against the largest."""
        return {
            "relative_rms": float(np.sqrt(self.square / self.reference)) if self.reference else 0.0,
            "max_absolute": self.largest,
            "max_relative": self.largest / self.largest_reference if self.reference else 0.0,
        }
