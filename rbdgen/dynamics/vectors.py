"""Vector operations that an algorithm is written in, for any interpreter of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from . import spatial
from .scalars import Scalar, Vector
from .spatial import ZERO, Tensor, add, matvec, transposed

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
    mm = staticmethod(spatial.product)
    vc = staticmethod(spatial.cross)
    va = staticmethod(add)
    sv = staticmethod(spatial.scale)
    dot = staticmethod(spatial.dot)
    transposed = staticmethod(transposed)

    def about(self, variable: str) -> AbstractContextManager[None]:
        return nullcontext()

    def row(self, A: Tensor, k: int) -> Vector:
        return A[k]

    def along_z(self, s: Scalar) -> Vector:
        return [0.0, 0.0, s]

    def times(self, factor: float, s: Scalar) -> Scalar:
        return factor * s
