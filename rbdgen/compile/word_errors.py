"""Errors that words leave in results, of each coordinate; and when they are too large to choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..design.coordinates import CoordinateError, coordinate_errors, said
from ..dynamics.interface import to_columns
from ..graph.accuracy import REPORTED, SCALES, Accuracy, StateScale
from ..graph.evaluate import Array
from ..graph.fixed import FixedGraph, Flags, evaluate_fixed
from ..graph.visits import Program, once
from ..words.program_ranges import WHOLE, evaluate_program
from .front import Front
from .samples import accuracy_of, sample_states

TWICE, TENFOLD = 2.0, 10.0  # an error beside that of another way to make the same
STATES, SEED = 256, 23  # at each scale

Columns = dict[str, Array]
# Of states (N,) of the front's inputs: a function, where it has one, what it computes, its results
# in words, and which states overflow.
Results = Callable[[Columns], Iterator[tuple[str | None, Program, Columns, Flags]]]


@dataclass(frozen=True)
class Expected:
    """Errors of each coordinate that words leave, and how many of the states overflow."""

    errors: tuple[CoordinateError, ...]
    overflows: int


def errors_in(front: Front, results: Results, states: int = STATES) -> Expected:
    """Results in words beside the float graph's, in so many states at each scale."""
    overflows, found = 0, dict[str | None, Accuracy]()
    for k, scale in enumerate(REPORTED):
        columns, overflowed = _drawn(front, states, scale.share), np.zeros(states, np.bool_)
        for function, task, words, flags in results(columns):
            own = found.setdefault(function, accuracy_of(front.design, front.canonical))
            own.add(k, words, evaluate_program(task, front.graph, columns))
            overflowed = overflowed | flags
        overflows += int(overflowed.sum())
    errors = [
        error
        for function, own in found.items()
        for error in coordinate_errors(front.design, front.canonical, own, function)
    ]
    return Expected(tuple(errors), overflows)


def errors_in_graph(front: Front, fixed: FixedGraph, states: int = STATES) -> Expected:
    """The same of a graph in words that gives all results."""

    def results(columns: Columns) -> Iterator[tuple[str | None, Program, Columns, Flags]]:
        inputs = {name: word.quantize(columns[name]) for name, word in fixed.inputs.items()}
        found = evaluate_fixed(fixed, inputs)
        nodes = fixed.graph.outputs
        words = {name: fixed.formats[nodes[name]].real(own) for name, own in found.outputs.items()}
        flags = np.zeros(states, np.bool_)
        for own in found.overflowed.values():
            flags = flags | own
        yield None, once(WHOLE, front.graph), words, flags

    return errors_in(front, results, states)


def too_inexact(
    errors: Sequence[CoordinateError], others: Sequence[CoordinateError], promised: float
) -> str:
    """The worst coordinate of a design that is not to be chosen by itself; empty of one that may.

    It may not where a coordinate is off by more than is promised, and by more than `TWICE` what it
    is in the other design (``others``: empty where there is none); nor where the worst one is off
    by more than `TENFOLD` the other's worst.
    """
    beside = {own.name: own for own in others}

    def share(error: CoordinateError | None, scale: StateScale) -> float:
        return error.relative(scale) / scale.times if error else 0.0

    def largest(found: Sequence[CoordinateError]) -> tuple[float, str]:
        shares = ((share(own, scale), said(own, scale)) for own in found for scale in SCALES)
        return max(shares, default=(0.0, ""))

    worst, text = largest(errors)
    missed = any(
        share(own, scale) > max(promised, TWICE * share(beside.get(own.name), scale))
        for own in errors
        for scale in SCALES
    )
    tenfold = bool(others) and worst > TENFOLD * largest(others)[0]
    return text if missed or tenfold else ""


def _drawn(front: Front, states: int, share: float) -> Columns:
    """States as inputs of the front's graph, (N,) each; registers hold the design's own robot."""
    own = front.parameters.nominal if front.parameters else {}
    names = [name for name in front.graph.inputs if name not in own]
    state = sample_states(front.design, front.canonical, states, SEED, share=share)
    columns = to_columns(front.canonical, names, state)
    return columns | {name: np.full(states, value) for name, value in own.items()}
