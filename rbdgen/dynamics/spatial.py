"""Three-vectors and 3×3 tensors over any scalar, turned with as few multiplications as possible.

Numbers, arrays and nodes of a graph are such scalars.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .scalars import Scalar, Vector

Tensor = list[Vector]  # three rows; what is symmetric holds the same scalar twice
Wrench = tuple[Vector, Vector]  # force, moment
Twist = tuple[Vector, Vector]  # angular, linear

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


def dot(a: Vector, b: Vector) -> Scalar:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def wrench_sum(a: Wrench, b: Wrench) -> Wrench:
    return add(a[0], b[0]), add(a[1], b[1])


def wrench_difference(a: Wrench, b: Wrench) -> Wrench:
    return sub(a[0], b[0]), sub(a[1], b[1])


def scale(factor: Scalar, v: Vector) -> Vector:
    return [factor * x for x in v]


def outer(a: Vector, b: Vector) -> Tensor:
    return [[x * y for y in b] for x in a]


def tensor_sum(A: Tensor, B: Tensor) -> Tensor:
    return [add(a, b) for a, b in zip(A, B, strict=True)]


def skew(v: Vector) -> Tensor:
    """The tensor of v ×."""
    return [[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]]


def transposed(T: Tensor) -> Tensor:
    return [list(column) for column in zip(*T, strict=True)]


def symmetric(T: Tensor) -> Tensor:
    """The upper triangle of T, mirrored."""
    return [[T[min(i, j)][max(i, j)] for j in range(3)] for i in range(3)]


def is_zero(v: Vector) -> bool:
    """Whether every entry is zero, whatever the state."""
    return all(is_constant(x) and value_of(x) == 0 for x in v)


def matvec(M: list[Vector], v: Vector) -> Vector:
    return [row[0] * v[0] + row[1] * v[1] + row[2] * v[2] for row in M]


def product(A: Tensor, B: Tensor) -> Tensor:
    """A B."""
    columns = transposed(B)
    return [[dot(row, column) for column in columns] for row in A]


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

    def tensor(self, T: Tensor) -> Tensor:
        """Rz T Rzᵀ. The xy part turns by twice the angle, but for its mean and its skew part;
        the xz and yz parts turn as vectors do."""
        mean, skewed = (T[0][0] + T[1][1]) * 0.5, (T[0][1] - T[1][0]) * 0.5
        half, mixed = (T[0][0] - T[1][1]) * 0.5, (T[0][1] + T[1][0]) * 0.5
        half, mixed, _ = self.twice.forward([half, mixed, 0.0])
        column, row = self.forward([T[0][2], T[1][2], 0.0]), self.forward([*T[2][:2], 0.0])
        return [
            [mean + half, mixed + skewed, column[0]],
            [mixed - skewed, mean - half, column[1]],
            [row[0], row[1], T[2][2]],
        ]

    @property
    def twice(self) -> Turn:
        """The turn by twice the angle."""
        s = 2.0 * self.sin
        # sin 2q = 2 s c,   cos 2q = 1 - 2 s²
        return Turn(1.0 - s * self.sin, s * self.cos, self.multiplications)

    def _product(self, s: Scalar, x: Scalar, y: Scalar) -> Vector:
        """(c + js)(x + jy) as [real, imaginary]."""
        c = self.cos
        if self.multiplications == 4 or any(is_constant(t) for t in (c, s, x, y)):
            return [c * x - s * y, s * x + c * y]
        # real = c (x + y) - (c + s) y,  imaginary = c (x + y) - (c - s) x
        shared = c * (x + y)
        return [shared - (c + s) * y, shared - (c - s) * x]


@dataclass(frozen=True)
class TurnX:
    """A turn about x by an angle given as (cos, sin), constants or not."""

    cos: Scalar
    sin: Scalar

    def forward(self, v: Vector) -> Vector:
        """Rx v."""
        y, z, _ = Turn(self.cos, self.sin).forward([v[1], v[2], 0.0])
        return [v[0], y, z]

    def back(self, v: Vector) -> Vector:
        """Rxᵀ v."""
        y, z, _ = Turn(self.cos, self.sin).back([v[1], v[2], 0.0])
        return [v[0], y, z]

    def tensor(self, T: Tensor) -> Tensor:
        """Rx T Rxᵀ: about z with the axes renamed."""
        renamed = [[T[i][j] for j in (1, 2, 0)] for i in (1, 2, 0)]
        renamed = Turn(self.cos, self.sin).tensor(renamed)
        return [[renamed[i][j] for j in (2, 0, 1)] for i in (2, 0, 1)]


@dataclass(frozen=True)
class TurnZX:
    """Rz Rx, a turn about z that may be none."""

    about_z: Turn
    about_x: TurnX

    def forward(self, v: Vector) -> Vector:
        """Rz Rx v."""
        return self.about_z.forward(self.about_x.forward(v))

    def back(self, v: Vector) -> Vector:
        """(Rz Rx)ᵀ v."""
        return self.about_x.back(self.about_z.back(v))

    def tensor(self, T: Tensor) -> Tensor:
        """Rz Rx T (Rz Rx)ᵀ."""
        T = self.about_x.tensor(T)
        return T if is_zero([self.about_z.sin, self.about_z.cos - 1.0]) else self.about_z.tensor(T)


def is_nothing(x: Scalar) -> bool:
    """Whether ``x`` is the number 0: no array, and no scalar of a graph or a program."""
    return isinstance(x, float) and x == 0


def is_constant(x: Scalar) -> bool:
    """Whether ``x`` is a plain number or a graph constant: products with it are no hardware."""
    return isinstance(x, (float, int)) or getattr(getattr(x, "op", None), "value", "") == "const"


def value_of(constant: Scalar) -> float:
    """The number that a constant is (``is_constant``)."""
    return float(constant if isinstance(constant, (float, int)) else constant.value)


@dataclass(frozen=True)
class Rotation:
    """Any rotation, as the nine entries of its matrix."""

    matrix: Tensor

    @classmethod
    def of_quaternion(cls, quaternion: Vector) -> Rotation:
        """The rotation of a unit quaternion (x, y, z, w): 1 + 2 w v̂ + 2 v̂²."""
        x, y, z, w = quaternion
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
        wx, wy, wz = w * x, w * y, w * z
        return cls(
            [
                [1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)],
                [2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx)],
                [2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)],
            ]
        )

    def forward(self, v: Vector) -> Vector:
        """R v."""
        return matvec(self.matrix, v)

    def back(self, v: Vector) -> Vector:
        """Rᵀ v."""
        return matvec(transposed(self.matrix), v)

    def tensor(self, T: Tensor) -> Tensor:
        """R T Rᵀ."""
        half = transposed([self.forward(column) for column in transposed(T)])
        turned = [self.forward(row) for row in half]
        if all(T[i][j] is T[j][i] for i in range(3) for j in range(i)):
            turned = symmetric(turned)
        return turned


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

    def tensor(self, T: Tensor) -> Tensor:
        """R T Rᵀ."""
        for factor in reversed(self._factors()):
            T = _constant_turn(factor, T)
        return T

    def _factors(self) -> list[np.ndarray]:
        R = self.matrix
        if _cost(R) <= 4 or differs(R[2, 0], 0.0, 1e-12):
            return [R]
        # R = Rz(γ) Rx(α): the first column is (cos γ, sin γ, 0), the last row (0, sin α, cos α)
        cg, sg, sa, ca = R[0, 0], R[1, 0], R[2, 1], R[2, 2]
        gamma = np.array([[cg, -sg, 0], [sg, cg, 0], [0, 0, 1.0]])
        alpha = np.array([[1.0, 0, 0], [0, ca, -sa], [0, sa, ca]])
        return [gamma, alpha]


def _constant_turn(R: np.ndarray, T: Tensor) -> Tensor:
    """R T Rᵀ, by twice the angle where R is a turn about x or z."""
    if R[2, 2] == 1:
        return Turn(*R[:2, 0].tolist()).tensor(T)
    if R[0, 0] == 1:
        return TurnX(*R[1:, 1].tolist()).tensor(T)
    return Rotation(R.tolist()).tensor(T)


def _cost(matrix: np.ndarray) -> int:
    return sum(1 for x in matrix.flat if not is_constant(x) or is_multiplied(value_of(x)))


def is_multiplied(x: float) -> bool:
    """Whether products with a constant are more than shifts."""
    return x != 0 and math.frexp(abs(x))[0] != 0.5


def differs(x: Scalar, value: float, noise: float) -> bool:
    """Whether a number is another one than ``value``, as what is no constant may be."""
    return not is_constant(x) or abs(value_of(x) - value) > noise


Placement = ConstantRotation | TurnZX | Rotation  # a constant rotation, as steps have it


Value = Any  # an interpreter's scalar, vector (3,) or matrix (3, 3)
Run = Callable[..., Any]  # as a `Runner` is called


class Operations(Protocol):
    """The vector operations of which an algorithm is written."""

    still: Value  # the vector of zeros

    def about(self, variable: str) -> AbstractContextManager[None]:
        """A context that names the paper's variable computed within it."""

    def mv(self, A: Value, x: Value) -> Value:
        """Matrix times vector."""

    def mm(self, A: Value, B: Value) -> Value:
        """Matrix times matrix."""

    def vc(self, a: Value, b: Value) -> Value:
        """Cross product."""

    def va(self, a: Value, b: Value) -> Value:
        """Sum of vectors."""

    def sv(self, s: Value, x: Value) -> Value:
        """Scalar times vector."""

    def dot(self, a: Value, b: Value) -> Value:
        """Dot product."""

    def transposed(self, A: Value) -> Value:
        """Aᵀ, which costs nothing."""

    def row(self, A: Value, k: int) -> Value:
        """Aᵀ e_k, which costs nothing."""

    def along_z(self, s: Value) -> Value:
        """The vector (0, 0, s)."""

    def times(self, factor: float, s: Value) -> Value:
        """A scalar times what a joint makes of its coordinate, which no table counts."""


@dataclass(frozen=True)
class Scalars:
    """Operations on vectors of three scalars: numbers or graph nodes."""

    still = ZERO
    mv = staticmethod(matvec)
    mm = staticmethod(product)
    vc = staticmethod(cross)
    va = staticmethod(add)
    sv = staticmethod(scale)
    dot = staticmethod(dot)
    transposed = staticmethod(transposed)

    def about(self, variable: str) -> AbstractContextManager[None]:
        return nullcontext()

    def row(self, A: Tensor, k: int) -> Vector:
        return A[k]

    def along_z(self, s: Scalar) -> Vector:
        return [0.0, 0.0, s]

    def times(self, factor: float, s: Scalar) -> Scalar:
        return factor * s
