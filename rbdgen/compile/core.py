"""Functions in words, scheduled: as the design asks for, or the fastest that fits the part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial

from ..design.arrays import gives
from ..design.choices import ERROR
from ..design.coordinates import CoordinateError
from ..design.design import Design, has_registers
from ..design.target import Target
from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph
from ..graph.parameters import Held
from ..graph.visits import LIMB, Program
from ..graph.word import kind_of
from ..robot.limb_unification import cure
from ..robot.model import RobotError
from ..schedule.features import features
from ..schedule.limbs import in_limbs
from ..schedule.plan import Plan
from ..tasks.one_stage import OneStage, one_stage
from ..words.input_domain import InputDomain
from ..words.instances import FixedProgram, instantiate
from ..words.proven_ranges import Proof, output_errors, prove
from ..words.ranges import Ranges
from ..words.wordlength import PrecisionError, input_formats
from .fitting import ResourceEstimate, Search, need
from .front import Front
from .limbs.names import LimbError
from .plans import (
    alone,
    chooses_fold,
    chooses_joints,
    least_alone,
    planned,
    refuse_joints,
    rounds,
    turns,
    ways_to_share,
    why_turns,
)
from .word_errors import errors_in_graph, too_inexact
from .words import FixedFunctions

MANY = 5000  # operations: below, words are made sooner than it is seen that they do not fit
FAR = 2.0  # times a part's cells: what takes so many without ranges being searched is too large


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
    held: Held = field(default_factory=dict)  # in registers, unless its own
    expected: tuple[CoordinateError, ...] = ()  # what its words leave

    @property
    def design(self) -> Design:
        """The choices, and what was chosen."""
        return self.front.design

    @cached_property
    def accelerator(self) -> OneStage:
        """The same as an accelerator of one stage without slots."""
        design, outputs = self.design, self.fixed.graph.outputs
        results = {
            function: [name for name in outputs if kind_of(name) in gives(design, function)]
            for function in design.functions
        }
        return one_stage(design.functions, self.fixed, self.plan, results)

    @cached_property
    def proof(self) -> Proof | None:
        """The proof for the words that ``plan`` schedules; None where joints share a datapath."""
        own = self.ranges
        if not own.limits:
            return None
        return prove(self.plan.fixed, own.limits, own.units, self.front.pivot_bounds)

    @cached_property
    def output_errors(self) -> dict[str, float]:
        """Output of what ``plan`` schedules → its error, at most; infinite where not known."""
        fixed = self.plan.fixed
        if not self.ranges.limits:
            return dict.fromkeys(fixed.graph.outputs, math.inf)
        return output_errors(fixed, self.ranges.limits, self.ranges.units, self.front.pivot_bounds)

    @property
    def graphs(self) -> dict[str, FixedGraph]:
        """The one graph, which needs no name."""
        return {"": self.fixed}

    @property
    def formats(self) -> Mapping[str, Mapping[str, Format]]:
        """The words of a task, which is of all functions."""
        return {"": self.fixed.inputs}


def as_asked(front: Front, words: FixedFunctions) -> Core:
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


def limbs_of(front: Front, words: FixedFunctions | None = None) -> Program | None:
    """The robot's limbs where they may take turns; RobotError if they are to and cannot."""
    design = front.design
    if design.fold != "limbs" and not chooses_fold(design):
        return None
    try:
        return (words or FixedFunctions(front)).limbs
    except LimbError as error:
        if design.fold == "auto":
            return None
        raise RobotError(
            f"{front.robot.name}: fold: limbs: {error}{cure(front.canonical)}"
        ) from None


def in_turn(front: Front, limbs: Program, words: FixedFunctions) -> Core | None:
    """One limb's datapath for all; None where the design does better without, or must."""
    ranges, fixed = words.limb
    words.progress("schedule")
    template, note = turns(front.design, fixed, len(limbs.reads), front.graph, front.target)
    if template is None:
        return None
    program = of_limbs(front, limbs, fixed, words.given)
    return Core(front, ranges, program.whole, in_limbs(template, program), (note,))


def of_limbs(front: Front, limbs: Program, fixed: FixedGraph, given: InputDomain) -> FixedProgram:
    """The robot, of which one limb is ``fixed``."""
    names = Graph(front.graph.inputs, {})
    inputs = input_formats(names, given.limits, front.design.width)
    return instantiate(limbs, {LIMB: fixed}, inputs)


def joints_in_turn(front: Front, words: FixedFunctions) -> Core:
    """One datapath for each thing that joints compute, for all joints."""
    refuse_joints(front.design, front.robot.name)
    made, width = words.program
    words.progress("schedule")
    plan, note = rounds(front.design, made, front.target)
    if front.design.error is not None:
        note += f"; of one width, error {front.design.error:g} takes words of {width} bits"
    return Core(front, Ranges({}, frozenset()), plan.whole, plan, (note,))


def leaner(core: Core, words: FixedFunctions) -> Core:
    """The core, or one in which joints take turns where that takes much less logic."""
    if not chooses_joints(core.design):
        return core
    try:
        other = joints_in_turn(core.front, words)
    except (RobotError, PrecisionError):
        return core
    note = why_turns(core.front.target, core.plan, other.plan, core.design.error is not None)
    if not note:
        return core
    turned, shared = (errors_in_graph(core.front, own.fixed).errors for own in (other, core))
    if inexact := too_inexact(turned, shared, core.design.error or ERROR):
        said = f"joints do not take turns: that would leave {inexact}; --fold joints for that"
        return replace(core, notes=(*core.notes, said))
    return replace(other, notes=(*other.notes, note))


def fastest(front: Front, words: FixedFunctions) -> tuple[Design, Core]:
    """The fastest core that fits the part, else the smallest; and the design that says so."""

    def make(design: Design, target: Target) -> tuple[ResourceEstimate, Core]:
        core = as_asked(replace(front, design=design, target=target), words)
        return need_of(core), core

    def limbs() -> tuple[int, FixedGraph] | None:
        if has_registers(front.design):
            return None
        try:
            return len(words.limbs.reads), words.limb[1]
        except LimbError:
            return None

    def joints() -> FixedProgram | None:
        if not chooses_joints(front.design):
            return None
        try:
            refuse_joints(replace(front.design, ii=1), front.robot.name)
            return words.program[0]
        except (RobotError, PrecisionError):
            return None

    def beyond(target: Target) -> ResourceEstimate | None:
        design, size = front.design, sum(front.graph.operations().values())
        if size < MANY or design.style != "throughput" or design.error is not None:
            return None
        least = least_alone(words.roughly, target)
        return least if least.filled > FAR else None

    def least(target: Target) -> ResourceEstimate:
        return known(target) or least_alone(words.whole[1], target)

    @cache
    def inexact() -> str:
        """The worst coordinate of joints in turn, where it is off by too much to choose them."""
        found = joints()
        if found is None:
            return ""
        others = () if known(front.target) else errors_in_graph(front, words.whole[1]).errors
        errors = errors_in_graph(front, found.whole).errors
        return too_inexact(errors, others, front.design.error or ERROR)

    known = cache(beyond)
    ways = partial(
        ways_to_share,
        whole=lambda: words.whole[1],
        limbs=limbs,
        joints=joints,
        least=least,
        inexact=inexact,
    )
    search = Search(alone, ways, make, words.progress, known)
    return search.fastest(front.design, front.target)


def need_of(core: Core) -> ResourceEstimate:
    """The resources that the core takes of its part."""
    target, plan = core.front.target, core.plan
    return need(target, plan.interval, plan.multipliers, features(plan), [plan.binding])
