"""The scalars of an algorithm: sines, cosines, reciprocals, choices and region labels.

An algorithm in this package runs on whatever supports + - * : floats and arrays compute, graph
nodes trace. The few things that operators do not cover come from an ``Arithmetic``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from ..graph.node import Builder

Scalar = Any  # float, array or graph node
Vector = list[Any]  # three scalars


class Arithmetic(Protocol):
    """Sines, cosines, reciprocals, choices, and a place to say which hardware region is traced."""

    def sin(self, angle: Scalar) -> Scalar: ...

    def cos(self, angle: Scalar) -> Scalar: ...

    def recip(self, a: Scalar) -> Scalar: ...

    def select(self, condition: Scalar, negative: Scalar, otherwise: Scalar) -> Scalar: ...

    def region(self, kind: str, joint: int) -> Any: ...


class FloatScalars:
    """Arithmetic on floats and NumPy arrays; regions mean nothing."""

    sin = staticmethod(np.sin)
    cos = staticmethod(np.cos)

    @staticmethod
    def recip(a: Scalar) -> Scalar:
        return 1.0 / a

    @staticmethod
    def select(condition: Scalar, negative: Scalar, otherwise: Scalar) -> Scalar:
        return np.where(condition < 0, negative, otherwise)

    @contextmanager
    def region(self, kind: str, joint: int) -> Iterator[None]:
        yield


_: type[Arithmetic] = Builder  # a builder is an arithmetic: it traces
