"""The masses of bodies: the robot's constants and, for one body, a payload as an input.

A payload comes as mass, first moment and inertia about its link's origin. Dynamics are linear in
these ten: no two of them are multiplied, and none divides. So they are added to their body's
constants before anything is multiplied by either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..graph.node import Region
from ..robot.model import Inertia, Transform
from ..robot.variations import ENTRIES
from .repeated import loading
from .scalars import Scalar, Vector
from .spatial import (
    Placement,
    Tensor,
    add,
    dot,
    is_constant,
    outer,
    scale,
    symmetric,
    tensor_sum,
    transposed,
)
from .steps import Runner


@dataclass(frozen=True)
class Mass:
    """Mass [kg], first moment h [kg m] and inertia J [kg m²] about the origin of a frame."""

    m: Scalar
    h: Vector
    J: Tensor

    @classmethod
    def of(cls, inertia: Inertia) -> Mass:
        return cls(inertia.mass, inertia.h.tolist(), inertia.J.tolist())

    def times(self, by: float) -> Mass:
        """Scaled by a factor."""
        if by == 1:
            return self
        return Mass(by * self.m, scale(by, self.h), [scale(by, row) for row in self.J])

    @property
    def is_known(self) -> bool:
        """Whether all of it is constant."""
        return all(is_constant(x) for x in (self.m, *self.h, *(x for row in self.J for x in row)))

    @property
    def half(self) -> Scalar:
        """½ tr J."""
        return 0.5 * (self.J[0][0] + self.J[1][1] + self.J[2][2])

    def second_moments(self) -> Tensor:
        """Σ = ½ tr(J) 1 - J = ∫x xᵀ dm."""
        half = self.half
        return [
            [half - x if i == j else 0.0 - x for j, x in enumerate(row)]
            for i, row in enumerate(self.J)
        ]


@dataclass(frozen=True)
class Payload:
    """Ten words of a payload, and where its link's frame is in that of its body."""

    words: Vector
    pose: Transform


def loaded(own: Mass, words: Vector, R: Placement, r: Vector) -> Mass:
    """A body with a payload, in whose frame the payload's is turned by R and lies at ``r``."""
    other = _seen_from(words, R, r)
    return Mass(own.m + other.m, add(own.h, other.h), symmetric(tensor_sum(own.J, other.J)))


def mass_of(
    run: Runner, region: Region, inertia: Inertia, i: int, payload: Mapping[int, Payload]
) -> Mass:
    """The mass, first moment and inertia of body ``i``, with its payload."""
    own = Mass.of(inertia)
    if i not in payload:
        return own
    words, pose = payload[i].words, payload[i].pose
    R, r = run.rotation(pose.rotation), pose.translation.tolist()
    return run(loading(i), region, loaded, own, words, R, r)


def _seen_from(words: Vector, R: Placement, r: Vector) -> Mass:
    m, h, J = words[0], R.forward(words[1:4]), [[0.0] * 3 for _ in range(3)]
    for (i, j), entry in zip(ENTRIES, words[4:], strict=True):
        J[i][j] = J[j][i] = entry
    # R J Rᵀ + 2 (h·r) 1 - h rᵀ - r hᵀ + m (r·r 1 - r rᵀ)
    about = add(h, scale(0.5 * m, r))
    across, along = outer(about, r), 2.0 * dot(about, r)
    moved = tensor_sum(across, transposed(across))
    J = [
        [x + ((along if i == j else 0.0) - y) for j, (x, y) in enumerate(zip(own, of, strict=True))]
        for i, (own, of) in enumerate(zip(R.tensor(J), moved, strict=True))
    ]
    return Mass(m, add(h, scale(m, r)), symmetric(J))
