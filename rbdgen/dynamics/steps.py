"""The steps of an algorithm: a recursion says which, and a runner what becomes of them.

A recursion over a robot's joints hands each of its steps, an ordinary function of scalars, to a
runner, with the visit that the step is part of and the hardware region that it belongs to.
`Inline` runs it there and then, and the graph that is traced has no steps any more; a ``Recorder``
(``recording``) keeps it, and the visits stay: what is written once serves both.

What a recursion does beside its steps is only to say which reads of which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar

from ..graph.node import UNCOMPUTED, Node, Region
from ..graph.visits import Visit
from ..robot.model import Array
from .scalars import Arithmetic, Scalar
from .spatial import ConstantRotation, Placement

T = TypeVar("T")
SUMS = "sums"  # the region of a tree in a common frame


class Runner(Protocol):
    """An interpreter of steps: it runs or records them."""

    @property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of steps that take sines or reciprocals, one of their arguments."""

    @property
    def shares(self) -> bool:
        """Whether visits to a template that are alike will share hardware."""

    def __call__(self, visit: Visit, region: Region, step: Callable[..., T], *args: Any) -> T:
        """The results of ``step`` for ``args``. Steps of one visit follow each other."""

    def rotation(self, R: Array) -> Placement:
        """A constant rotation (3, 3), as steps have it."""

    def again(self, suffix: str) -> Runner:
        """A runner of the same recursion in another state, in regions with a ``suffix``."""

    def together(self, trees: Mapping[int, int]) -> Runner:
        """A runner with one region for each of several ``trees``: joint → the tree's first."""

    def beside(self, value: Scalar) -> Runner:
        """A runner in the region of a value, if it is computed."""


@dataclass(frozen=True)
class Inline:
    """Runs each step as it comes; ``value``: the node in whose region that is, whatever is said."""

    arithmetic: Arithmetic
    suffix: str = ""
    value: Node | None = None
    shares: bool = False

    def __call__(self, visit: Visit, region: Region, step: Callable[..., T], *args: Any) -> T:
        with self.region(*region):
            return step(*args)

    def region(self, kind: str, joint: int) -> AbstractContextManager[None]:
        """The region in which a step is traced."""
        if self.value is not None:
            return self.value.builder.in_region(self.value.region)
        found: AbstractContextManager[None] = self.arithmetic.region(kind + self.suffix, joint)
        return found

    def rotation(self, R: Array) -> Placement:
        return ConstantRotation(R)

    def again(self, suffix: str) -> Self:
        return replace(self, suffix=suffix)

    def together(self, trees: Mapping[int, int]) -> Self:
        return replace(self, arithmetic=OneRegion(self.arithmetic, trees))

    def beside(self, value: Scalar) -> Self:
        computed = isinstance(value, Node) and value.op not in UNCOMPUTED
        return replace(self, value=value) if computed else self


@dataclass(frozen=True)
class OneRegion:
    """An arithmetic that traces what is of any joint in the region of the ``first`` of its tree."""

    arithmetic: Arithmetic
    first: Mapping[int, int]

    def sin(self, angle: Scalar) -> Scalar:
        return self.arithmetic.sin(angle)

    def cos(self, angle: Scalar) -> Scalar:
        return self.arithmetic.cos(angle)

    def recip(self, a: Scalar) -> Scalar:
        return self.arithmetic.recip(a)

    def select(self, condition: Scalar, negative: Scalar, otherwise: Scalar) -> Scalar:
        return self.arithmetic.select(condition, negative, otherwise)

    def region(self, kind: str, joint: int) -> AbstractContextManager[None]:
        found: AbstractContextManager[None] = self.arithmetic.region(SUMS, self.first[joint])
        return found
