"""Whether joints are time-multiplexed in an accelerator that does not say so, by the area model."""

from __future__ import annotations

from dataclasses import replace

from ..robot.model import RobotError
from .accelerator_area import luts_of_sums, stage_luts, sums_apart
from .expected import too_inexact_beside
from .front import Front, is_large
from .plans import chooses_fold
from .product import Product, luts_of, need_of
from .scheduled import of_joints, refuse_few_multipliers
from .shared_limbs import Pieces, in_turn
from .stage_pieces import BY_JOINTS


def smaller(front: Front, words: Pieces, made: Product) -> Product:
    """The accelerator, or one in which joints are time-multiplexed, in all stages that can be
    theirs or in those where they take fewer LUTs: whichever takes fewest by the area model, of
    those that fit and are not `too_inexact`, or, if none is, of all. A note says what each takes,
    and leaves."""
    if not chooses_fold(front.design):
        return made
    try:
        other = of_joints(front, words)
        tried = {"with time-multiplexed joints": other}
        there, without = (stage_luts(a.accelerator, front.target) for a in (other, made))
        turns = [name for name in BY_JOINTS if name in there]
        own = [name for name in turns if there[name] < without.get(name, 0)]
        if own and own != turns:
            tried[f"with time-multiplexed joints in {', '.join(own)} alone"] = of_joints(
                front, words, own
            )
        for other in tried.values():
            refuse_few_multipliers(other)
    except RobotError as error:
        return replace(made, notes=(*made.notes, f"joints are not time-multiplexed: {error}"))
    tried["without time-multiplexed joints"] = made
    needs = {name: need_of(other) for name, other in tried.items()}
    off = {n: too_inexact_beside(other, made) for n, other in tried.items() if other is not made}
    exact = [name for name in tried if not off.get(name) and needs[name].fits]
    few = min(exact or tried, key=lambda name: luts_of(tried[name]) or 0)
    more = [name for name in tried if name != few]
    leaves = {name: f", and leaves {inexact}" if inexact else "" for name, inexact in off.items()}
    others = "; ".join(f"{n} it would take {needs[n]}{leaves.get(n, '')}" for n in more)
    note = f"made {few}, by the area model: {needs[few]}{leaves.get(few, '')}; {others}"
    return replace(tried[few], notes=(*tried[few].notes, note))


def of_large(front: Front, words: Pieces) -> Product | None:
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
        refuse_few_multipliers(made)
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
    best = min([made, *others], key=lambda one: luts_of(one) or 0)
    return replace(best, notes=(*best.notes, note))
