"""A plan as a picture, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..robot.model import Joint, Robot
from ..schedule.plan import Plan

if TYPE_CHECKING:
    from ..schedule.channels import Pipeline
    from ..schedule.fold import Fold
    from ..schedule.limbs import LimbPlan
    from ..schedule.round_plan import RoundPlan

Joints = Sequence[Joint]


def picture(plan: Plan, title: str, robot: Robot) -> str:
    """An SVG document: of limbs that are time-multiplexed, what one of them does."""
    return PICTURES[type(plan).__name__](plan, title, robot.joints, plan)


def _pipeline(plan: Pipeline, title: str, joints: Joints, whole: Plan) -> str:
    from .diagram import diagram

    return diagram(plan, _names(joints), [joint.parent for joint in joints], title, whole)


def _fold(fold: Fold, title: str, joints: Joints, whole: Plan) -> str:
    from .plan_pictures import occupancy, timeline

    if fold.interval == 1 or fold.chain is not None:  # no unit is shared
        return timeline(fold, title, _names(joints), whole)
    return occupancy(fold, title, whole)


def _limbs(plan: LimbPlan, title: str, joints: Joints, whole: Plan) -> str:
    """The first one's."""
    title += f", one of {len(plan.limbs)} limbs"
    joints = joints[: 1 + max(joint for _, joint in plan.fire)]
    return PICTURES[type(plan.template).__name__](plan.template, title, joints, whole)


def _rounds(plan: RoundPlan, title: str, joints: Joints, whole: Plan) -> str:
    from .plan_pictures import round_picture

    return round_picture(plan, title, _names(joints))


def _names(joints: Joints) -> list[str]:
    return [joint.name for joint in joints]


# Class of a plan → its picture: of a plan, by title and joints, that is a part of the whole.
PICTURES: Mapping[str, Callable[[Any, str, Joints, Plan], str]] = {
    "Pipeline": _pipeline,
    "Fold": _fold,
    "LimbPlan": _limbs,
    "RoundPlan": _rounds,
}
