"""Bounds of a robot's M, as proofs take them: `rbdgen.dynamics.pivot_bounds` computes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ACCELERATIONS = 0  # the number of the column that forward dynamics solves for, see ``columns``


@dataclass(frozen=True)
class PivotBounds:
    """Bounds of a robot's M over all states.

    ``pivot[k]``: a lower bound of the articulated inertia at coordinate k, with all joints below it
    free. ``inverse[k]``: an upper bound of the entry k, k of M⁻¹. A coordinate without a bound has
    no entry. ``accelerations[k]``: an upper bound of |q̈| where efforts are inputs: they are the
    efforts of such accelerations.
    """

    pivot: Mapping[int, float] = field(default_factory=dict)
    inverse: Mapping[int, float] = field(default_factory=dict)
    accelerations: Mapping[int, float] = field(default_factory=dict)


NO_BOUNDS = PivotBounds()
