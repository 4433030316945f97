"""Errors of a core by its integer model alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rbdgen.api.evaluation import to_words
from rbdgen.api.integer_model import IntegerModel
from rbdgen.api.simulation import entries_beside_golden, scaled_batches
from rbdgen.compile.product import Product
from rbdgen.compile.samples import accuracy_of
from rbdgen.design.coordinates import CoordinateError, coordinate_errors, worst_at
from rbdgen.graph.accuracy import SCALES
from rbdgen.system.records import Record


@dataclass(frozen=True)
class IntegerRun(Record):
    """A run of the integer model alone."""

    states: int
    latency: int
    overflows: int
    coordinates: tuple[CoordinateError, ...]


def integer_errors(core: Product, states: int, seed: int = 0) -> IntegerRun:
    """The integer model alone, on random states, half of them at the limits, and small ones."""
    accuracy = accuracy_of(core.design, core.front.canonical)
    overflows = 0
    integers = IntegerModel(core)
    for scale, state in scaled_batches(core, states, seed):
        results, flags = integers(to_words(core, state))
        accuracy.add(scale, *entries_beside_golden(core, state, results))
        overflows += int(flags.any(axis=1).sum())
    errors = coordinate_errors(core.design, core.front.canonical, accuracy)
    return IntegerRun(states, core.plan.latency, overflows, tuple(errors))


def worst_of_scales(errors: Iterable[CoordinateError]) -> tuple[CoordinateError, ...]:
    """The coordinates with the largest relative error at one of the `SCALES`."""
    known = list(errors)
    found = [own for scale in SCALES if (own := worst_at(known, scale))]
    return tuple({own.name: own for own in found}.values())
