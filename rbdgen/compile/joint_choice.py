"""Whether joints are time-multiplexed in a design that does not say so, by the area model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..design.choices import LARGEST_INTERVAL
from ..design.design import chooses_fold, chooses_joints, is_left_open
from ..design.nested import FITTED, Choice
from ..robot.model import RobotError
from ..schedule.candidates import Candidates
from ..system.quoting import Progress
from ..words.wordlength import PrecisionError
from .accelerator_area import luts_of_sums, stage_luts
from .expected import too_inexact_beside
from .fitting import Candidate, Search, often
from .fixed_functions import FixedFunctions
from .front import Front, is_large
from .intervals import in_turn
from .product import Product, ResourceEstimate, need_of, too_large
from .stage_pieces import BY_JOINTS, sums_apart
from .ways import as_asked, fastest, of_joints, refuse_joints

SAVED = 0.3  # of the LUTs: for less, time-multiplexed joints are not worth their cycles
ROOMY = 0.35  # of a part's LUTs: a design that fills no more is routed in minutes, however fast

Estimated = Candidate[ResourceEstimate, Product]


def asked(front: Front, words: FixedFunctions) -> Product:
    """The product that a design asks for, or one in which joints are time-multiplexed.

    In a core that is one that takes much less logic; in an accelerator a smaller one, where the
    first does not fit. RobotError for a part that is too small for it.
    """
    design = front.design
    if words.is_core:
        made = as_asked(front, words)
        able = chooses_fold(design) and chooses_joints(design) and made.plan.turns is None
        return _leaner(made, words) if able else made
    large = _of_large(front, words)
    made = large or as_asked(front, words)
    _refuse_few_multipliers(made)
    if large is None and design.fit and too_large(need_of(made)) and chooses_fold(design):
        return _smaller(front, words, made)
    return made


def _candidate(made: Product, note: str = "", inexact: str = "") -> Estimated:
    return Candidate(made.design, need_of(made), made, note, inexact)


def _luts(one: Estimated) -> int:
    """LUTs by the area model; 0 where there is none of the part's family."""
    return one.cost.cells["luts"] if one.cost.cells else 0


def _if(able: Callable[[Estimated], bool]) -> Callable[[Estimated], tuple[bool, int]]:
    """The order of LUTs, of those that are able before the others."""
    return lambda one: (not able(one), _luts(one))


def _leaner(made: Product, words: FixedFunctions) -> Product:
    """The core, or one in which joints are time-multiplexed where that takes much less logic."""
    try:
        joints = _candidate(of_joints(made.front, words))
    except (RobotError, PrecisionError):
        return made
    shared = _candidate(made)
    slower = joints.cost.interval > shared.cost.interval
    if slower or not _luts(joints) or _luts(joints) > (1 - SAVED) * _luts(shared):
        return made
    joints = replace(joints, inexact=too_inexact_beside(joints.made, made))
    best = Search([shared, joints], _if(lambda one: not one.inexact)).best
    if best is shared:
        note = (
            f"joints are not time-multiplexed: that would leave {joints.inexact}; --fold joints "
            "for that"
        )
    else:
        promised = made.design.error is not None  # that both keep
        note = (
            f"that is about {1 - _luts(joints) / _luts(shared):.0%} fewer LUTs than if products "
            f"shared multipliers, which would take {made.plan.latency} cycles"
            f"{'' if promised else ' and have smaller errors'} (--fold none)"
        )
    return replace(best.made, notes=(*best.made.notes, note))


def _smaller(front: Front, words: FixedFunctions, made: Product) -> Product:
    """The accelerator, or one in which joints are time-multiplexed, in all stages that can be
    theirs or in those where they take fewer LUTs: whichever takes fewest by the area model, of
    those that fit and are not `too_inexact`, or, if none is, of all. A note says what each takes,
    and leaves."""

    def candidate(other: Product, note: str) -> Estimated:
        return _candidate(other, note, too_inexact_beside(other, made))

    try:
        whole = of_joints(front, words)
        turned = {"with time-multiplexed joints": whole}
        there, without = (stage_luts(a.accelerator, front.target) for a in (whole, made))
        turns = [name for name in BY_JOINTS if name in there]
        own = [name for name in turns if there[name] < without.get(name, 0)]
        if own and own != turns:
            some = of_joints(front, words, own)
            turned[f"with time-multiplexed joints in {', '.join(own)} alone"] = some
        for other in turned.values():
            _refuse_few_multipliers(other)
    except RobotError as error:
        return replace(made, notes=(*made.notes, f"joints are not time-multiplexed: {error}"))
    tried = [candidate(other, note) for note, other in turned.items()]
    tried.append(_candidate(made, "without time-multiplexed joints"))
    best = Search(tried, _if(lambda one: one.cost.fits and not one.inexact)).best
    leaves = {one: f", and leaves {one.inexact}" if one.inexact else "" for one in tried}
    others = "; ".join(
        f"{one.note} it would take {one.cost}{leaves[one]}" for one in tried if one is not best
    )
    note = f"made {best.note}, by the area model: {best.cost}{leaves[best]}; {others}"
    return replace(best.made, notes=(*best.made.notes, note))


