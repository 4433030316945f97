"""The steps of an algorithm: a recursion says which, and a runner what becomes of them.

A recursion over a robot's joints hands each of its steps, an ordinary function of scalars, to a
runner, with the visit that the step is part of and the hardware region that it belongs to.
`Inline` runs it there and then, and the graph that is traced has no steps any more; a ``Recorder``
(``recording``) keeps it, and the visits stay: what is written once serves both.

What a recursion does beside its steps is only to say which reads of which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from ..graph.node import Region
from ..graph.visits import Visit
from ..robot.model import Array
from .scalars import Arithmetic
from .spatial import ConstantRotation, Placement

T = TypeVar("T")


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


@dataclass(frozen=True)
class Inline:
    """Runs each step as it comes."""

    arithmetic: Arithmetic
    shares: bool = False

    def __call__(self, visit: Visit, region: Region, step: Callable[..., T], *args: Any) -> T:
        with self.arithmetic.region(*region):
            return step(*args)

    def rotation(self, R: Array) -> Placement:
        return ConstantRotation(R)
