"""Errors by coordinate, as tests bound them: array by array, that of its worst coordinate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from rbdgen.api.stimulus import Traffic
from rbdgen.compile.samples import accuracy_of
from rbdgen.design.coordinates import CoordinateError
from rbdgen.graph.accuracy import SCALES
from rbdgen.graph.word import array_named


def worst_of(coordinates: Iterable[CoordinateError]) -> dict[str, float]:
    """Array → the largest relative RMS error of its coordinates, at the limits."""
    worst: dict[str, float] = {}
    for own in coordinates:
        worst[own.array] = max(worst.get(own.array, 0.0), own.relative(SCALES[0]))
    return worst


def worst_in(
    traffic: Traffic, function: str, state: Mapping[str, NDArray[np.float64]]
) -> dict[str, float]:
    """The same of a function in states that all are at the limits."""
    made = traffic.made
    found = accuracy_of(made.design, made.front.canonical)
    found.add(0, *traffic.entries_beside_golden(function, state))
    worst: dict[str, float] = {}
    for row in found.sums:
        array = array_named(row)
        worst[array] = max(worst.get(array, 0.0), found.error(row, 0))
    return worst
