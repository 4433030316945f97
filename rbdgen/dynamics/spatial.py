"""Three-vectors over any scalar, and turns about z with as few multiplications as possible."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .scalars import Scalar, Vector

ZERO: Vector = [0.0, 0.0, 0.0]


def add(a: Vector, b: Vector) -> Vector:
    return [x + y for x, y in zip(a, b, strict=True)]


def sub(a: Vector, b: Vector) -> Vector:
    return [x - y for x, y in zip(a, b, strict=True)]


def cross(a: Vector, b: Vector) -> Vector:
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def matvec(M: list[Vector], v: Vector) -> Vector:
    return [row[0] * v[0] + row[1] * v[1] + row[2] * v[2] for row in M]


@dataclass(frozen=True)
class Turn:
    """A turn about z by an angle given as (cos, sin).

    A turn of (x, y) is a complex product: four multiplications and two additions, or three and
    three once cos + sin and cos - sin are at hand, which all turns by the same angle share.
    """

    cos: Scalar
    sin: Scalar
    multiplications: int = 4

    def forward(self, v: Vector) -> Vector:
        """Rz v: from the turned frame to the frame it turned from."""
        return [*self._product(self.sin, v[0], v[1]), v[2]]

    def back(self, v: Vector) -> Vector:
        """Rzᵀ v: into the turned frame."""
        return [*self._product(-self.sin, v[0], v[1]), v[2]]

    def _product(self, s: Scalar, x: Scalar, y: Scalar) -> Vector:
        """(c + js)(x + jy) as [real, imaginary]."""
        c = self.cos
        if self.multiplications == 4 or any(is_constant(t) for t in (c, s, x, y)):
            return [c * x - s * y, s * x + c * y]
        # real = c (x + y) - (c + s) y,  imaginary = c (x + y) - (c - s) x
        shared = c * (x + y)
        return [shared - (c + s) * y, shared - (c - s) * x]


def is_constant(x: Scalar) -> bool:
    """Whether ``x`` is a plain number or a graph constant: products with it are no hardware."""
    return isinstance(x, (float, int)) or getattr(getattr(x, "op", None), "value", "") == "const"


@dataclass(frozen=True)
class ConstantRotation:
    """A constant rotation, kept as Rz(γ) Rx(α) where that form multiplies less."""

    matrix: np.ndarray

    def forward(self, v: Vector) -> Vector:
        """R v."""
        for factor in reversed(self._factors()):
            v = matvec(factor.tolist(), v)
        return v

    def back(self, v: Vector) -> Vector:
        """Rᵀ v."""
        for factor in self._factors():
            v = matvec(factor.T.tolist(), v)
        return v

    def _factors(self) -> list[np.ndarray]:
        R = self.matrix
        if _cost(R) <= 4 or abs(R[2, 0]) > 1e-12:
            return [R]
        # R = Rz(γ) Rx(α): the first column is (cos γ, sin γ, 0), the last row (0, sin α, cos α)
        cg, sg, sa, ca = R[0, 0], R[1, 0], R[2, 1], R[2, 2]
        gamma = np.array([[cg, -sg, 0], [sg, cg, 0], [0, 0, 1.0]])
        alpha = np.array([[1.0, 0, 0], [0, ca, -sa], [0, sa, ca]])
        return [gamma, alpha]


def _cost(matrix: np.ndarray) -> int:
    return sum(1 for x in matrix.flat if x != 0 and math.frexp(abs(x))[0] != 0.5)
