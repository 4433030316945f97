"""Errors that words leave in results, which are too large to choose, and notes of what is off."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .. import golden
from ..design.arrays import given_coordinates, needs
from ..design.bounds import bounds, random_states
from ..design.choices import ERROR
from ..design.coordinates import CoordinateError, coordinate_errors, said, worst_at, worst_share
from ..design.design import Design
from ..design.functions import NEEDS, OBSERVING, ROLLOUTS
from ..dynamics.interface import to_columns
from ..graph.accuracy import REPORTED, SCALES, Accuracy, StateScale
from ..graph.fixed import FixedGraph, Flags, evaluate_fixed
from ..graph.visits import Program, once
from ..robot.model import Array, Robot
from ..system.quoting import changing
from ..words.program_ranges import WHOLE, evaluate_program
from .front import Front
from .product import Product
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
    from ..tasks.model import evaluate_task, in_visits

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


EFFORT_STATES, EFFORT_SEED, EXTREMES = 256, 29, 0.5
BITS = 3  # above an effort limit; robots whose limits are those of their motors have up to 2


def note_of_efforts(design: Design, robot: Robot) -> str:
    """A line where efforts within the limits are `BITS` above the file's limits of them; or empty.

    Words that hold such efforts are as much too coarse for those that the motors have. Each joint's
    largest of some states is compared, and the median joint counts. Nothing is said of a design
    whose efforts were limited, nor of a robot that cannot hold its own weight: those limits are
    none.
    """
    box = bounds(design, robot)
    limited = [i for i in robot.free if _has_limit(robot, i)]
    moved = [f for f in design.functions if f not in OBSERVING and "qd" in NEEDS[f]]
    if not limited or not moved or np.isfinite(box.effort).any():
        return ""
    joints = [robot.v_slices[i].start for i in limited]
    efforts = np.array([robot.joints[i].limits.effort for i in limited])
    state = random_states(robot, box, EFFORT_STATES, EFFORT_SEED, EXTREMES)
    still = np.zeros_like(state["qd"])
    qdd = state["qdd"] if {"qdd", "tau"}.intersection(needs(design)) else still

    def times(qd: Array, qdd: Array) -> Array:
        """Each joint's largest |τ| over its limit (joints,)."""
        tau = golden.rnea(robot, state["q"], qd, qdd)[:, joints]
        return np.asarray(np.abs(tau).max(axis=0) / efforts)

    most = 2.0**BITS
    reached = times(state["qd"], qdd)
    if np.median(reached) <= most or np.median(times(still, still)) > 1:
        return ""
    if np.median(times(still, qdd)) > most:
        option, fitting = "acceleration", box.qdd[joints] / reached
    else:
        option, fitting = "velocity", box.qd[joints] / np.sqrt(reached)
    middle = float(np.median(reached))
    return changing(
        f"at these limits tau reaches {middle:.2g} times the effort limits (median joint; "
        f"{math.log2(middle):.0f} bits of its word): lower them with --{option} "
        f"{np.median(fitting):.2g}, or to those of a recording with rbdgen fit"
    )


def _has_limit(robot: Robot, i: int) -> bool:
    joint = robot.joints[i]
    return joint.kind.nv == 1 and 0 < joint.limits.effort < math.inf
