"""What a robot's joints feel, as proofs take it: `rbdgen.dynamics.felt` finds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ACCELERATIONS = 0  # the number of the column that forward dynamics solves for, see ``columns``


@dataclass(frozen=True)
class Felt:
    """What is known of a robot's M in every state.

    ``pivot[k]``: the inertia that coordinate k feels where all below it is free, at least.
    ``inverse[k]``: the entry k, k of M⁻¹, at most. Of coordinates of which nothing is known there
    is no entry. ``accelerations[k]``: what q̈ is, at most, where efforts come in: they are those
    that such accelerations take.
    """

    pivot: Mapping[int, float] = field(default_factory=dict)
    inverse: Mapping[int, float] = field(default_factory=dict)
    accelerations: Mapping[int, float] = field(default_factory=dict)


UNFELT = Felt()
