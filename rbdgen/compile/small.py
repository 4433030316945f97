"""The small accelerator, where the line to the host is slower than any."""

from __future__ import annotations

from dataclasses import replace

from ..design.choices import LARGEST_INTERVAL
from ..design.design import is_left_open
from ..design.nested import FITTED, Choice
from ..robot.model import RobotError
from ..schedule.candidates import Candidates
from ..system.messages import Progress
from .accelerator_sharing import Pieces
from .fitting import often
from .flow import compile_front
from .front import Front
from .plans import SAVED, refuse_joints
from .product import luts_of
from .scheduled import of_joints
from .stage_pieces import BY_JOINTS

ROOMY = 0.35  # of a part's LUTs: a design that fills no more is routed in minutes, however fast


def small(front: Front, progress: Progress = lambda _: None) -> Choice | None:
    """The choices with which joints are time-multiplexed, at the interval of the fewest LUTs.

    None where somebody says how hardware is shared, where the fastest that fits leaves the part
    roomy, where joints are not time-multiplexed, or where that saves less logic than is worth their
    cycles. Errors as those of `compile_front`.
    """
    if not is_left_open(front.design):
        return None
    if len(front.design.functions) != 1 or front.design.functions[0] not in ("id", "m"):
        return None
    pieces = Pieces(front, progress)
    try:
        refuse_joints(_at(front, 1).design, front.robot.name)
        (piece,) = pieces.joints(BY_JOINTS, _at(front, 1).design).pieces.values()
        assert piece.program is not None
        ways = Candidates(piece.program, front.target)
        fastest = luts_of(compile_front(front, progress))
    except RobotError:
        return None
    if fastest is None or fastest <= ROOMY * front.target.luts:
        return None
    every = range(2, LARGEST_INTERVAL + 1)
    there = [way for k in every if (way := ways.leanest(k, front.target.multipliers))]
    fewest = min((way.datapaths for way in there), default=0)  # the logic is in datapaths
    leanest = [way.every for way in there if way.datapaths == fewest]
    found = {k: luts_of(of_joints(_at(front, k), pieces)) or 0 for k in leanest}
    best = min(found, key=lambda k: (found[k], k), default=None)
    if best is None or found[best] > (1 - SAVED) * fastest:
        return None
    note = (
        f"{often(best)}, time-multiplexed joints: the fewest LUTs, about {found[best]} in place of "
        f"{fastest}; the line to the host is slower than either. --ii says otherwise"
    )
    return Choice(FITTED, note, {"ii": best, "fold": "joints"})


def _at(front: Front, interval: int) -> Front:
    return replace(front, design=replace(front.design, ii=interval, fold="joints"))
