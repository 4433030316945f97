"""The whole compiler, every stage in order.

URDF ─ load ─► Robot ─ canonical rewrites ─► trace ─► Graph ─ passes ─► FixedGraph
                                                      ─ schedule ─► Plan ─ rtl ─► Verilog
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .dynamics.interface import input_limits, random_inputs, to_columns
from .dynamics.trace import trace as trace_functions
from .graph.evaluate import evaluate
from .graph.fixed import FixedGraph, evaluate_fixed
from .graph.graph import Graph
from .graph.node import Node, Op
from .graph.verify import verify, verify_fixed
from .passes.balance import balance
from .passes.constant_multiply import constant_multiply, has_constants, tolerances
from .passes.factor import factor
from .passes.identities import identities
from .passes.phase import phase
from .passes.precision import affordable, fractions, gains
from .passes.ranges import Ranges, analyse
from .passes.reciprocals import reciprocals
from .passes.wordlength import input_formats, wordlength
from .robot.canonical import stages
from .robot.design import Design, bounds, load
from .robot.frames import align_axes
from .robot.model import Robot, RobotError
from .samples import refuse_singular, sample_states
from .schedule.binding import bind
from .schedule.channels import Plan, plan
from .schedule.pipelined import schedule
from .target import find_target

RANGE_SAMPLES = 40_000
RANGE_SEED = 1
GAIN_SAMPLES, ERROR_SAMPLES = 256, 2000  # states without extremes
IDENTITY_SAMPLES, IDENTITY_SEED = 4, 5
Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Front:
    """A robot and the graph of its functions, over real numbers."""

    design: Design
    robot: Robot  # as the file says
    canonical: Robot  # rewritten; same τ
    rewrites: tuple[tuple[str, dict[str, int]], ...]  # name, operations of the graph after it
    graph: Graph
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, eq=False)
class Core:
    """The functions in fixed point, scheduled: all that the hardware is made from."""

    front: Front
    ranges: Ranges
    fixed: FixedGraph
    plan: Plan


def front_end(path: str, **choices: Any) -> Front:
    """URDF or design file → traced graph. ``choices`` are fields of Design that win over it."""
    notes: list[str] = []
    design, robot = load(path, notes=notes, **choices)
    refuse_singular(design, robot)
    # Only axes on z can be traced: the first two counts are of the robot with its axes there.
    rewrites = [("as read", trace(design, align_axes(robot)).operations())]
    canonical = robot
    for name, canonical in stages(robot, design.snap, notes):
        counted = align_axes(canonical) if name == "merge_fixed" else canonical
        rewrites.append((name, trace(design, counted).operations()))
    graph = trace(design, canonical)
    anything = random_inputs(canonical, graph.inputs, IDENTITY_SAMPLES, IDENTITY_SEED)
    graph = verify(identities(graph, anything))
    rewrites.append(("identities", graph.operations()))
    graph = verify(factor(graph))
    rewrites.append(("factor", graph.operations()))
    return Front(design, robot, canonical, tuple(rewrites), graph, tuple(notes))


def trace(design: Design, canonical: Robot) -> Graph:
    """The design's functions of a canonical robot as one graph."""
    graph = trace_functions(
        canonical,
        design.functions,
        external_forces=[
            i for i in canonical.moving if canonical.joints[i].body in design.external_forces
        ],
        multiplications=design.rotation,
        sincos_inputs=design.angles == "sincos",
        formulation=design.formulation,
        factorisation=design.factorisation,
        # a base that is ignored has been left out when the robot was read
        root="given" if design.root == "given" else "free",
    )
    return verify(graph)


def compile_core(front: Front, progress: Progress = lambda _: None) -> Core:
    """Graph → fixed point → schedule; RobotError for a robot that leaves nothing to compute."""
    if not front.graph.outputs:
        raise RobotError(f"{front.robot.name}: no joint moves, so there is no hardware to make")
    design, box = front.design, bounds(front.design, front.canonical)
    target = find_target(design.target)
    state = sample_states(design, front.canonical, RANGE_SAMPLES, RANGE_SEED, extremes=0.5)
    samples = to_columns(front.canonical, front.graph.inputs, state)
    limits = input_limits(front.canonical, front.graph.inputs, box, samples)

    progress("ranges and word lengths")
    graph = verify(phase(front.graph))  # angles in turns
    graph = verify(reciprocals(graph))  # as mantissas and exponents
    ranges = analyse(graph, limits, samples)

    def lower(error: float | None) -> FixedGraph:
        """In words of the design's width, or of as many bits as the error asks for."""
        lowered, within = graph, ranges
        while has_constants(lowered):  # again where a negligible product left a constant factor
            slack = tolerances(lowered, within, design.width, choose(lowered, within, error))
            lowered = verify(constant_multiply(lowered, slack))  # shifts and additions
            within = analyse(lowered, limits, samples)
        lowered = verify(balance(lowered))  # sums in the order in which their terms arrive
        within = analyse(lowered, limits, samples)  # the new additions too
        bits = choose(lowered, within, error)
        formats = input_formats(lowered, limits, design.width, bits)
        return verify_fixed(wordlength(lowered, within, design.width, formats, bits))

    def choose(of: Graph, within: Ranges, error: float | None) -> dict[Node, int] | None:
        if error is None:
            return None
        gain = gains(of, {k: v[-GAIN_SAMPLES:] for k, v in samples.items()}, array_of(of))
        return fractions(of, within, gain, error, target.multiplier_width)

    if design.error is None:
        fixed = lower(None)
    else:
        few = {k: v[-ERROR_SAMPLES:] for k, v in samples.items()}
        fixed = affordable(design.error, lower, lambda f: relative_error(f, front.graph, few))
    if all(node.op is Op.CONST for node in fixed.graph.outputs.values()):
        functions = ", ".join(design.functions)
        raise RobotError(
            f"{front.robot.name}: {functions}: the same in every state, so there is no hardware "
            "to make"
        )

    progress("schedule")
    timetable = schedule(fixed, bind(fixed, target), target)
    return Core(front, ranges, fixed, plan(timetable))


def array_of(graph: Graph) -> dict[str, str]:
    """Output → the array that it is an entry of."""
    return {name: name.partition("[")[0] for name in graph.outputs}


def relative_error(fixed: FixedGraph, graph: Graph, inputs: dict[str, Any]) -> float:
    """Of the array that is off most: root mean square, against the float graph's."""
    words = {name: word.quantize(inputs[name]) for name, word in fixed.inputs.items()}
    found, exact = evaluate_fixed(fixed, words).outputs, evaluate(graph, inputs)
    sums: dict[str, list[float]] = {}
    for name, array in array_of(graph).items():
        value = fixed.formats[fixed.graph.outputs[name]].real(found[name])
        total = sums.setdefault(array, [0.0, 0.0])
        total[0] += float(((value - exact[name]) ** 2).sum())
        total[1] += float((exact[name] ** 2).sum())
    return max((math.sqrt(e / size) for e, size in sums.values() if size), default=0.0)
