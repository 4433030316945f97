"""Which datapath a design asks for: a pipeline, a fold, chained operations, or time-multiplexed
limbs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..design.choices import LARGEST_INTERVAL, LARGEST_OF_JOINTS, LATHROP
from ..design.design import Design, formulation_of, has_least_latency, has_registers, is_looped
from ..design.effects import refuse_design
from ..design.functions import SOLVING
from ..design.rules import JOINTS
from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..robot.model import RobotError
from ..schedule.channels import Pipeline, plan
from ..schedule.features import operations
from ..schedule.pipelined import schedule
from ..schedule.units import Jobs, bind, shared_jobs
from .fitting import ResourceEstimate, SharingChoice, need

if TYPE_CHECKING:
    from ..schedule.fold import Fold
    from ..schedule.round_plan import RoundPlan
    from ..words.instances import FixedProgram


def planned(design: Design, fixed: FixedGraph, target: Target) -> Pipeline | Fold:
    """The schedule that the design asks for; RobotError if the part is too small."""
    jobs = shared_jobs(fixed, target)
    if has_least_latency(design):
        return least_latency(design, fixed, jobs, target)
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


def turns(
    design: Design, fixed: FixedGraph, limbs: int, whole: Graph, target: Target
) -> tuple[Pipeline | Fold | None, str]:
    """One limb's plan, for all to be time-multiplexed in, and why; None where that is not the way.

    A limb's datapath needs no multiplexers between limbs, so it is taken whenever it gives the
    interval that is asked for, or fits the budget at least as often as sharing units would.
    """
    jobs = shared_jobs(fixed, target)
    asked = design.fold == "limbs"
    budget = design.multipliers or target.multipliers
    if design.multipliers is not None:
        interval = least_interval(jobs, budget, target)
    elif design.ii is None:
        interval = 1
    elif design.ii % limbs:
        if asked:
            raise RobotError(
                f"ii: {design.ii} is no multiple of the {limbs} limbs that are time-multiplexed"
            )
        return None, ""
    else:
        interval = design.ii // limbs
    if interval > 1 and jobs.multipliers(interval) > budget:
        least = least_interval(jobs, budget, target)
        raise too_often(interval * limbs, least * limbs, target, budget)
    if not asked and interval * limbs > _shared(design, whole):
        return None, ""
    found = every(interval, design, fixed, jobs, target)
    one, all_of = fixed.graph.operations(), whole.operations()
    note = (
        f"{limbs} limbs that are alike are time-multiplexed in the datapath of one: {one['mul']} "
        f"of {all_of['mul']} products, {one['add']} additions where sharing multipliers alone "
        f"would keep about {limbs * one['add']}, and no multiplexers between limbs"
    )
    return found, note


def _shared(design: Design, whole: Graph) -> float:
    """The approximate interval at which shared products fit the multipliers asked for, if any."""
    if design.multipliers is None:
        return math.inf
    return -(-whole.operations()["mul"] // design.multipliers)


SAVED = 0.3  # of the LUTs: for less, time-multiplexed joints are not worth their cycles


def alone(design: Design) -> Design:
    """The design whose operations share nothing; of least latency, the one of all multipliers."""
    return design if has_least_latency(design) else replace(design, ii=1, fold="none")


def ways_to_share(
    design: Design,
    target: Target,
    whole: Callable[[], FixedGraph],
    limbs: Callable[[], tuple[int, FixedGraph] | None],
    joints: Callable[[], FixedProgram | None],
    least: Callable[[Target], ResourceEstimate],
    inexact: Callable[[], str],
) -> list[SharingChoice]:
    """How the design could do with less, and at which intervals its part has the multipliers.

    ``whole``: the robot; ``limbs``: how many are alike, and one of them; ``joints``: what they
    compute; ``least``: what sharing products alone takes at any interval; ``inexact``: what joints
    leave, where that is too much to choose them. Time-multiplexed limbs are the smallest of one
    interval, time-multiplexed joints the least exact.
    """

    from ..schedule.candidates import Candidates
    from ..schedule.round_plan import GATHERING

    def shared() -> Sequence[int]:
        return _intervals(whole(), target)

    def in_turn() -> Sequence[int]:
        found = limbs()
        return [found[0] * k for k in _intervals(found[1], target, found[0])] if found else ()

    def visiting() -> Sequence[int]:
        found = joints()
        if found is None:
            return ()
        return Candidates(found, target).leaner(target.multipliers, LARGEST_OF_JOINTS)

    if has_least_latency(design):
        return [] if design.clock is not None else [SharingChoice("auto", 1, shared)]
    return [
        SharingChoice("limbs", 2, in_turn),
        SharingChoice("none", 2, shared, lambda: least(target)),
        SharingChoice("joints", GATHERING + 1, visiting, inexact=inexact),
    ]


def least_alone(fixed: FixedGraph, target: Target) -> ResourceEstimate:
    """The least area of any plan in which only products share hardware: that of its additions."""
    return need(target, LARGEST_INTERVAL, 0, operations(fixed), [])


def _intervals(fixed: FixedGraph, target: Target, limbs: int = 1) -> Sequence[int]:
    """The intervals at which a part has the multipliers; a limb's, where so many are
    time-multiplexed."""
    try:
        least = shared_jobs(fixed, target).least_interval(target.multipliers)
    except ValueError:  # it takes more at any interval
        return ()
    return range(max(least, 1 if limbs > 1 else 2), LARGEST_INTERVAL // limbs + 1)


def chooses_fold(design: Design) -> bool:
    """Whether it is left to the compiler who is time-multiplexed."""
    folded = design.ii is not None or design.multipliers is not None
    if has_registers(
        design
    ):  # limbs and joints that are time-multiplexed have constants of their own
        return False
    return folded and design.fold == "auto" and not has_least_latency(design)


def chooses_joints(design: Design) -> bool:
    """Whether joints may be time-multiplexed without being asked to."""
    if has_registers(design) or design.proven != "none":  # their words are searched
        return False
    if design.formulation in LATHROP:  # with themselves
        return False
    # one binary point for all joints costs more digits of M⁻¹ than logic is worth
    return not set(SOLVING).intersection(design.functions)


def refuse_joints(design: Design, robot: str) -> None:
    """RobotError for what joints that are time-multiplexed do not do; in an accelerator, in no
    stage."""
    refuse_design(design, robot, JOINTS, formulation=formulation_of(design))


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