def _of_large(front: Front, words: FixedFunctions) -> Product | None:
    """The accelerator of a large robot with shared joint datapaths; None if the choice is open.

    The other accelerator is not compiled where the sums in the same stages alone would take more
    LUTs. Where that is unknown of one stage, it is compiled without sharing, too, and the smaller
    one is taken.
    """
    design = front.design
    if not (design.fit and chooses_fold(design) and is_large(front)):
        return None
    if not isinstance(in_turn(front, words, partly=False), str):  # limbs share additions, too
        return None
    try:
        made = of_joints(front, words)
        _refuse_few_multipliers(made)
        luts = stage_luts(made.accelerator, front.target)
        taken = {name: luts[name] for name in BY_JOINTS if name in luts}
        least = {name: luts_of_sums(n, front) for name, n in sums_apart(front.graph).items()}
        sure = [name for name in taken if taken[name] < least[name]]
        if not sure or sum(taken.values()) >= sum(least[name] for name in taken):
            return None
        others = [of_joints(front, words, sure)] if len(sure) < len(taken) else []
    except RobotError:
        return None
    note = (
        f"joints are time-multiplexed by the area model: {', '.join(taken)} take about "
        f"{sum(taken.values())} LUTs; without, their sums alone take "
        f"{sum(least[name] for name in taken)}"
    )
    best = Search([_candidate(one) for one in (made, *others)], _luts).best.made
    return replace(best, notes=(*best.notes, note))


def _refuse_few_multipliers(made: Product) -> None:
    """RobotError for a part that is too small for what was asked for."""
    design, target, accelerator = made.design, made.front.target, made.accelerator
    if accelerator.multipliers > target.multipliers:
        slowest = max(stage.interval for stage in accelerator.stages.values())
        raise RobotError(
            f"ii: {design.ii or slowest} takes {accelerator.multipliers} hardware multipliers, and "
            f"{target.part} has {target.multipliers}; give --multipliers {target.multipliers}, a "
            "longer --ii, or fewer functions"
        )


def small(front: Front, progress: Progress = lambda _: None) -> Choice | None:
    """The choice with which joints are time-multiplexed, at the interval of the fewest LUTs, for a
    board whose line to the host is slower than any accelerator.

    None where somebody says how hardware is shared, where the fastest that fits leaves the part
    roomy, where joints are not time-multiplexed, or where that saves less logic than is worth their
    cycles.
    """
    if not is_left_open(front.design):
        return None
    if len(front.design.functions) != 1 or front.design.functions[0] not in ("id", "m"):
        return None
    words = FixedFunctions(front, progress)

    def at(interval: int) -> Estimated:
        design = replace(front.design, ii=interval, fold="joints")
        return _candidate(of_joints(replace(front, design=design), words))

    try:
        refuse_joints(replace(front, design=replace(front.design, ii=1, fold="joints")))
        (piece,) = words.joints(front.design).pieces.values()
        assert piece.program is not None
        ways = Candidates(piece.program, front.target)
        other = _candidate(fastest(front, words)[1])
    except RobotError:
        return None
    if _luts(other) <= ROOMY * front.target.luts:
        return None
    every = range(2, LARGEST_INTERVAL + 1)
    there = [way for k in every if (way := ways.leanest(k, front.target.multipliers))]
    fewest = min((way.datapaths for way in there), default=0)  # the logic is in datapaths
    leanest = [way.every for way in there if way.datapaths == fewest]
    if not leanest:
        return None
    best = Search(map(at, leanest), _luts).best
    if _luts(best) > (1 - SAVED) * _luts(other):
        return None
    note = (
        f"{often(best.cost.interval)}, time-multiplexed joints: the fewest LUTs, about "
        f"{_luts(best)} in place of {_luts(other)}; the line to the host is slower than either. "
        "--ii says otherwise"
    )
    return Choice(FITTED, note, {"ii": best.design.ii, "fold": "joints"})
