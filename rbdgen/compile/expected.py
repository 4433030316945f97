"""Warnings of a design: errors, efforts, and what would cure them.

The cost and gain of a formulation relative to the one with the fewest products.

Efforts that motion within a design's limits takes, beside those that its joints have.

Expected errors of words: the arrays that are far off, and the cure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from .. import golden
from ..design.arrays import given_coordinates, needs
from ..design.bounds import bounds, random_states
from ..design.choices import ERROR
from ..design.coordinates import CoordinateError, said, worst_at, worst_share
from ..design.design import Design, choice_of, formulation_of
from ..design.functions import NEEDS, OF_FRAMES, OF_MASSES, ROLLOUTS
from ..design.nested import FORMULATED
from ..graph.accuracy import REPORTED, SCALES
from ..graph.fixed import Flags
from ..graph.visits import Program
from ..robot.model import Array, Robot
from ..system.messages import changing
from .front import Front, in_reals
from .product import Product
from .word_errors import STATES, Columns, Expected, errors_in, errors_in_graph, too_inexact

LEAST_HEIGHT = 4  # joints from the base to the last one, below which sums gain next to nothing


def advice(front: Front) -> str | None:
    """Products and cycles of a logarithmic design beside those of composites; None for others."""
    design = front.design
    if formulation_of(design) != "logarithmic" or choice_of(design, FORMULATED):
        return None
    from .estimate import cycles

    other = replace(
        design,
        formulation="composite",
        network="sklansky",
        products="plain",
        frame=None,
        inverse="computed",
    )
    numbers = front.parameters.numbers if front.parameters else None
    composite, _ = in_reals(other, front.canonical, numbers)
    height = front.canonical.depth
    rows = []
    for name, graph in (("logarithmic", front.graph), ("composite", composite)):
        count = graph.operations()
        rows.append(
            f"{name} {count['mul']} products + {count['mulc']} by constants, about "
            f"{cycles(graph)} cycles of arithmetic"
        )
    advised = (
        f"height {height}: little or nothing gained, --formulation composite takes less"
        if height < LEAST_HEIGHT
        else f"height {height}: worth its multipliers where latency counts"
    )
    return f"formulation: {'; '.join(rows)}; {advised}"


EFFORT_STATES, SEED, EXTREMES = 256, 29, 0.5
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
    moved = [f for f in design.functions if f not in (*OF_FRAMES, *OF_MASSES) and "qd" in NEEDS[f]]
    if not limited or not moved or np.isfinite(box.effort).any():
        return ""
    joints = [robot.v_slices[i].start for i in limited]
    efforts = np.array([robot.joints[i].limits.effort for i in limited])
    state = random_states(robot, box, EFFORT_STATES, SEED, EXTREMES)
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
