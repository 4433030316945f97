"""The whole compiler, every stage in order.

URDF ─ load ─► Robot ─ canonical rewrites ─► trace ─► Graph ─ passes ─► FixedGraph
                                                      ─ schedule ─► Plan ─ rtl ─► Verilog
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from ..design.bounds import bounds
from ..design.design import Design, as_fitted, given_coordinates, is_left_open
from ..design.limits import unused_limits
from ..design.loading import load
from ..design.target import Target, find_target
from ..dynamics.interface import SAMPLED, input_limits, random_inputs, to_columns
from ..dynamics.steps import program as visits
from ..dynamics.trace import trace as trace_functions
from ..estimate.features import features
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.node import Op
from ..graph.verify import verify
from ..graph.word import kind_of
from ..passes.given import Given, joined, largest_inputs, within
from ..passes.instances import Instances, in_order, instantiate
from ..passes.limbs import LimbError, Limbs, constants, find_limbs, unread
from ..passes.order import EXACT, UNITS, run
from ..passes.ranges import Ranges
from ..passes.visit_words import Visited, visited
from ..passes.wordlength import input_formats
from ..passes.words import to_words, within_error
from ..robot.canonical import stages
from ..robot.chained_frames import chained_frames
from ..robot.frames import align_axes
from ..robot.model import Robot, RobotError
from ..schedule.limbs import LimbPlan
from ..schedule.plan import Plan
from ..tasks.routes import traced
from .fitting import Need, Search, need, too_large
from .plans import (
    alone,
    chooses_fold,
    planned,
    refuse_joints,
    rounds,
    turns,
    ways_to_share,
    why_turns,
)
from .samples import domain_of, refuse_singular, sample_states

RANGE_SAMPLES = 10_000
RANGE_SEED = 1
MATRICES = ("m", "minv", "did", "dfd", "difd")
MOST_PAIRS = 10_000  # a chain of 140 joints, whose gradients take minutes to trace
ERROR_SAMPLES = 5000  # without extremes
IDENTITY_SAMPLES, IDENTITY_SEED = 4, 5
LIMB_SAMPLES, LIMB_SEED = 16, 7
Progress = Callable[[str], None]
Rows = tuple[tuple[str, dict[str, int]], ...]  # a step's name, operations of the graph after it


@dataclass(frozen=True, eq=False)
class Front:
    """A robot and the graph of its functions, over real numbers."""

    design: Design
    target: Target  # the design's part
    robot: Robot  # as the file says
    canonical: Robot  # rewritten; same τ
    graph: Graph
    notes: tuple[str, ...] = field(default=())
    counts: Rows = field(default=())  # of the canonical robot's graph: traced, after each pass

    @cached_property
    def rewrites(self) -> Rows:
        """Operations of the graph after each rewrite and pass.

        A trace for each rewritten robot: it takes longer than the front end.
        """
        design, rows = self.design, []
        # Only axes on z can be traced: the first two counts are of the robot with its axes there.
        steps = [("as read", self.robot), *stages(self.robot, design.snap)]
        for name, robot in steps[:-1]:  # the last is the canonical robot
            counted = align_axes(robot) if name in ("as read", "merge_fixed") else robot
            rows.append((name, trace(design, counted).operations()))
        return (*rows, *self.counts)


@dataclass(frozen=True, eq=False)
class Core:
    """The functions in fixed point, scheduled: all that the hardware is made from.

    ``fixed`` is what the hardware computes, ``ranges`` those of the graph that ``plan`` schedules:
    of ``fixed``, or of one limb's where limbs take turns.
    """

    front: Front
    ranges: Ranges
    fixed: FixedGraph
    plan: Plan
    notes: tuple[str, ...] = field(default=())


def front_end(path: str, progress: Progress = lambda _: None, /, **choices: Any) -> Front:
    """URDF or design file → traced graph. ``choices`` are fields of Design that win over it."""
    notes: list[str] = []
    design, robot = load(path, notes=notes, **choices)
    refuse_large(design, robot)
    refuse_singular(design, robot)
    progress(f"trace: {robot.nv} coordinates")
    *_, (last, canonical) = stages(robot, design.snap, notes)
    graph = trace(design, canonical)
    counts = [(last, graph.operations())]
    progress("identities and common factors")
    anything = random_inputs(canonical, graph.inputs, IDENTITY_SAMPLES, IDENTITY_SEED)
    graph = run(EXACT, graph, anything, lambda name, g: counts.append((name, g.operations())))
    notes += unused_limits(design, robot)
    return Front(
        design, find_target(design.target), robot, canonical, graph, tuple(notes), tuple(counts)
    )


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
    """Graph → fixed point → schedule; RobotError for a robot that leaves nothing to compute.

    Where nobody says how often, the core is the fastest that fits the part, and the design of its
    front says what was chosen.
    """
    design = front.design
    refuse_accelerator(front)
    refuse_still(front)
    words = Words(front, progress)
    if not is_left_open(design):
        core = as_asked(front, words)
        note = too_large(need_of(core)) if design.fit else ""
        return replace(core, notes=(*core.notes, note)) if note else core
    if design.fitted:
        core = as_asked(replace(front, design=as_fitted(design)), words)
    else:
        design, core = fastest(front, words)
    assert design.fitted is not None
    notes = (*core.notes, design.fitted.note)
    return replace(core, front=replace(front, design=design), notes=notes)


def fixed_point(front: Front, progress: Progress = lambda _: None) -> FixedGraph:
    """Graph → fixed point, of the whole robot and without a schedule; errors as ``compile_core``'s.

    Every bit of it is that core's wherever each operation has the words of its own place: where
    limbs or joints take turns, the core's words are those that serve all of them.
    """
    refuse_accelerator(front)
    refuse_still(front)
    return Words(front, progress).whole[1]


def refuse_accelerator(front: Front) -> None:
    """RobotError for a design of several functions that are computed apart."""
    if front.design.accelerator:
        raise RobotError(
            f"{front.robot.name}: accelerator: only info, generate, simulate and synthesize have "
            "accelerators; leave it out, and all functions are computed for every task"
        )


def refuse_still(front: Front) -> None:
    """RobotError for a robot of which nothing moves that functions speak of."""
    if front.graph.outputs and front.robot.nv > given_coordinates(front.design, front.robot):
        return
    cure = ""
    if front.design.base == "fixed":
        cure = "; of a robot that flies, swims or drives the base does: --base floating"
    elif front.design.root != "free":
        cure = f"; its base does with --root free, not {front.design.root}"
    raise RobotError(f"{front.robot.name}: no joint moves, so there is no hardware to make{cure}")


def as_asked(front: Front, words: Words) -> Core:
    """The core that a design asks for; where it does not say, of a task every cycle."""
    if front.design.fold == "joints":
        return joints_in_turn(front, words)
    limbs = limbs_of(front, words)
    if limbs is not None and (core := in_turn(front, limbs, words)) is not None:
        return core
    ranges, fixed = words.whole
    words.progress("schedule")
    core = Core(front, ranges, fixed, planned(front.design, fixed, front.target))
    return leaner(core, words) if chooses_fold(front.design) else core


def fastest(front: Front, words: Words) -> tuple[Design, Core]:
    """The fastest core that fits the part, else the smallest; and the design that says so."""

    def make(design: Design, target: Target) -> tuple[Need, Core]:
        core = as_asked(replace(front, design=design, target=target), words)
        return need_of(core), core

    def limbs() -> tuple[int, FixedGraph] | None:
        try:
            return len(words.limbs.limbs), words.limb[1]
        except LimbError:
            return None

    def joints() -> Visited | None:
        try:
            refuse_joints(replace(front.design, ii=1), front.robot.name)
            return words.visits
        except RobotError:
            return None

    ways = partial(ways_to_share, whole=lambda: words.whole[1], limbs=limbs, joints=joints)
    return Search(alone, ways, make, words.progress).fastest(front.design, front.target)


def need_of(core: Core) -> Need:
    """What the core takes of its part."""
    target, plan = core.front.target, core.plan
    return need(target, plan.interval, plan.multipliers, features(plan), [plan.binding])


class Words:
    """The functions of a front in fixed point, made once however often they are scheduled."""

    def __init__(self, front: Front, progress: Progress = lambda _: None) -> None:
        self.front, self.progress = front, progress

    @cached_property
    def given(self) -> Given:
        """What the inputs may be."""
        return sample_inputs(self.front)

    @cached_property
    def whole(self) -> tuple[Ranges, FixedGraph]:
        """Of the whole robot."""
        return in_words(self.front, self.front.graph, self.given, self.progress)

    @cached_property
    def limbs(self) -> Limbs:
        """Limbs that are alike; LimbError where there are none."""
        front = self.front
        anything = random_inputs(front.canonical, front.graph.inputs, LIMB_SAMPLES, LIMB_SEED)
        return find_limbs(front.graph, anything)

    @cached_property
    def limb(self) -> tuple[Ranges, FixedGraph]:
        """Of one limb that stands for all."""
        limbs = self.limbs
        return in_words(self.front, limbs.template, limbs.given(self.given), self.progress)

    @cached_property
    def visits(self) -> Visited:
        """Of what joints compute; RobotError for those that compute something else."""
        front, design = self.front, self.front.design
        program = visits(chained_frames(front.canonical), front.graph, design.rotation)
        if not program.reads:
            raise _constant(front)
        self.progress("ranges and word lengths")
        given = with_extremes(front, self.given, self.progress)
        return visited(program, front.graph, given, design.width)


def leaner(core: Core, words: Words) -> Core:
    """The core, or one in which joints take turns where that takes much less logic."""
    try:
        other = joints_in_turn(core.front, words)
    except RobotError:
        return core
    note = why_turns(core.front.target, core.plan, other.plan)
    return replace(other, notes=(*other.notes, note)) if note else core


def in_turn(front: Front, limbs: Limbs, words: Words) -> Core | None:
    """One limb's datapath for all; None where the design does better without, or must."""
    ranges, fixed = words.limb
    words.progress("schedule")
    template, note = turns(front.design, fixed, len(limbs.limbs), front.graph, front.target)
    if template is None:
        return None
    instances = of_limbs(front, limbs, fixed, words.given)
    return Core(front, ranges, instances.whole, LimbPlan(template, instances), (note,))


