"""Mixed precision: the operations computed in double in functions that are called in float."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..design.design import is_looped
from ..dynamics.interface import to_columns, unit_inputs
from ..graph.word import PARAMETER
from ..passes.mixed_precision import InDouble, in_double
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
    error from rounding ``inputs`` to float beforehand.
    """

    error: float
    in_double: int
    states: int
    reached: float
    alone: float
    inputs: float


def with_doubles(
    front: Front, say: Callable[[str], None] = lambda _: None
) -> tuple[Front, InDouble]:
    """Which nodes they are; the front with a note, said too, where there are some or float is not
    enough."""
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


def facts_of(front: Front, found: InDouble) -> FloatFacts:
    """The manifest's entry of the precision."""
    errors = (float(f"{error:.1e}") for error in (found.reached, found.alone, found.inputs))
    return FloatFacts(front.design.float_error, len(found.nodes), found.states, *errors)


def _notes(front: Front, found: InDouble) -> list[str]:
    asked, notes = front.design.float_error, []
    if found.nodes:
        operations = sum(1 for node in front.graph.nodes if node.args)
        notes.append(
            f"float: {len(found.nodes)} of {operations} operations are in double: float alone is "
            f"off by {found.alone:.1e} of an array's largest entry, with them results are by "
            f"{found.reached:.1e}, in {found.states} states of floats within the limits "
            f"(float_error: {asked:g})"
        )
    elif found.alone > asked:
        notes.append(
            f"float: loops compute in float alone, off by {found.alone:.1e} of an array's largest "
            f"entry in {found.states} states of floats, not {asked:g}"
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
