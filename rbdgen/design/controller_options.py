"""The options of controllers, which close a loop around a function of the robot."""

from __future__ import annotations

from dataclasses import dataclass

from . import checks
from .choices import CONTROLLERS, KNOTS, MOST_KNOTS
from .option import COMPUTED, option


@dataclass(frozen=True)
class ControllerOptions:
    """Which controller, and how far it looks."""

    controller: str = option(
        "none",
        checks.OneOf(*CONTROLLERS),
        "program in place of functions: none (default); ilqr, model predictive control by "
        "differential dynamic programming whose input is qdd, one header of C++ (--to cpp)",
        commands=(),
    )
    knots: int = option(
        KNOTS,
        checks.whole(1, MOST_KNOTS, "steps", unset=False),
        f"steps that --controller ilqr looks ahead (default: {KNOTS})",
        COMPUTED,
        commands=("generate",),
        line={"metavar": "N"},
    )
