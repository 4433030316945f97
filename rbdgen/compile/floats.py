"""Precision of programs in floating point: which operations are in double among floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..design.design import is_looped
from ..dynamics.interface import to_columns, unit_inputs
from ..graph.word import PARAMETER
from ..passes.mixed_precision import InDouble, in_double
from ..robot.model import RobotError
from ..system.records import Record
from .front import Front
from .samples import sample_states

SEED = 29
MOST, FEWEST = 4000, 1000  # states that are tried
VALUES = 20_000_000  # of all nodes in all states, or the fewest
EXTREMES = 0.5  # of the states have every coordinate at a limit: float is worst there more often


@dataclass(frozen=True)
class FloatFacts(Record):
    """The precision of functions in float, relative to an array's largest entry.

    The ``error`` asked for; the number of operations ``in_double``; the largest error in ``states``
    random states within the limits, whose entries are floats, and that of float ``alone``; the
    error from rounding ``inputs`` to float beforehand. None: not finite in some state.
    """

    error: float
    in_double: int
    states: int
    reached: float | None
    alone: float | None
    inputs: float | None


def with_doubles(
    front: Front, say: Callable[[str], None] = lambda _: None
) -> tuple[Front, InDouble]:
    """The front, and its nodes to compute in double so that errors stay within ``float_error``.

    Where there are some, or float is not enough, the front has a note of it, which is said too.
    """
    n = min(MOST, max(FEWEST, VALUES // max(1, len(front.graph.nodes))))
    state = sample_states(front.design, front.canonical, n, SEED, EXTREMES)
    if front.parameters:  # of as many robots of the model
        state[PARAMETER] = front.parameters.of_drawn(n)
    error = front.design.float_error
    samples = to_columns(front.canonical, front.graph.inputs, state)
    units = unit_inputs(front.canonical, front.graph.inputs)
    found = in_double(front.graph, samples, error, not is_looped(front.design), units)
    notes = _notes(front, found)
    for note in notes:
        say(f"note: {note}")
    return replace(front, notes=(*front.notes, *notes)), found


def in_floats(
    front: Front, say: Callable[[str], None] = lambda _: None
) -> tuple[Front, FloatFacts, float]:
    """Facts of functions all in float: the front with a note of it, said too, and the error.

    RobotError where the results of some sampled state are not finite.
    """
    alone = replace(front, design=replace(front.design, float_error=1.0))
    facts = facts_of(alone, with_doubles(alone)[1])
    if facts.alone is None:
        raise RobotError(
            f"{front.robot.name}: real: float: results are not finite in some of {facts.states} "
            "states within the limits; --to cpp computes in double where float is not enough"
        )
    note = (
        f"float: results are off by {facts.alone:.1e} of an array's largest entry, in "
        f"{facts.states} states of floats within the limits; nothing is in double"
    )
    say(f"note: {note}")
    return replace(front, notes=(*front.notes, note)), facts, facts.alone


def facts_of(front: Front, found: InDouble) -> FloatFacts:
    """The manifest's entry of the precision."""
    errors = (
        float(f"{error:.1e}") if math.isfinite(error) else None
        for error in (found.reached, found.alone, found.inputs)
    )
    return FloatFacts(front.design.float_error, len(found.nodes), found.states, *errors)


def _off(error: float) -> str:
    if math.isinf(error):
        return "infinitely far off"
    return f"off by {error:.1e} of an array's largest entry"


def _notes(front: Front, found: InDouble) -> list[str]:
    asked, notes = front.design.float_error, []
    if found.nodes:
        operations = sum(1 for node in front.graph.nodes if node.args)
        notes.append(
            f"float: {len(found.nodes)} of {operations} operations are in double: float alone is "
            f"{_off(found.alone)}, with them results are by "
            f"{found.reached:.1e}, in {found.states} states of floats within the limits "
            f"(float_error: {asked:g})"
        )
    elif found.alone > asked:
        notes.append(
            f"float: loops compute in float alone, {_off(found.alone)} "
            f"in {found.states} states of floats, not {asked:g}"
        )
    if found.inputs > asked:
        notes.append(
            f"float: where a state in double becomes floats, that alone moves results by up to "
            f"{found.inputs:.1e} of an array's largest entry; float_error ({asked:g}) is of states "
            "that are floats already"
        )
    if found.lengths > asked:
        notes.append(
            "float: a quaternion, or a cosine and sine, has length 1 up to rounding where it is of "
            "floats, and is taken as it is: one of length 1 in double gives results that differ by "
            f"up to {found.lengths:.1e} of an array's largest entry; float_error ({asked:g}) does "
            "not count that"
        )
    return notes
