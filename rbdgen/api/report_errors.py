"""Errors of a design, coordinate by coordinate: how large, and at which speeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..compile.product import Product
from ..compile.samples import accuracy_of
from ..design.coordinates import CoordinateError, coordinate_errors
from ..draw.bars import heatmap
from ..graph.accuracy import REPORTED, SCALES, Accuracy, row_squares
from ..graph.word import first_of
from ..system.quoting import Progress
from .evaluation import to_words
from .integer_model import IntegerModel
from .simulation import entries_beside_golden, scaled_batches
from .stimulus import Traffic, inputs_of, scale_rows, scaled_states

EIGHTHS = 8  # of the states, by speed
PARTS = (50, 99, 100)  # percent of the states
STILL = ("M", "Minv")  # what no speed enters
Array = NDArray[np.float64]


@dataclass(frozen=True)
class ArrayErrors:
    """Errors of the coordinates of one array, ``name`` as ``tau of id``; pictures of them."""

    name: str
    coordinates: tuple[CoordinateError, ...]
    pictures: tuple[str, ...]


@dataclass
class _Found:
    """A function's errors, and of each coordinate and scale those of every state, in its unit;
    ``speeds``: q̇ of the states at the limits, batch by batch."""

    accuracy: Accuracy
    off: dict[str, list[list[Array]]] = field(default_factory=dict)
    speeds: list[Array] = field(default_factory=list)

    def add(
        self,
        scale: int,
        words: Mapping[str, Array],
        exact: Mapping[str, Array],
        state: Mapping[str, Array],
    ) -> None:
        """States (N,) of a scale: each output in words and of the golden model."""
        self.accuracy.add(scale, words, exact)
        off = {name: words[name] - exact[name] for name in exact}
        for row, squares in row_squares(off, self.accuracy.factors).items():
            self.off.setdefault(row, [[] for _ in REPORTED])[scale].append(np.sqrt(squares))
        if scale == 0:
            some = next(iter(exact.values()))
            self.speeds.append(np.abs(state["qd"]) if "qd" in state else np.zeros((len(some), 0)))

    def relative(self, row: str, scale: int) -> Array:
        """A coordinate's errors in the states of a scale, by what it is there (RMS)."""
        off = np.concatenate([np.zeros(0), *self.off[row][scale]])
        return off / (self.accuracy.size(row, scale) or 1.0)


def errors_of(product: Product, states: int, seed: int, progress: Progress) -> list[ArrayErrors]:
    """Errors of random states, half of them at the limits, the others at a tenth of them and at
    rest: the integer model beside the golden one; of an accelerator those of each function."""
    robot, errors = product.front.canonical, []
    for function, found in _functions(product, states, seed, progress):
        arrays: dict[str, list[CoordinateError]] = {}
        for own in coordinate_errors(product.design, robot, found.accuracy, function):
            arrays.setdefault(own.array, []).append(own)
        for array, coordinates in arrays.items():
            name = f"{array} of {function}" if function else array
            pictures = tuple(_pictures(name, coordinates, found))
            errors.append(ArrayErrors(name, tuple(coordinates), pictures))
    return errors


def _functions(
    product: Product, states: int, seed: int, progress: Progress
) -> Iterator[tuple[str | None, _Found]]:
    """Each function of an accelerator, or None of a core, and its errors."""
    if product.is_core:
        found = _Found(accuracy_of(product.design, product.front.canonical))
        integers = IntegerModel(product, progress)
        for scale, state in scaled_batches(product, states, seed):
            results, _ = integers(to_words(product, state))
            found.add(scale, *entries_beside_golden(product, state, results), state)
        yield None, found
    else:
        yield from _of_accelerator(product, states, seed)


def _of_accelerator(made: Product, states: int, seed: int) -> Iterator[tuple[str, _Found]]:
    state = scaled_states(made, states, seed)
    traffic = Traffic(made, inputs_of(made, state))
    for function in made.accelerator.functions:
        found = _Found(accuracy_of(made.design, made.front.canonical))
        words, exact = traffic.entries_beside_golden(function, state)
        for scale, rows in enumerate(scale_rows(states)):
            own = [{name: x[rows] for name, x in of.items()} for of in (words, exact, state)]
            found.add(scale, *own)
        yield function, found


def _pictures(name: str, coordinates: Sequence[CoordinateError], found: _Found) -> Iterator[str]:
    """How large the errors of an array's coordinates are and, where they may depend on it, at
    which speed."""
    yield _sizes(name, coordinates, found)
    speeds = np.concatenate(found.speeds)
    if speeds.any() and coordinates[0].array not in STILL:
        yield _by_speed(name, coordinates, found, speeds)


def _labels(coordinates: Sequence[CoordinateError]) -> list[str]:
    """``[6] wrist``."""
    return [f"{own.row.removeprefix(own.array)} {own.joint}".strip() for own in coordinates]


def _sizes(name: str, coordinates: Sequence[CoordinateError], found: _Found) -> str:
    """Below which errors of each coordinate half, 99 % and all of the states of a scale are."""
    table = []
    for error in coordinates:
        row: list[float] = []
        for k, scale in enumerate(REPORTED):
            own = found.relative(error.row, k)
            known = scale.name in error.scales and error.scales[scale.name].relative is not None
            row += np.percentile(own, PARTS).tolist() if known else [0.0] * len(PARTS)
        table.append(row)
    columns = [f"{scale.name.split()[-1]} {PARTS[0]} %" for scale in REPORTED]
    heads = [head for first in columns for head in (first, *(f"{x} %" for x in PARTS[1:]))]
    below = "errors below which half, 99 % and all of the states are, by the coordinate's own RMS"
    title = f"{name}: how large errors are"
    return heatmap(title, _labels(coordinates), heads, below, table, "{:.1e}", True)


def _by_speed(
    name: str, coordinates: Sequence[CoordinateError], found: _Found, speeds: Array
) -> str:
    """Each coordinate's RMS error in each eighth of the states at the limits, by the speed of its
    own joint or, where it is none's, of all."""
    table = []
    for error in coordinates:
        of = speeds[:, first_of(error.row).indices[0]] if error.joint else _rms(speeds)
        off, order = found.relative(error.row, 0), np.argsort(of, kind="stable")
        table.append([float(_rms(off[at])) for at in np.array_split(order, EIGHTHS)])
    columns = [f"{k + 1}/{EIGHTHS}" for k in range(EIGHTHS)]
    whose = "the joint's own |q̇|" if coordinates[0].joint else "the RMS of q̇"
    below = f"RMS errors {SCALES[0].name}, an eighth of the states each, slow to fast by {whose}"
    title = f"{name}: errors against speed"
    return heatmap(title, _labels(coordinates), columns, below, table, "{:.1e}", True)


def _rms(values: Array) -> Array:
    """The root mean square over the last axis."""
    return np.asarray(np.sqrt((values**2).mean(axis=-1)))
