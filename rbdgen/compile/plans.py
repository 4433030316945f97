"""The plan of a stage: a pipeline, a fold, chained operations, time-multiplexed joints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..design.design import Design, has_least_latency, is_looped
from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..robot.model import RobotError
from ..schedule.channels import Pipeline, plan
from ..schedule.fused_sums import with_fused_sums
from ..schedule.partition import Piece
from ..schedule.pipelined import schedule
from ..schedule.plan import Plan
from ..schedule.units import Jobs, bind, shared_jobs

if TYPE_CHECKING:
    from ..schedule.fold import Fold
    from ..schedule.round_plan import RoundPlan
    from ..words.instances import FixedProgram


def stage_plan(
    design: Design, piece: Piece, target: Target, interval: int | None = None, limbs: int = 1
) -> tuple[Plan, str]:
    """The plan of a stage at an interval; None: at the design's own.

    ``limbs``: so many are time-multiplexed. With a note of time-multiplexed joints; empty where
    there are none.
    """
    if piece.joints:
        assert piece.program is not None
        at = design if interval is None else replace(design, ii=interval, multipliers=None)
        return rounds(at, piece.program, target)
    if interval is None:
        return planned(design, piece.fixed, target), ""
    if limbs == 1:
        return every(interval, design, piece.fixed, shared_jobs(piece.fixed, target), target), ""
    from ..schedule.limbs import in_limbs

    assert piece.program is not None
    one = piece.program.template
    own = every(interval // limbs, design, one, shared_jobs(one, target), target)
    return in_limbs(own, piece.program), ""


def planned(design: Design, fixed: FixedGraph, target: Target) -> Pipeline | Fold:
    """The schedule that the design asks for; RobotError if the part is too small."""
    jobs = shared_jobs(fixed, target)
    if has_least_latency(design):
        return least_latency(design, fixed, jobs, target)
    if initiation_interval(design, jobs, target) == 1:
        fixed = with_fused_sums(fixed, bind(fixed, target), target)
    return every(initiation_interval(design, jobs, target), design, fixed, jobs, target)


def every(
    interval: int, design: Design, fixed: FixedGraph, jobs: Jobs, target: Target
) -> Pipeline | Fold:
    """A datapath that takes a task every ``interval`` cycles."""
    if interval == 1:
        return plan(schedule(fixed, bind(fixed, target), target))
    from ..schedule.modulo import fold

    exact = design.scheduler == "exact"
    return fold(fixed, target, interval, jobs, solver=exact, selected=True)


def rounds(design: Design, program: FixedProgram, target: Target) -> tuple[RoundPlan, str]:
    """Time-multiplexed joints at the interval that is asked for, or the smallest within the
    budget."""
    from ..schedule.candidates import Candidates
    from ..schedule.round_plan import GATHERING
    from ..schedule.rounds import in_rounds

    budget = design.multipliers or target.multipliers
    if design.ii is not None and design.ii <= GATHERING:
        raise RobotError(
            f"ii: {design.ii}: time-multiplexed joints take {1 + GATHERING} cycles and more"
        )
    ways = Candidates(program, target, apart=not is_looped(design))
    found = None if design.ii is None else ways.leanest(design.ii, budget)
    if found is None:
        try:
            found = ways.soonest(budget)
        except ValueError as error:
            raise RobotError(f"{target.part} or the budget has {budget}: {error}") from None
        if design.ii is not None:
            raise too_often(design.ii, ways.next(design.ii, budget), target, budget)
    plan = in_rounds(ways.program(found.rounds), target, found.rounds, found.cycles, budget)
    products = [graph.operations()["mul"] for graph in (plan.fixed.graph, program.whole.graph)]
    cycles = "one cycle" if found.cycles == 1 else f"{found.cycles} cycles"
    note = (
        f"joints are time-multiplexed: {len(program.real.reads)} visits to "
        f"{len(plan.datapaths.copies)} datapaths in {found.rounds} rounds of {cycles}; "
        f"{products[0]} products in place of {products[1]}"
    )
    if found.in_logic:
        note += f", {found.in_logic} of them in logic for want of multipliers"
    return plan, note


def least_latency(design: Design, fixed: FixedGraph, jobs: Jobs, target: Target) -> Pipeline | Fold:
    """The fewest cycles within the budget of multipliers; RobotError where it does not do."""
    from ..schedule.chained import ChainError, chain, quickest

    budget = design.multipliers or target.multipliers
    if design.clock is None:
        if design.ii is not None or design.multipliers is not None:
            least = least_interval(jobs, budget, target)
            if design.ii is not None and design.ii < least:
                raise too_often(design.ii, least, target, budget)
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
    if design.multipliers is not None:
        return least_interval(jobs, design.multipliers, target)
    interval = design.ii or 1
    # at one task a clock, products that find no multiplier are made of logic
    if interval > 1 and jobs.multipliers(interval) > target.multipliers:
        least = least_interval(jobs, target.multipliers, target)
        raise too_often(interval, least, target, target.multipliers)
    return interval


def least_interval(jobs: Jobs, budget: int, target: Target) -> int:
    """The smallest initiation interval within the budget; RobotError if there is none."""
    try:
        return jobs.least_interval(budget)
    except ValueError as error:
        raise RobotError(f"{target.part} or the budget has {budget}: {error}") from None


def too_often(interval: int, least: int, target: Target, budget: int) -> RobotError:
    """The error of an interval below the least."""
    return RobotError(
        f"ii: {interval} takes more than the {budget} hardware multipliers of {target.part} or the "
        f"budget; from {least} on it fits"
    )
