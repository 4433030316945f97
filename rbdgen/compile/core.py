"""Functions in words, scheduled: as the design asks for, or the fastest that fits the part."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from ..design.choices import ERROR
from ..design.design import Design, has_least_latency, has_registers
from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.visits import LIMB, Program
from ..robot.model import RobotError
from ..words.input_domain import InputDomain
from ..words.ranges import Ranges
from ..words.wordlength import PrecisionError, input_formats
from .expected import too_inexact_beside
from .fitting import ResourceEstimate, Search
from .front import Front
from .plans import (
    SAVED,
    alone,
    chooses_fold,
    chooses_joints,
    least_alone,
    planned,
    refuse_joints,
    rounds,
    turns,
    ways_to_share,
)
from .product import Product, as_core, luts_of, need_of
from .word_errors import errors_in_graph, too_inexact
from .words import FixedFunctions

if TYPE_CHECKING:
    from ..words.instances import FixedProgram

MANY = 5000  # operations: below, words are made sooner than it is seen that they do not fit
FAR = 2.0  # times a part's cells: what takes so many without ranges being searched is too large


def asked(front: Front, words: FixedFunctions) -> Product:
    """The core that a design asks for, or one in which joints are time-multiplexed where that is
    leaner."""
    made = as_asked(front, words)
    turns = made.plan.turns
    return leaner(made, words) if chooses_fold(front.design) and turns is None else made


def as_asked(front: Front, words: FixedFunctions) -> Product:
    """The core that a design asks for; where it does not say, of a task every cycle."""
    if front.design.fold == "joints":
        return joints_in_turn(front, words)
    limbs = limbs_of(front, words)
    if limbs is not None and (made := in_turn(front, limbs, words)) is not None:
        return made
    ranges, fixed = words.whole
    words.progress("schedule")
    return as_core(front, ranges, planned(front.design, fixed, front.target))


def limbs_of(front: Front, words: FixedFunctions | None = None) -> Program | None:
    """The robot's limbs where they may be time-multiplexed; RobotError if they are to and
    cannot."""
    design = front.design
    if design.fold != "limbs" and not chooses_fold(design):
        return None
    from ..robot.limb_unification import cure
    from .limbs.names import LimbError

    try:
        return (words or FixedFunctions(front)).limbs
    except LimbError as error:
        if design.fold == "auto":
            return None
        raise RobotError(
            f"{front.robot.name}: fold: limbs: {error}{cure(front.canonical)}"
        ) from None


def in_turn(front: Front, limbs: Program, words: FixedFunctions) -> Product | None:
    """One limb's datapath for all; None where the design does better without, or must."""
    ranges, fixed = words.limb
    words.progress("schedule")
    template, note = turns(front.design, fixed, len(limbs.reads), front.graph, front.target)
    if template is None:
        return None
    from ..schedule.limbs import in_limbs

    program = of_limbs(front, limbs, fixed, words.given)
    return as_core(front, ranges, in_limbs(template, program), (note,))


def of_limbs(front: Front, limbs: Program, fixed: FixedGraph, given: InputDomain) -> FixedProgram:
    """The robot, of which one limb is ``fixed``."""
    from ..words.instances import instantiate

    names = Graph(front.graph.inputs, {})
    inputs = input_formats(names, given.limits, front.design.width)
    return instantiate(limbs, {LIMB: fixed}, inputs)


def joints_in_turn(front: Front, words: FixedFunctions) -> Product:
    """One datapath for each thing that joints compute, for all joints."""
    refuse_joints(front.design, front.robot.name)
    made, width = words.program
    words.progress("schedule")
    plan, note = rounds(front.design, made, front.target)
    if front.design.error is not None:
        note += f"; of one width, error {front.design.error:g} takes words of {width} bits"
    return as_core(front, Ranges({}, frozenset()), plan, (note,))


def leaner(made: Product, words: FixedFunctions) -> Product:
    """The core, or one in which joints are time-multiplexed where that takes much less logic."""
    if not chooses_joints(made.design):
        return made
    try:
        other = joints_in_turn(made.front, words)
    except (RobotError, PrecisionError):
        return made
    note = why_turns(made, other)
    if not note:
        return made
    if inexact := too_inexact_beside(other, made):
        said = (
            f"joints are not time-multiplexed: that would leave {inexact}; --fold joints for that"
        )
        return replace(made, notes=(*made.notes, said))
    return replace(other, notes=(*other.notes, note))


def why_turns(shared: Product, joints: Product) -> str:
    """Why ``joints`` in turn are better than ``shared`` multipliers; empty where they are not."""
    few, many = luts_of(joints), luts_of(shared)
    if few is None or many is None:
        return ""
    if joints.plan.interval > shared.plan.interval or few > (1 - SAVED) * many:
        return ""
    promised = shared.design.error is not None  # that both keep
    return (
        f"that is about {1 - few / many:.0%} fewer LUTs than if products shared multipliers, which "
        f"would take {shared.plan.latency} cycles"
        f"{'' if promised else ' and have smaller errors'} (--fold none)"
    )


def search(front: Front, words: FixedFunctions) -> Search[Product]:
    """The search for the fastest core that fits the part, where nobody says how often."""

    def make(design: Design, target: Target) -> tuple[ResourceEstimate, Product]:
        made = as_asked(replace(front, design=design, target=target), words)
        return need_of(made), made

    def limbs() -> tuple[int, FixedGraph] | None:
        if has_registers(front.design):
            return None
        from .limbs.names import LimbError

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
        if size < MANY or has_least_latency(design) or design.error is not None:
            return None
        least = least_alone(words.roughly, target)
        return least if least.filled > FAR else None

    def least(target: Target) -> ResourceEstimate:
        return known(target) or least_alone(words.whole[1], target)

    @cache
    def inexact() -> str:
        """The worst coordinate of time-multiplexed joints, where it is off by too much to choose
        them."""
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
    return Search(alone, ways, make, words.progress, known)
