"""A plan as pictures, whatever its kind: what happens when, and the hardware that does it."""

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


def architecture(plan: Plan, title: str, robot: Robot) -> str:
    """An SVG document: blocks, what lies between them, and what is shared; of limbs as above."""
    return ARCHITECTURES[type(plan).__name__](plan, title, robot.joints, plan)


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
    return PICTURES[type(plan.template).__name__](
        plan.template, *_of_limb(plan, title, joints), whole
    )


def _of_limb(plan: LimbPlan, title: str, joints: Joints) -> tuple[str, Joints]:
    """The title and the joints of the first limb."""
    title += f", one of {len(plan.limbs)} limbs"
    return title, joints[: 1 + max(joint for _, joint in plan.fire)]


def _rounds(plan: RoundPlan, title: str, joints: Joints, whole: Plan) -> str:
    from .plan_pictures import round_picture

    return round_picture(plan, title, _names(joints))


def _pipeline_blocks(plan: Pipeline, title: str, joints: Joints, whole: Plan) -> str:
    from .block_diagram import block_diagram

    return block_diagram(plan, _names(joints), title, whole)


def _fold_blocks(fold: Fold, title: str, joints: Joints, whole: Plan) -> str:
    from .shared_datapath import datapath

    return datapath(fold, title, whole)


def _limb_blocks(plan: LimbPlan, title: str, joints: Joints, whole: Plan) -> str:
    """The one limb's that is built."""
    of = ARCHITECTURES[type(plan.template).__name__]
    return of(plan.template, *_of_limb(plan, title, joints), whole)


def _round_blocks(plan: RoundPlan, title: str, joints: Joints, whole: Plan) -> str:
    from .round_diagram import round_diagram

    return round_diagram(plan, _names(joints), title)


def _names(joints: Joints) -> list[str]:
    return [joint.name for joint in joints]


# Class of a plan → its picture: of a plan, by title and joints, that is a part of the whole.
PICTURES: Mapping[str, Callable[[Any, str, Joints, Plan], str]] = {
    "Pipeline": _pipeline,
    "Fold": _fold,
    "LimbPlan": _limbs,
    "RoundPlan": _rounds,
}
# The same, as hardware.
ARCHITECTURES: Mapping[str, Callable[[Any, str, Joints, Plan], str]] = {
    "Pipeline": _pipeline_blocks,
    "Fold": _fold_blocks,
    "LimbPlan": _limb_blocks,
    "RoundPlan": _round_blocks,
}
