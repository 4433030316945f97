"""A design compiled: the stages that its hardware is made from, and what they take of the part."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..design.arrays import gives
from ..design.clock import ClockEstimate
from ..design.coordinates import CoordinateError
from ..design.energy import EnergyEstimate
from ..design.target import Target
from ..graph.word import kind_of
from ..schedule.area import NoModel, estimated
from ..schedule.clock import plan_clocks
from ..schedule.energy import plan_energy
from ..schedule.plan import Plan
from ..schedule.units import Binding
from ..tasks.model import Specification
from ..tasks.stages import one_stage
from ..words.proven_ranges import Proof, output_errors, prove
from ..words.ranges import Ranges
from .accelerator_area import accelerator_features
from .front import Front

FILLED = 0.8  # of LUTs and flip-flops: what is fuller is seldom placed and routed
CELLS = {"luts": "LUTs", "flip_flops": "flip-flops", "block_rams": "block RAMs"}


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


@dataclass(frozen=True)
class ResourceEstimate:
    """The resources that a design takes of a part.

    ``logic``: products and units that found no hardware multiplier and are made of LUTs.
    ``cells``: by the area model; None where there is none of the family.
    """

    target: Target
    interval: int
    multipliers: int
    logic: int
    cells: Mapping[str, int] | None

    @property
    def lacking(self) -> list[str]:
        """The resources that the part has too little of: ``about 90000 of 83640 LUTs``."""
        found = []
        if self.multipliers > self.target.multipliers:
            found.append(f"{self.multipliers} of {self.target.multipliers} multipliers")
        for key, name in CELLS.items():
            if self.cells is not None and self.cells[key] > room(self.target, key):
                found.append(f"about {self.cells[key]} of {getattr(self.target, key)} {name}")
        return found

    @property
    def fits(self) -> bool:
        """Whether the part has enough of everything."""
        return not self.lacking

    @property
    def filled(self) -> float:
        """The share of what there is most too little of."""
        shares = [self.multipliers / self.target.multipliers]
        if self.cells is not None:
            shares += [self.cells[key] / room(self.target, key) for key in CELLS]
        return max(shares)

    def __str__(self) -> str:
        text = f"{self.multipliers} of {self.target.multipliers} multipliers"
        if self.cells is None:
            return f"{text}; how many LUTs is not known"
        return f"{text} and about {self.cells['luts']} of {self.target.luts} LUTs"


def room(target: Target, cells: str) -> float:
    """How many of a part's cells a design may take."""
    there: int = getattr(target, cells)
    return there if cells == "block_rams" else FILLED * there


def need(
    target: Target,
    interval: int,
    multipliers: int,
    features: Mapping[str, int],
    bindings: Sequence[Binding],
) -> ResourceEstimate:
    """The resources of one plan or several that take a task every ``interval`` cycles."""
    styles = [s for b in bindings for k in (b.style, b.sincos, b.recip) for s in k.values()]
    try:
        cells = estimated(target.family, features)
    except NoModel:
        cells = None
    return ResourceEstimate(target, interval, multipliers, styles.count("logic"), cells)


def too_large(need: ResourceEstimate) -> str:
    """A note that a design that was asked for is larger than its part; empty if it is not."""
    if need.fits:
        return ""
    return (
        f"DOES NOT FIT {need.target.name}, by the area model: {', '.join(need.lacking)}"
        f"{at_most(need)}; without --ii, --multipliers and --fold the fastest that fits is made, "
        "if one does"
    )


def at_most(need: ResourceEstimate) -> str:
    """A note's words about what is filled in part alone."""
    if need.cells is None:
        return ""
    return f" (LUTs and flip-flops are filled to {100 * FILLED:.0f} % at most)"


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


def clocks_of(made: Product) -> tuple[ClockEstimate, ...]:
    """The clock at each speed grade, estimated; none where no clock model was fitted, or operations
    are chained within a clock that is asked for."""
    if made.design.clock is not None:
        return ()
    return plan_clocks(made.front.target, accelerator_features(made.accelerator))


def energy_of(made: Product) -> EnergyEstimate | None:
    """The energy of a core's results, estimated; None of an accelerator, none of which the model
    has seen, and where none was fitted."""
    if not made.is_core:
        return None
    own = made.accelerator
    interval = max(own.interval(name) for name in own.functions)
    return plan_energy(made.front.target, accelerator_features(own), interval)
