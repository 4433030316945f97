"""A design compiled: the stages that its hardware is made from, and what they take of the part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..design.arrays import gives
from ..design.coordinates import CoordinateError
from ..graph.word import kind_of
from ..schedule.plan import Plan
from ..tasks.stages import one_stage
from ..words.proven_ranges import Proof, output_errors, prove
from ..words.ranges import Ranges
from .accelerator_area import accelerator_features
from .fitting import ResourceEstimate, need
from .front import Front
from .specification import Specification


@dataclass(frozen=True, eq=False)
class Product(Specification):
    """A front's functions in fixed point, scheduled: all that the hardware is made from.

    ``expected``: the errors that words leave.
    ``ranges``: those of the graph that a core's plan schedules: of `fixed`, or of one limb's where
    limbs are time-multiplexed.
    """

    front: Front
    notes: tuple[str, ...] = ()
    expected: tuple[CoordinateError, ...] = ()
    ranges: Ranges | None = None

    @property
    def plan(self) -> Plan:
        """The plan of the one stage that there is."""
        (plan,) = self.plans
        return plan

    @property
    def plans(self) -> list[Plan]:
        """The plans of all stages that compute something."""
        return [stage.plan for stage in self.accelerator.stages.values() if stage.plan]

    @cached_property
    def proof(self) -> Proof | None:
        """The proof for the words that a core's plan schedules; None where there is none."""
        own = self.ranges
        if own is None or not own.limits:
            return None
        return prove(self.plan.fixed, own.limits, own.units, self.front.pivot_bounds)

    @cached_property
    def output_errors(self) -> dict[str, float]:
        """Output of what ``plan`` schedules → its error, at most; infinite where not known."""
        fixed, own = self.plan.fixed, self.ranges
        if own is None or not own.limits:
            return dict.fromkeys(fixed.graph.outputs, math.inf)
        return output_errors(fixed, own.limits, own.units, self.front.pivot_bounds)


def as_core(front: Front, ranges: Ranges | None, plan: Plan, notes: Sequence[str] = ()) -> Product:
    """All functions of a front in one stage; ``ranges``: of the graph that ``plan`` schedules."""
    outputs = {f: gives(front.design, f) for f in front.design.functions}
    results = {
        function: tuple(name for name in plan.whole.graph.outputs if kind_of(name) in kinds)
        for function, kinds in outputs.items()
    }
    return Product(front, one_stage(plan, results), tuple(notes), ranges=ranges)


def need_of(made: Product) -> ResourceEstimate:
    """The resources that the design takes of its part."""
    accelerator = made.accelerator
    interval = max(stage.interval for stage in accelerator.stages.values())
    if not made.is_core:  # whose stages may be visited several times by a task
        interval = made.design.ii or interval
    return need(
        made.front.target,
        interval,
        accelerator.multipliers,
        accelerator_features(accelerator),
        [plan.binding for plan in made.plans],
    )


def luts_of(made: Product) -> int | None:
    """LUTs of the design by the area model; None where there is none of the part's family."""
    cells = need_of(made).cells
    return None if cells is None else cells["luts"]
