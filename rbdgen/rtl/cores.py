"""The hardware of a plan, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..schedule.channels import Pipeline
from ..schedule.fold import Fold
from ..schedule.limbs import LimbPlan
from ..schedule.plan import Plan
from ..schedule.round_plan import RoundPlan
from .core import RtlCore
from .folded import Folded
from .limbs import LIMB, SharedLimbs
from .round_trip import RoundTrip
from .rounds import InRounds


def core_of(plan: Plan, name: str | None = None, *, sticky: bool = True) -> RtlCore:
    """The hardware of ``plan``; ``name`` as in `RoundTrip`, ``sticky`` as in `RtlCore`."""
    return CORES[type(plan)](plan, name, sticky)


def _limbs(plan: LimbPlan, name: str | None, sticky: bool) -> RtlCore:
    limb = core_of(plan.template, f"{name}_{LIMB}" if name else None, sticky=False)
    return SharedLimbs(plan, limb, name, sticky=sticky)


# Kind of plan → its hardware, by plan, name and whether it has sticky flags.
CORES: Mapping[type, Callable[[Any, str | None, bool], RtlCore]] = {
    Pipeline: lambda plan, name, sticky: RoundTrip(plan, name, sticky=sticky),
    Fold: lambda plan, name, sticky: Folded(plan, sticky=sticky),
    LimbPlan: _limbs,
    RoundPlan: lambda plan, name, sticky: InRounds(plan, sticky=sticky),
}