def of_limbs(front: Front, limbs: Limbs, fixed: FixedGraph, given: Given) -> Instances:
    """The robot, of which one limb is ``fixed``."""
    spare = input_formats(unread(front.graph, limbs), given.limits, front.design.width)
    found = instantiate(fixed, limbs, spare, constants(front.graph, limbs))
    return in_order(found, front.graph)


def joints_in_turn(front: Front, words: Words) -> Core:
    """One datapath for each thing that joints compute, for all joints."""
    refuse_joints(front.design, front.robot.name)
    made = words.visits
    words.progress("schedule")
    plan, note = rounds(front.design, made, front.target)
    return Core(front, Ranges({}, frozenset()), made.whole, plan, (note,))


def in_words(
    front: Front, graph: Graph, given: Given, progress: Progress
) -> tuple[Ranges, FixedGraph]:
    """A graph over real numbers in fixed point, as the design says."""
    progress("ranges and word lengths")
    design, target = front.design, front.target
    graph = run(UNITS, graph, None)
    if design.error is None:
        ranges, fixed = to_words(graph, given, design.width, progress=progress)
    else:
        ranges, fixed = within_error(graph, given, design.error, target.multiplier_width, progress)
    if all(node.op is Op.CONST for node in fixed.graph.outputs.values()):
        raise _constant(front)
    return ranges, fixed


