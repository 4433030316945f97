# amaranth: UnusedElaboratable=no
"""The hardware of a plan, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..schedule.plan import Plan
from .core import RtlCore

if TYPE_CHECKING:
    from ..schedule.channels import Pipeline
    from ..schedule.fold import Fold
    from ..schedule.limbs import LimbPlan
    from ..schedule.round_plan import RoundPlan


def core_of(plan: Plan, name: str | None = None, *, sticky: bool = True) -> RtlCore:
    """The hardware of ``plan``; ``name`` as in `RoundTrip`, ``sticky`` as in `RtlCore`."""
    return CORES[type(plan).__name__](plan, name, sticky)


def _pipeline(plan: Pipeline, name: str | None, sticky: bool) -> RtlCore:
    from .round_trip import RoundTrip

    return RoundTrip(plan, name, sticky=sticky)


def _fold(plan: Fold, name: str | None, sticky: bool) -> RtlCore:
    from .folded import Folded

    return Folded(plan, sticky=sticky)


def _limbs(plan: LimbPlan, name: str | None, sticky: bool) -> RtlCore:
    from .limbs import LIMB, SharedLimbs

    limb = core_of(plan.template, f"{name}_{LIMB}" if name else None, sticky=False)
    return SharedLimbs(plan, limb, name, sticky=sticky)


def _rounds(plan: RoundPlan, name: str | None, sticky: bool) -> RtlCore:
    from .rounds import InRounds

    return InRounds(plan, sticky=sticky)


# Class of a plan → its hardware, by plan, name and whether it has sticky flags.
CORES: Mapping[str, Callable[[Any, str | None, bool], RtlCore]] = {
    "Pipeline": _pipeline,
    "Fold": _fold,
    "LimbPlan": _limbs,
    "RoundPlan": _rounds,
}
