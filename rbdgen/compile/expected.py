"""Expected errors of words: the arrays that are far off, and the cure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..design.arrays import given_coordinates
from ..design.choices import ERROR
from ..design.coordinates import CoordinateError, said, worst_at, worst_share
from ..design.functions import ROLLOUTS
from ..graph.fixed import Flags
from ..graph.rows import REPORTED, SCALES
from ..graph.visits import Program
from ..system.notes import changing
from ..tasks.in_visits import in_visits
from ..tasks.model import evaluate_task
from .product import Product
from .word_errors import STATES, Columns, Expected, errors_in, errors_in_graph, too_inexact

TOO_MUCH = 1e-2  # a coordinate that is off by more makes the note one that changes results


def with_errors(made: Product) -> Product:
    """The design with its expected errors, and a note on large ones."""
    expected = expected_errors(made)
    note = note_of_errors(made, expected)
    notes = (*made.notes, note) if note else made.notes
    return replace(made, notes=notes, expected=expected.errors)


def expected_errors(made: Product) -> Expected:
    """The integer model beside the float graph, in states at all scales; rollouts left out."""
    if made.is_core:
        return errors_in_graph(made.front, made.fixed)
    return errors_in(made.front, partial(_results, made))


def too_inexact_beside(other: Product, made: Product) -> str:
    """The coordinate for which ``other`` is not to be chosen in place of ``made``, see
    `too_inexact`; empty where it may be."""
    turned, shared = (expected_errors(own).errors for own in (other, made))
    return too_inexact(turned, shared, made.design.error or ERROR)


def note_of_errors(made: Product, expected: Expected) -> str:
    """A line about the arrays with a coordinate that words of the design's width leave further off
    than `ERROR` of its own size, or ten times that at a tenth of the limits, and the states that
    overflow; empty where there are none. Where an error was asked for, about all arrays. It is
    marked as a note that changes results where a coordinate is further off than `TOO_MUCH`, or a
    state overflows."""
    design = made.design
    least = ERROR if design.error is None else 0.0
    arrays: dict[str, list[CoordinateError]] = {}
    for error in expected.errors:
        arrays.setdefault(error.array, []).append(error)
    off = [worst for own in arrays.values() if (worst := _off(own, least))]
    if expected.overflows:
        off.append(f"overflow in {expected.overflows} of {len(REPORTED) * STATES} states")
    if not off:
        return ""
    told = f"{'; '.join(off)} (RMS, of its own size there)"
    if design.error is not None:
        note = f"error: words for {design.error:g} leave {told}"
    else:
        alone = ", where nothing is time-multiplexed" if _shares(made) else ""
        note = (
            f"width: {design.width} bits leave {told}; --error {ERROR:g}, in place of a width, "
            f"gives each word the bits that such an error takes{alone}"
        )
    large = expected.overflows or worst_share(expected.errors) > TOO_MUCH
    return changing(note) if large else note


def _off(errors: Sequence[CoordinateError], least: float) -> str:
    """A line about an array's worst coordinate, at each scale where it is off by too much."""
    parts = []
    for scale in SCALES:
        worst = worst_at(errors, scale)
        if worst and worst.relative(scale) > least * scale.times:
            parts.append(said(worst, scale))
    return ", ".join(parts)


def _results(
    made: Product, columns: Columns
) -> Iterator[tuple[str | None, Program, Columns, Flags]]:
    """Results in words of each function but rollouts."""
    graph = made.front.graph
    accelerator, given = made.accelerator, given_coordinates(made.design, made.front.robot)
    for function in accelerator.functions:
        if function in ROLLOUTS:
            continue
        nothing = np.zeros(STATES)
        inputs = {
            name: word.quantize(columns.get(name, nothing))
            for name, word in accelerator.formats[function].items()
        }
        results, flags = evaluate_task(accelerator, function, inputs)
        formats = accelerator.result_formats[function]
        words = {name: formats[name].real(own) for name, own in results.items()}
        (task,) = in_visits(graph, [function], given)
        yield function, task, words, flags


def _shares(made: Product) -> bool:
    """Whether in an accelerator something is time-multiplexed, to which no error can be
    promised."""
    return not made.is_core and any(plan.turns for plan in made.plans)
