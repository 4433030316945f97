"""The whole compiler, every stage in order.

URDF ─ load ─► Robot ─ rewrites ─► canonical Robot ─ trace ─► Graph ─ exact passes ─► Front
Front ─ ranges, passes to words ─► FixedGraph ─ share, schedule ─► Product ─ rtl ─► Verilog

Beside it, ``front`` traces and refuses, ``words`` finds ranges and formats, ``stages`` shares and
schedules functions in one stage or several, and ``fitting`` looks for the fastest that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from ..design.bounds import bounds
from ..design.design import (
    Design,
    choice_of,
    has_registers,
    is_left_open,
    is_unformulated,
    rewritten,
)
from ..design.effects import notes_of_interval, refuse_design, refused
from ..design.gains import notes_of_law
from ..design.limits import no_limits, unused_limits
from ..design.loading import load
from ..design.nested import FITTED, FORMULATED, PROMISED
from ..design.payload import notes_of_contacts
from ..design.rules import ONE_TASK, STAGES
from ..graph.fixed import FixedGraph
from ..robot.model import Robot, RobotError
from ..system.quoting import Progress, changing
from ..words.wordlength import PrecisionError
from .expected import note_of_efforts, with_errors
from .fitting import Candidate, Search
from .fixed_functions import FixedFunctions
from .front import (
    Front,
    counting,
    in_reals,
    notes_of_base,
    notes_of_masses,
    notes_of_pivots,
    notes_of_regressors,
    of_bodies,
    refuse_large,
    refuse_still,
    refuse_unbounded,
)
from .product import Product, need_of, too_large
from .samples import note_of_near, refuse_dependent, refuse_singular
from .ways import fastest, part_of

__all__ = [
    "Front",
    "Product",
    "compile_design",
    "compile_front",
    "fixed_point",
    "front_end",
    "front_of",
    "in_promised_words",
]
T = TypeVar("T")


def front_end(
    path: str, progress: Progress = lambda _: None, /, in_floats: bool = False, **choices: Any
) -> Front:
    """URDF or design file → traced graph. ``choices`` are fields of Design that win over it.

    ``in_floats``: of a program in floating point, so that no angle is snapped unasked.
    """
    notes: list[str] = []
    design, robot = load(path, notes=notes, **choices)
    return front_of(design, robot, notes, progress, in_floats)


def front_of(
    design: Design,
    robot: Robot,
    said: Iterable[str] = (),
    progress: Progress = lambda _: None,
    in_floats: bool = False,
) -> Front:
    """The same of a robot that was read; ``said``: the notes of `load`."""
    notes = [*said]
    refuse_large(design, robot)
    refuse_singular(design, robot)
    refuse_dependent(design, robot)
    progress(f"trace: {robot.nv} coordinates")
    bodies, registers = of_bodies(design), has_registers(design)
    *_, (last, canonical) = rewritten(design, robot, bodies, notes, in_floats)
    numbers = None
    if registers:
        from .parameters import model_of, refuse_own_angles

        numbers = model_of(design, robot, bodies)
        refuse_own_angles(design, numbers)
    counts: list[tuple[str, dict[str, int]]] = []
    progress("identities and common factors")
    graph, parameters = in_reals(design, canonical, numbers, counting(counts, last))
    if parameters:
        from .parameters import note_of_registers

        notes.append(note_of_registers(design, parameters))
    notes += notes_of_masses(design)
    notes += notes_of_regressors(design, canonical)
    notes += notes_of_contacts(design, bounds(design, canonical).contact)
    notes += notes_of_law(design, canonical)
    notes += no_limits(design, robot)
    notes += unused_limits(design, robot)
    if not in_floats and (beyond := note_of_efforts(design, canonical)):
        notes.append(beyond)
    if numbers is None:
        notes += notes_of_base(design, counts[0][1]["mul"])
    if near := note_of_near(design):
        notes.append(near)
    front = Front(
        design,
        part_of(design),
        robot,
        canonical,
        graph,
        tuple(notes),
        tuple(counts),
        parameters,
    )
    return replace(front, notes=(*front.notes, *notes_of_pivots(front)))


def fixed_point(front: Front, progress: Progress = lambda _: None) -> FixedGraph:
    """Graph → fixed point, of the whole robot and without a schedule; errors as `compile_front`'s.

    Every bit of it is that core's wherever each operation has the words of its own place: where
    limbs or joints are time-multiplexed, the core's words are those that serve all of them. Where
    sums are in the cells of products, products overflow here that do not there.
    """
    refuse_design(front.design, front.robot.name, ONE_TASK)
    refuse_still(front)
    refuse_unbounded(front)
    if is_unformulated(front.design):  # which formulation depends on what fits
        return compile_front(front, progress).fixed
    return FixedFunctions(front, progress).whole[1]


def compile_front(
    front: Front, progress: Progress = lambda _: None, words: FixedFunctions | None = None
) -> Product:
    """Graph → fixed point → schedule; RobotError for a robot that leaves nothing to compute.

    ``words``: a core's, of a front that differs in nothing but how often a task comes.

    Where nobody says how often, the design is the fastest that fits the part, and where nobody says
    in which formulation, style latency has that of the fewest cycles. The design of its front says
    what was chosen. Where nobody says how long words are, and none keep the error that is
    promised then, they have 18 bits, and a note says so.
    """
    made, notes = in_promised_words(
        front, lambda own: _in_words(own, progress, words if own is front else None)
    )
    return replace(made, notes=(*notes, *made.notes))


def in_promised_words(front: Front, make: Callable[[Front], T]) -> tuple[T, tuple[str, ...]]:
    """Whatever is made of a front; where no words keep the error that is promised, of one whose
    words have 18 bits, and a note that says so.

    Raises PrecisionError where somebody says for which error.
    """
    try:
        return make(front), ()
    except PrecisionError as error:
        if not choice_of(front.design, PROMISED):
            raise
        plain = replace(front.design, error=None)
        note = changing(f"width: {plain.width} bits, since {error}")
        return make(replace(front, design=plain)), (note,)


def compile_design(path: str, progress: Progress = lambda _: None, **choices: Any) -> Product:
    """URDF or design file → what the hardware is made from, and the errors of its words.

    ``choices`` are fields of Design.
    """
    progress(f"reading {path}")
    return with_errors(compile_front(front_end(path, progress, **choices), progress))


def _in_words(front: Front, progress: Progress, words: FixedFunctions | None) -> Product:
    """The product, or PrecisionError for an error that no words keep."""
    if line := refused(front.design, STAGES):
        raise RobotError(line)
    refuse_still(front)
    refuse_unbounded(front)
    if is_unformulated(front.design):
        return _fewest_cycles(front, progress, words)
    made = _scheduled(front, progress, words)
    choice = choice_of(front.design, FORMULATED)
    return replace(made, notes=(choice.note, *made.notes)) if choice else made


def _fewest_cycles(front: Front, progress: Progress, words: FixedFunctions | None) -> Product:
    """The core in the best formulation of those that fit the part, else in the best."""

    from .formulation import ranked

    def candidates() -> Iterator[Candidate[bool, Product | RobotError]]:
        for own in ranked(front, progress):
            try:
                same = words if own.graph is front.graph else None
                made = compile_front(own, progress, same)
            except RobotError as error:  # more multipliers than there are
                yield Candidate(own.design, False, error)
            else:
                yield Candidate(made.design, fits(made), made)

    found = Search(candidates(), lambda one: not one.cost, lambda one: one.cost).best.made
    if isinstance(found, RobotError):
        raise found
    return found


def fits(made: Product) -> bool:
    """Whether the part has all that the design takes, or it is not asked to."""
    choice = choice_of(made.design, FITTED)
    return choice.fits if choice else not made.design.fit or need_of(made).fits


def _scheduled(front: Front, progress: Progress, words: FixedFunctions | None) -> Product:
    """The product that a design asks for, or the fastest that fits: one stage, or cut into many."""
    words = words or FixedFunctions(front, progress)
    if not is_left_open(front.design):
        from .joint_choice import asked

        made = asked(front, words)
        note = too_large(need_of(made)) if front.design.fit else ""
        return replace(made, notes=(*made.notes, note)) if note else made
    design, made = fastest(front, words)
    choice = choice_of(design, FITTED)
    assert choice
    open_notes = notes_of_interval(design, max(plan.interval for plan in made.plans))
    notes = (*made.notes, choice.note, *open_notes)
    return replace(made, front=replace(front, design=design), notes=notes)
