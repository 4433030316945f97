"""Words for a graph over real numbers: the domain of inputs, ranges of signals, formats."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..design.arrays import given_coordinates
from ..design.bounds import State, bounds
from ..design.design import formulation_of, stays
from ..design.functions import OF_CONTACTS
from ..design.gains import gains_of
from ..dynamics.interface import (
    MARGIN,
    SAMPLED,
    input_limits,
    to_columns,
    unit_inputs,
)
from ..graph.accuracy import SCALES
from ..graph.evaluate import Array, evaluate
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.node import STILL
from ..graph.visits import Program
from ..graph.word import DEVIATION, PARAMETER, kind_of, not_registers
from ..robot.denavit_hartenberg import chained_frames
from ..robot.model import RobotError
from ..system.quoting import Progress
from ..words.ascent_schedule import joined
from ..words.input_domain import InputDomain, largest_inputs, within
from ..words.order import UNITS, run, to_words, within_error
from ..words.program_ranges import ToWords, read_by_visits
from ..words.ranges import NotPositive, Ranges
from .front import Front
from .samples import domain_of, factors, sample_states

if TYPE_CHECKING:
    from ..words.instances import FixedProgram

RANGE_SAMPLES = 10_000
RANGE_SEED = 1
EXTREMES = 0.5  # of the samples
UNIT_SAMPLES = 512  # with rates and forces at their limits, as the first ones are
ERROR_SAMPLES = 2500  # at each scale, without extremes
LIMB_SAMPLES, LIMB_SEED = 16, 7


def in_words(
    front: Front, graph: Graph, given: InputDomain, progress: Progress
) -> tuple[Ranges, FixedGraph]:
    """A graph over real numbers in fixed point, as the design says."""
    progress("ranges and word lengths")
    try:
        ranges, fixed = _in_words(front, run(UNITS, graph, None), given, progress)
    except NotPositive as error:
        held = [name for name in front.design.functions if name in OF_CONTACTS]
        if held and not front.design.contact_damping:
            raise NotPositive(
                f"{front.robot.name}: {held[0]}: in some states within the limits the held "
                "directions are dependent, and words have no room for what is infinite there; "
                "--contact-damping 0.01 bounds it, and --to cpp has no words"
            ) from None
        if front.parameters is None:
            raise
        raise NotPositive(
            f"{front.robot.name}: parameters: registers: of robots within the tolerance {error}; a "
            "smaller --tolerance, or --parameters constants"
        ) from None
    if front.parameters is not None:
        from ..passes.registers import with_registers

        fixed = with_registers(fixed, front.parameters.nominal)
    if all(node.op in STILL for node in fixed.graph.outputs.values()):
        raise _constant(front)
    return ranges, fixed


def _in_words(
    front: Front, graph: Graph, given: InputDomain, progress: Progress
) -> tuple[Ranges, FixedGraph]:
    design, target = front.design, front.target
    if design.proven != "none":
        given = replace(given, pivot_bounds=front.pivot_bounds)
    if design.error is None:
        return to_words(graph, given, design.width, None, progress, design.guard, design.proven)
    tasks = tasks_of(front, graph) if design.accelerator else ()
    return within_error(
        graph, given, design.error, target.multiplier_width, progress, design.proven, tasks
    )


def tasks_of(front: Front, graph: Graph | None = None) -> list[Program]:
    """An accelerator's functions as visits to ``graph``, in place of the front's."""
    from ..tasks.model import in_visits

    design = front.design
    return in_visits(graph or front.graph, design.functions, given_coordinates(design, front.robot))


def as_designed(front: Front, progress: Progress) -> ToWords:
    """The same for each template of a program."""
    return lambda graph, given: in_words(front, graph, given, progress)[1]


def program_in_words(
    front: Front, graph: Graph, given: InputDomain, width: int, progress: Progress
) -> FixedProgram:
    """The visits to joints that compute the outputs of ``graph``, in words of ``width`` bits.

    RobotError where all of these are the same in every state.
    """
    from ..words.program_words import fixed_program

    return fixed_program(program_of(front, graph, given, progress), graph, given, width)


def program_of(front: Front, graph: Graph, given: InputDomain, progress: Progress) -> Program:
    """The same over real numbers."""
    from ..dynamics.program import program as program_of_joints

    design, robot = front.design, chained_frames(front.canonical)
    program = program_of_joints(
        robot,
        graph,
        design.rotation,
        design.payload,
        states=joined({k: own[:UNIT_SAMPLES] for k, own in given.samples.items()}, given.extremes),
        formulation=formulation_of(design),
        step=design.step,
    )
    if not program.reads:
        raise _constant(front)
    progress("ranges and word lengths of time-multiplexed joints")
    return program


def _constant(front: Front) -> RobotError:
    functions = ", ".join(front.design.functions)
    return RobotError(
        f"{front.robot.name}: {functions}: the same in every state, so there is no hardware to make"
    )


def sample_inputs(front: Front) -> InputDomain:
    """Random states within the design's limits, as inputs of the graph."""
    robot, names, held = front.canonical, front.graph.inputs, front.parameters
    state = sampled(front, RANGE_SAMPLES, RANGE_SEED, EXTREMES)
    samples = to_columns(robot, names, state)
    domain, extremes = None, dict[str, Array]()
    if not front.roughly:
        domain = domain_of(front.design, robot, names, state, held)
        extremes = dict(largest_inputs(domain, samples))
    box = bounds(front.design, robot)
    seen, gains = joined(samples, extremes), gains_of(front.design, robot)
    limits = input_limits(robot, not_registers(names), box, seen, gains)
    limits |= held.limits if held else {}
    follows = (*SAMPLED, "qd") if stays(front.design) else SAMPLED
    related = frozenset(name for name in names if kind_of(name) in follows)
    inside, units = within(limits, extremes, related), unit_inputs(robot, names)
    if front.design.accelerator and np.isfinite(box.effort).any():
        # efforts are held within their limits by accelerations, of which some visits read none
        inside = joined(inside, read_by_visits(tasks_of(front), front.graph, samples))
    # Some of the samples, for which words of ranges that nobody searches have room, and the same
    # with less motion: at the same positions, at which reciprocals are as large.
    few = {name: values[-ERROR_SAMPLES:] for name, values in samples.items()}
    for scale in SCALES[1:]:
        small = sampled(front, RANGE_SAMPLES, RANGE_SEED, EXTREMES, scale.share)
        small = {name: values[-ERROR_SAMPLES:] for name, values in small.items()}
        few = dict(joined(few, to_columns(robot, names, small)))
    # what follows from others, as M⁻¹, has limits that other states have shown
    few = {name: np.clip(values, *limits[name]) for name, values in few.items()}
    multiplied = factors(front.design, robot)
    return InputDomain(
        limits, samples, few, related, inside, domain, units=units, factors=multiplied
    )