def _constant(front: Front) -> RobotError:
    functions = ", ".join(front.design.functions)
    return RobotError(
        f"{front.robot.name}: {functions}: the same in every state, so there is no hardware to make"
    )


def limbs_of(front: Front, words: Words | None = None) -> Limbs | None:
    """The robot's limbs where they may take turns; RobotError if they are to and cannot."""
    design = front.design
    if design.fold != "limbs" and not chooses_fold(design):
        return None
    try:
        return (words or Words(front)).limbs
    except LimbError as error:
        if design.fold == "auto":
            return None
        raise RobotError(f"{front.robot.name}: fold: limbs: {error}") from None


def sample_inputs(front: Front) -> Given:
    """Random states within the design's limits, as inputs of the graph."""
    robot, names = front.canonical, front.graph.inputs
    state = sample_states(front.design, robot, RANGE_SAMPLES, RANGE_SEED, extremes=0.5)
    samples = to_columns(robot, names, state)
    domain = domain_of(front.design, robot, names, state)
    extremes = largest_inputs(domain, samples)
    box = bounds(front.design, robot)
    limits = input_limits(robot, names, box, joined(samples, extremes))
    few = {k: v[-ERROR_SAMPLES:] for k, v in samples.items()}
    related = frozenset(name for name in names if kind_of(name) in SAMPLED)
    extremes = within(limits, extremes, related)
    return Given(limits, samples, few, related, extremes, domain)


def with_extremes(front: Front, given: Given, progress: Progress) -> Given:
    """States in which the signals of the front's graph are largest, for graphs made of parts."""
    return replace(given, rounds=1).searched(front.graph, progress)[0]
