"""What to expect of words: the arrays that are far off, and what mends that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ..design.arrays import given_coordinates
from ..design.choices import ROLLOUTS
from ..dynamics.interface import to_columns
from ..graph.arrays import FAR, relative_rms, squares
from ..graph.evaluate import Array
from ..graph.fixed import Flags, evaluate_fixed
from ..graph.visits import Program, once
from ..passes.along import WHOLE, evaluate_along
from ..system.notes import changing
from ..tasks.in_visits import in_visits
from ..tasks.model import evaluate_task
from .core import Core
from .front import Front
from .samples import sample_states
from .scheduled import Accelerated

MUCH = 1e-3  # relative RMS: an array that is off by more is in the note
TOO_MUCH = 1e-2  # one that is off by more makes the note one that changes results
STATES, SEED = 256, 23

Columns = dict[str, Array]


def note_of_errors(made: Core | Accelerated) -> str:
    """A line about the arrays that words of the design's width leave further off than `MUCH`, and
    the states that overflow; empty where there are none. Where an error was asked for, about all
    arrays. It is marked as a note that changes results where an array is further off than
    `TOO_MUCH`, or a state overflows."""
    design, front = made.design, made.front
    columns = _states(front)
    found, overflowed = dict[str, float](), np.zeros(STATES, np.bool_)
    for task, words, flags in _tasks(made, columns):
        for array, error in _errors(words, evaluate_along(task, front.graph, columns)).items():
            found[array] = max(error, found.get(array, 0.0))
        overflowed = overflowed | flags
    least = MUCH if design.error is None else 0.0
    off = [f"{array} off by {error:.1e}" for array, error in found.items() if error > least]
    if overflowed.any():
        off.append(f"overflow in {int(overflowed.sum())} of {STATES} states")
    if not off:
        return ""
    said = f"{', '.join(off)} (relative RMS in {STATES} states within the limits)"
    if design.error is not None:
        note = f"error: words for {design.error:g} leave {said}"
    else:
        alone = ", where nothing takes turns" if _shares(made) else ""
        note = (
            f"width: {design.width} bits leave {said}; --error {MUCH:g}, in place of a width, "
            f"gives each word the bits that such an error takes{alone}"
        )
    large = overflowed.any() or max(found.values()) > TOO_MUCH
    return changing(note) if large else note


def _states(front: Front) -> Columns:
    """States as inputs of the front's graph, (N,) each; registers hold the design's own robot."""
    own = front.parameters.nominal if front.parameters else {}
    names = [name for name in front.graph.inputs if name not in own]
    state = sample_states(front.design, front.canonical, STATES, SEED)
    columns = to_columns(front.canonical, names, state)
    return columns | {name: np.full(STATES, value) for name, value in own.items()}


def _tasks(
    made: Core | Accelerated, columns: Mapping[str, Array]
) -> Iterator[tuple[Program, Columns, Flags]]:
    """What a task computes, its results in words, and which states overflow; rollouts left out."""
    graph = made.front.graph
    if isinstance(made, Core):
        fixed = made.fixed
        inputs = {name: word.quantize(columns[name]) for name, word in fixed.inputs.items()}
        found = evaluate_fixed(fixed, inputs)
        nodes = fixed.graph.outputs
        words = {name: fixed.formats[nodes[name]].real(own) for name, own in found.outputs.items()}
        yield once(WHOLE, graph), words, _any(found.overflowed.values())
        return
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
        yield task, words, flags


def _errors(words: Columns, exact: Mapping[str, Array]) -> dict[str, float]:
    """Of each array, by root mean squares."""
    found = squares(words, exact)
    return {array: relative_rms(*sums) for array, sums in found.items() if array != FAR}


def _any(flags: Iterable[Flags]) -> Flags:
    return np.logical_or.reduce([np.zeros(STATES, np.bool_), *flags])


def _shares(made: Core | Accelerated) -> bool:
    """Whether in an accelerator something takes turns, to which no error can be promised."""
    if isinstance(made, Core):
        return False
    plans = [stage.plan for stage in made.accelerator.stages.values() if stage.plan]
    return any(plan.turns for plan in plans)