def sampled(front: Front, n: int, seed: int, extremes: float = 0.0, share: float = 1.0) -> State:
    """States at random; with registers those of several robots of the model, by turns."""
    design, held = front.design, front.parameters
    if held is None:
        return sample_states(design, front.canonical, n, seed, extremes, share)
    deviations, values = held.numbers.drawn
    parts = []
    for k, own in enumerate(values):
        robot, each = held.numbers.with_values(own), n // len(values)
        parts.append(sample_states(design, robot, each, [seed, k], extremes, share))
    # the first of all have rates and forces at their limits
    first = [int(extremes * len(part["q"])) for part in parts]
    order = [(part, slice(None, n)) for part, n in zip(parts, first, strict=True)]
    order += [(part, slice(n, None)) for part, n in zip(parts, first, strict=True)]
    state = {name: np.concatenate([part[name][rows] for part, rows in order]) for name in parts[0]}
    counts = [len(part["q"][rows]) for part, rows in order]
    whose = np.repeat(np.tile(np.arange(len(values)), 2), counts)
    registers = np.stack(list(held.columns(values[whose]).values()), axis=1)
    return state | {PARAMETER: registers, DEVIATION: deviations[whose]}


def with_extremes(front: Front, given: InputDomain, progress: Progress) -> InputDomain:
    """States in which the signals of the front's graph are largest, for graphs made of parts."""
    return replace(given, rounds=1).searched(front.graph, progress)[0]


def with_outputs(whole: Graph, given: InputDomain, names: Collection[str]) -> InputDomain:
    """The same with limits of these outputs, which others read: hardly more than in the samples."""
    graph = Graph(whole.inputs, {name: whole.outputs[name] for name in names})
    samples, few, extremes = (
        {**columns, **evaluate(graph, columns)} if columns else {}
        for columns in (given.samples, given.few, given.extremes)
    )
    states = joined(samples, extremes)
    largest = {name: (1 + MARGIN) * float(np.abs(states[name]).max()) for name in names}
    limits = {**given.limits, **{name: (-most, most) for name, most in largest.items()}}
    related = given.related.union(names)
    return InputDomain(limits, samples, few, related, extremes, factors=given.factors)
