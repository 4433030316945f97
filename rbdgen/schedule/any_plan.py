"""Whatever a design's datapath may be."""

from __future__ import annotations

from .channels import Plan
from .fold import Fold
from .limbs import LimbPlan
from .round_plan import RoundPlan

AnyPlan = Plan | Fold | LimbPlan | RoundPlan
