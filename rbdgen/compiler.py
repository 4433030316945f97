"""The whole compiler, every stage in order.

URDF ─ load ─► Robot ─ canonical rewrites ─► trace ─► Graph ─ passes ─► FixedGraph
                                                      ─ schedule ─► AnyPlan ─ rtl ─► Verilog
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from .accelerator.routes import traced
from .dynamics.interface import SAMPLED, input_limits, random_inputs, to_columns
from .dynamics.steps import program as visits
from .dynamics.trace import trace as trace_functions
from .graph.fixed import FixedGraph
from .graph.graph import Graph
from .graph.node import Op
from .graph.verify import verify
from .passes.factor import factor
from .passes.identities import identities
from .passes.instances import Instances, in_order, instantiate
from .passes.limbs import LimbError, Limbs, constants, find_limbs, unread
from .passes.phase import phase
from .passes.ranges import Ranges
from .passes.reciprocals import reciprocals
from .passes.visit_words import visited
from .passes.wordlength import input_formats
from .passes.words import Given, to_words, within_error
from .plans import chooses_fold, planned, refuse_joints, rounds, turns, why_turns
from .robot.bounds import bounds
from .robot.canonical import stages
from .robot.chained_frames import chained_frames
from .robot.design import Design
from .robot.frames import align_axes
from .robot.limits import unused_limits
from .robot.loading import load
from .robot.model import Robot, RobotError
from .samples import refuse_singular, sample_states
from .schedule.any_plan import AnyPlan
from .schedule.limbs import LimbPlan
from .target import find_target

RANGE_SAMPLES = 40_000
RANGE_SEED = 1
MATRICES = ("m", "minv", "did", "dfd", "difd")
MOST_PAIRS = 10_000  # a chain of 140 joints, whose gradients take minutes to trace
ERROR_SAMPLES = 2000  # without extremes
IDENTITY_SAMPLES, IDENTITY_SEED = 4, 5
LIMB_SAMPLES, LIMB_SEED = 16, 7
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
    """The functions in fixed point, scheduled: all that the hardware is made from.

    ``fixed`` is what the hardware computes, ``ranges`` those of the graph that ``plan`` schedules:
    of ``fixed``, or of one limb's where limbs take turns.
    """

    front: Front
    ranges: Ranges
    fixed: FixedGraph
    plan: AnyPlan
    notes: tuple[str, ...] = field(default=())


def front_end(path: str, progress: Progress = lambda _: None, /, **choices: Any) -> Front:
    """URDF or design file → traced graph. ``choices`` are fields of Design that win over it."""
    notes: list[str] = []
    design, robot = load(path, notes=notes, **choices)
    refuse_large(design, robot)
    refuse_singular(design, robot)
    # Only axes on z can be traced: the first two counts are of the robot with its axes there.
    progress(f"trace: {robot.nv} coordinates")
    rewrites = [("as read", trace(design, align_axes(robot)).operations())]
    canonical = robot
    for name, canonical in stages(robot, design.snap, notes):
        counted = align_axes(canonical) if name == "merge_fixed" else canonical
        progress(f"trace: {name}")
        rewrites.append((name, trace(design, counted).operations()))
    graph = trace(design, canonical)
    progress("identities and common factors")
    anything = random_inputs(canonical, graph.inputs, IDENTITY_SAMPLES, IDENTITY_SEED)
    graph = verify(identities(graph, anything))
    rewrites.append(("identities", graph.operations()))
    graph = verify(factor(graph))
    rewrites.append(("factor", graph.operations()))
    notes += unused_limits(design, robot)
    return Front(design, robot, canonical, tuple(rewrites), graph, tuple(notes))


def refuse_large(design: Design, robot: Robot) -> None:
    """Matrices that would take hours, by the pairs of coordinates of which one moves the other."""
    above: dict[int, int] = {-1: 0}
    pairs = 0
    for i, joint in enumerate(robot.joints):
        above[i] = above[joint.parent] + joint.kind.nv
        pairs += joint.kind.nv * above[i]
    matrices = [f for f in design.functions if f in MATRICES]
    if matrices and pairs > MOST_PAIRS:
        raise RobotError(
            f"{robot.name}: {matrices[0]}: {pairs} entries of a matrix, of {MOST_PAIRS} at most; "
            "for robots of this size there are id and fd"
        )


def trace(design: Design, canonical: Robot) -> Graph:
    """The design's functions of a canonical robot as one graph."""
    graph = trace_functions(
        canonical,
        traced(design.functions) if design.accelerator else design.functions,
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
    if front.design.accelerator:
        raise RobotError(
            f"{front.robot.name}: accelerator: only info, generate, simulate and synthesize have "
            "accelerators; leave it out, and all functions are computed for every task"
        )
    if not front.graph.outputs:
        raise RobotError(f"{front.robot.name}: no joint moves, so there is no hardware to make")
    given = sample_inputs(front)
    if front.design.fold == "joints":
        return joints_in_turn(front, given, progress)
    limbs = limbs_of(front)
    if limbs is not None and (core := in_turn(front, limbs, given, progress)) is not None:
        return core
    ranges, fixed = in_words(front, front.graph, given, progress)
    progress("schedule")
    core = Core(front, ranges, fixed, planned(front.design, fixed))
    return leaner(core, given, progress) if chooses_fold(front.design) else core


def leaner(core: Core, given: Given, progress: Progress) -> Core:
    """The core, or one in which joints take turns where that takes much less logic."""
    try:
        other = joints_in_turn(core.front, given, progress)
    except RobotError:
        return core
    note = why_turns(core.front.design, core.plan, other.plan)
    return replace(other, notes=(*other.notes, note)) if note else core


def in_turn(front: Front, limbs: Limbs, given: Given, progress: Progress) -> Core | None:
    """One limb's datapath for all; None where the design does better without, or must."""
    ranges, fixed = in_words(front, limbs.template, limbs.given(given), progress)
    progress("schedule")
    template, note = turns(front.design, fixed, len(limbs.limbs), front.graph)
    if template is None:
        return None
    instances = of_limbs(front, limbs, fixed, given)
    return Core(front, ranges, instances.whole, LimbPlan(template, instances), (note,))


def of_limbs(front: Front, limbs: Limbs, fixed: FixedGraph, given: Given) -> Instances:
    """The robot, of which one limb is ``fixed``."""
    spare = input_formats(unread(front.graph, limbs), given.limits, front.design.width)
    found = instantiate(fixed, limbs, spare, constants(front.graph, limbs))
    return in_order(found, front.graph)


def joints_in_turn(front: Front, given: Given, progress: Progress) -> Core:
    """One datapath for each thing that joints compute, for all joints."""
    refuse_joints(front.design, front.robot.name)
    program = visits(chained_frames(front.canonical), front.graph, front.design.rotation)
    if not program.reads:
        raise _constant(front)
    progress("ranges and word lengths")
    words = visited(program, front.graph, given, front.design.width)
    progress("schedule")
    plan, note = rounds(front.design, words)
    return Core(front, Ranges({}, frozenset()), words.whole, plan, (note,))


def in_words(
    front: Front, graph: Graph, given: Given, progress: Progress
) -> tuple[Ranges, FixedGraph]:
    """A graph over real numbers in fixed point, as the design says."""
    progress("ranges and word lengths")
    design, target = front.design, find_target(front.design.target)
    graph = verify(phase(graph))  # angles in turns
    graph = verify(reciprocals(graph))  # as mantissas and exponents
    if design.error is None:
        ranges, fixed = to_words(graph, given, design.width)
    else:
        ranges, fixed = within_error(graph, given, design.error, target.multiplier_width)
    if all(node.op is Op.CONST for node in fixed.graph.outputs.values()):
        raise _constant(front)
    return ranges, fixed


def _constant(front: Front) -> RobotError:
    functions = ", ".join(front.design.functions)
    return RobotError(
        f"{front.robot.name}: {functions}: the same in every state, so there is no hardware to make"
    )


def limbs_of(front: Front) -> Limbs | None:
    """The robot's limbs where they may take turns; RobotError if they are to and cannot."""
    design = front.design
    if design.fold != "limbs" and not chooses_fold(design):
        return None
    anything = random_inputs(front.canonical, front.graph.inputs, LIMB_SAMPLES, LIMB_SEED)
    try:
        return find_limbs(front.graph, anything)
    except LimbError as error:
        if design.fold == "auto":
            return None
        raise RobotError(f"{front.robot.name}: fold: limbs: {error}") from None


def sample_inputs(front: Front) -> Given:
    """Random states within the design's limits, as inputs of the graph."""
    robot, names = front.canonical, front.graph.inputs
    state = sample_states(front.design, robot, RANGE_SAMPLES, RANGE_SEED, extremes=0.5)
    samples = to_columns(robot, names, state)
    limits = input_limits(robot, names, bounds(front.design, robot), samples)
    few = {k: v[-ERROR_SAMPLES:] for k, v in samples.items()}
    related = frozenset(name for name in names if name.partition("[")[0] in SAMPLED)
    return Given(limits, samples, few, related)
