"""The whole compiler, every stage in order.

URDF ─ load ─► Robot ─ canonical rewrites ─► trace ─► Graph ─ passes ─► FixedGraph
                                                      ─ schedule ─► Plan ─ rtl ─► Verilog
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .dynamics.interface import SAMPLED, input_limits, random_inputs, to_columns
from .dynamics.trace import trace as trace_functions
from .graph.fixed import FixedGraph
from .graph.graph import Graph
from .graph.node import Op
from .graph.verify import verify
from .passes.factor import factor
from .passes.identities import identities
from .passes.phase import phase
from .passes.ranges import Ranges
from .passes.reciprocals import reciprocals
from .passes.words import Given, to_words, within_error
from .robot.canonical import stages
from .robot.design import Design, bounds, load
from .robot.frames import align_axes
from .robot.model import Robot, RobotError
from .samples import refuse_singular, sample_states
from .schedule.binding import bind
from .schedule.chained import ChainError, chain
from .schedule.channels import Plan, plan
from .schedule.fold import Fold
from .schedule.latency import quickest
from .schedule.modulo import fold
from .schedule.pipelined import schedule
from .schedule.units import Jobs, shared_jobs
from .target import Target, find_target

RANGE_SAMPLES = 40_000
RANGE_SEED = 1
ERROR_SAMPLES = 2000  # without extremes
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
    plan: Plan | Fold


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
    design, target = front.design, find_target(front.design.target)
    progress("ranges and word lengths")
    given = sample_inputs(front)
    graph = verify(phase(front.graph))  # angles in turns
    graph = verify(reciprocals(graph))  # as mantissas and exponents
    if design.error is None:
        ranges, fixed = to_words(graph, given, design.width)
    else:
        ranges, fixed = within_error(graph, given, design.error, target.multiplier_width)
    if all(node.op is Op.CONST for node in fixed.graph.outputs.values()):
        functions = ", ".join(design.functions)
        raise RobotError(
            f"{front.robot.name}: {functions}: the same in every state, so there is no hardware "
            "to make"
        )
    progress("schedule")
    return Core(front, ranges, fixed, scheduled(design, fixed, target))


def scheduled(design: Design, fixed: FixedGraph, target: Target) -> Plan | Fold:
    """The schedule that the design asks for; RobotError if the part is too small."""
    jobs = shared_jobs(fixed, target)
    if design.style == "latency":
        return least_latency(design, fixed, jobs, target)
    interval = initiation_interval(design, jobs, target)
    if interval > 1:
        return fold(
            fixed, target, interval, jobs, solver=design.scheduler == "exact", selected=True
        )
    return plan(schedule(fixed, bind(fixed, target), target))


def least_latency(design: Design, fixed: FixedGraph, jobs: Jobs, target: Target) -> Plan | Fold:
    """The fewest cycles within the budget of multipliers; RobotError where it does not do."""
    budget = design.multipliers or target.multipliers
    if design.clock is None:
        if design.ii is not None or design.multipliers is not None:
            least = least_interval(jobs, budget, target)
            if design.ii is not None and design.ii < least:
                raise too_often(design.ii, least, jobs, budget, target)
            return quickest(fixed, target, jobs, budget, design.ii)
        pipelined = plan(schedule(fixed, bind(fixed, target), target))
        try:
            found = quickest(fixed, target, jobs, budget, None)
        except ValueError:  # even one unit of each kind is more: products are made of logic
            return pipelined
        return found if found.latency <= pipelined.latency else pipelined
    if jobs.multipliers(1) > budget:
        raise RobotError(
            f"clock: {sum(map(len, jobs.of.values()))} products and units, each on its own, take "
            f"{jobs.multipliers(1)} hardware multipliers; {target.part} or the budget has {budget}"
        )
    try:
        return chain(fixed, target, design.clock, design.ii or 1, jobs)
    except ChainError as error:
        raise RobotError(f"clock: {error}") from None


def initiation_interval(design: Design, jobs: Jobs, target: Target) -> int:
    """Cycles from task to task that the design asks for; RobotError if the part is too small."""
    budget = design.multipliers or target.multipliers
    if design.multipliers is None:
        interval = design.ii or 1
        # at one task a clock, products that find no multiplier are made of logic
        if interval == 1 or jobs.multipliers(interval) <= budget:
            return interval
    least = least_interval(jobs, budget, target)
    if design.multipliers is not None:
        return least
    raise too_often(interval, least, jobs, budget, target)


def least_interval(jobs: Jobs, budget: int, target: Target) -> int:
    """The smallest initiation interval within the budget; RobotError if there is none."""
    try:
        return jobs.least_interval(budget)
    except ValueError as error:
        raise RobotError(f"{target.part} or the budget has {budget}: {error}") from None


def too_often(interval: int, least: int, jobs: Jobs, budget: int, target: Target) -> RobotError:
    """What is wrong with an interval below the least."""
    return RobotError(
        f"ii: {interval} takes {jobs.multipliers(interval)} hardware multipliers, {target.part} "
        f"or the budget has {budget}; from {least} on it fits"
    )


def sample_inputs(front: Front) -> Given:
    """Random states within the design's limits, as inputs of the graph."""
    robot, names = front.canonical, front.graph.inputs
    state = sample_states(front.design, robot, RANGE_SAMPLES, RANGE_SEED, extremes=0.5)
    samples = to_columns(robot, names, state)
    limits = input_limits(robot, names, bounds(front.design, robot), samples)
    few = {k: v[-ERROR_SAMPLES:] for k, v in samples.items()}
    related = frozenset(name for name in names if name.partition("[")[0] in SAMPLED)
    return Given(limits, samples, few, related)
