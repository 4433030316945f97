"""What to expect of words: the arrays that are far off, and what mends that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..design.arrays import given_coordinates
from ..design.choices import ROLLOUTS
from ..design.coordinates import CoordinateError, coordinate_errors, said, worst_at, worst_share
from ..dynamics.interface import to_columns
from ..graph.accuracy import Accuracy
from ..graph.evaluate import Array
from ..graph.fixed import Flags, evaluate_fixed
from ..graph.rows import REPORTED, SCALES
from ..graph.visits import Program, once
from ..passes.along import WHOLE, evaluate_along
from ..system.notes import changing
from ..tasks.in_visits import in_visits
from ..tasks.model import evaluate_task
from .core import Core
from .front import Front
from .samples import accuracy_of, sample_states
from .scheduled import Accelerated

MUCH = 1e-3  # of its own size at the limits: a coordinate that is off by more is in the note
TOO_MUCH = 1e-2  # one that is off by more makes the note one that changes results
STATES, SEED = 256, 23  # at each scale

Columns = dict[str, Array]


@dataclass(frozen=True)
class Expected:
    """What words leave: errors of each coordinate, and how many of the states overflow."""

    errors: tuple[CoordinateError, ...]
    overflows: int


def expected_errors(made: Core | Accelerated) -> Expected:
    """The integer model beside the float graph, in states at all scales; rollouts left out."""
    front, overflows = made.front, 0
    found: dict[str, Accuracy] = {}
    for scale, states in enumerate(REPORTED):
        columns, overflowed = _states(front, states.share), np.zeros(STATES, np.bool_)
        for function, task, words, flags in _tasks(made, columns):
            own = found.setdefault(function, accuracy_of(made.design, front.canonical))
            own.add(scale, words, evaluate_along(task, front.graph, columns))
            overflowed = overflowed | flags
        overflows += int(overflowed.sum())
    errors = [
        error
        for function, own in found.items()
        for error in coordinate_errors(made.design, front.canonical, own, function)
    ]
    return Expected(tuple(errors), overflows)


def note_of_errors(made: Core | Accelerated, expected: Expected) -> str:
    """A line about the arrays with a coordinate that words of the design's width leave further off
    than `MUCH` of its own size, or ten times that at a tenth of the limits, and the states that
    overflow; empty where there are none. Where an error was asked for, about all arrays. It is
    marked as a note that changes results where a coordinate is further off than `TOO_MUCH`, or a
    state overflows."""
    design = made.design
    least = MUCH if design.error is None else 0.0
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
        alone = ", where nothing takes turns" if _shares(made) else ""
        note = (
            f"width: {design.width} bits leave {told}; --error {MUCH:g}, in place of a width, "
            f"gives each word the bits that such an error takes{alone}"
        )
    large = expected.overflows or worst_share(expected.errors) > TOO_MUCH
    return changing(note) if large else note


def _off(errors: Sequence[CoordinateError], least: float) -> str:
    """Of an array's coordinates the one that is off most, at each scale where that is too much."""
    parts = []
    for scale in SCALES:
        worst = worst_at(errors, scale)
        if worst and worst.relative(scale) > least * scale.times:
            parts.append(said(worst, scale))
    return ", ".join(parts)


def _states(front: Front, share: float) -> Columns:
    """States as inputs of the front's graph, (N,) each; registers hold the design's own robot."""
    own = front.parameters.nominal if front.parameters else {}
    names = [name for name in front.graph.inputs if name not in own]
    state = sample_states(front.design, front.canonical, STATES, SEED, share=share)
    columns = to_columns(front.canonical, names, state)
    return columns | {name: np.full(STATES, value) for name, value in own.items()}


def _tasks(
    made: Core | Accelerated, columns: Mapping[str, Array]
) -> Iterator[tuple[str, Program, Columns, Flags]]:
    """A task's function, where it has one, what it computes, its results in words, and which states
    overflow; rollouts left out."""
    graph = made.front.graph
    if isinstance(made, Core):
        fixed = made.fixed
        inputs = {name: word.quantize(columns[name]) for name, word in fixed.inputs.items()}
        found = evaluate_fixed(fixed, inputs)
        nodes = fixed.graph.outputs
        words = {name: fixed.formats[nodes[name]].real(own) for name, own in found.outputs.items()}
        yield "", once(WHOLE, graph), words, _any(found.overflowed.values())
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
        yield function, task, words, flags


def _any(flags: Iterable[Flags]) -> Flags:
    return np.logical_or.reduce([np.zeros(STATES, np.bool_), *flags])


def _shares(made: Core | Accelerated) -> bool:
    """Whether in an accelerator something takes turns, to which no error can be promised."""
    if isinstance(made, Core):
        return False
    plans = [stage.plan for stage in made.accelerator.stages.values() if stage.plan]
    return any(plan.turns for plan in plans)
