"""The steps of an algorithm: a recursion says which, and a runner what becomes of them.

A recursion over a robot's joints hands each of its steps, an ordinary function of scalars, to a
runner, with the visit that the step is part of and the hardware region that it belongs to.
`Inline` runs it there and then, and the graph that is traced has no steps any more; a ``Recorder``
(``recording``) keeps it, and the visits stay: what is written once serves both.

What a recursion does beside its steps is only to say which reads of which.

Structures of scalars that go into the steps of visits, and the steps as they are kept.

Whatever goes into a step or comes out of it is a structure of scalars: lists, tuples and
dataclasses of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, Protocol, Self, TypeVar

from ..graph.node import UNCOMPUTED, Node, Region
from ..graph.visits import Scaled, Source, Visit, VisitResult, scaled
from ..robot.model import Array
from .scalars import Arithmetic, Scalar
from .spatial import ConstantRotation, Placement
from .units import Units

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


FIXED = (bool, int, str, Enum, Units, type(None))  # what is the same in all visits to a template


@dataclass(frozen=True)
class TaskInput:
    """An input of the task, by its name."""

    name: str


def times(leaf: Any, by: float) -> Any:
    """A word of the task, or an output, times a power of two."""
    return scaled(source_of(leaf), by) if by != 1 else leaf


def in_units(value: T, by: float) -> T:
    """A structure of scalars times a power of two, as a visit in other units reads it."""
    if by == 1:
        return value
    read: T = mapped(value, lambda _, leaf: times(leaf, by))
    return read


class Here:
    """The arithmetic of whichever template a step is traced in."""


HERE: Any = Here()
Leaf = float | TaskInput | VisitResult | Scaled | Node | Here
LEAVES = (
    float,
    TaskInput,
    VisitResult,
    Scaled,
    Node,
    Here,
)  # as isinstance is fast, asked a million times
Place = tuple[int, str]  # which of a visit's steps, and where among its arguments


@dataclass(frozen=True, eq=False)
class Kept:
    """A step of a visit, and what it takes: structures of constants, `TaskInput` and `VisitResult`.

    ``results``: name → what it is of the inputs, which `input_name` has the names of.
    """

    step: Callable[..., Any]
    args: tuple[Any, ...]
    results: Mapping[str, Node]

    def shape(self, own: Visit) -> list[Any]:
        """The same for all visits to a template: functions, structure, what is its own result."""
        found: list[Any] = [self.step]

        def note(path: str, leaf: Leaf) -> Leaf:
            own_result = leaf.name if isinstance(leaf, VisitResult) and leaf.visit == own else ""
            found.append((path, own_result))
            return leaf

        mapped(self.args, note, found.append)
        return found


def source_of(leaf: Any) -> Source:
    """Where a visit finds a scalar that it takes."""
    if isinstance(leaf, TaskInput):
        return leaf.name
    return leaf if isinstance(leaf, VisitResult | Scaled) else float(leaf)


def input_name(path: str, leaf: Leaf) -> str:
    """A leaf that is taken twice is one input; of numbers it is not known."""
    return path if isinstance(leaf, float) else repr(leaf)


def name_of(number: int, step: Callable[..., Any], path: str) -> str:
    """The name of a result, by its place in what a visit's step ``number`` gives."""
    return f"{step.__name__.strip('_')}{number}{path}"


def mapped(
    value: Any,
    leaf: Callable[[str, Any], Any],
    fixed: Callable[[Any], Any] = lambda _: None,
    path: str = "",
) -> Any:
    """A structure with ``leaf`` of each scalar's path and the scalar in its place.

    ``fixed`` is shown all that is no scalar.
    """
    if isinstance(value, LEAVES):
        return leaf(path, value)
    if isinstance(value, list | tuple):
        fixed((type(value), len(value)))
        found = [mapped(x, leaf, fixed, f"{path}.{k}") for k, x in enumerate(value)]
        return found if isinstance(value, list) else tuple(found)
    if isinstance(value, FIXED):
        fixed(value)
        return value
    if is_dataclass(value) and not isinstance(value, type):
        fixed(type(value))
        own = {
            f.name: mapped(getattr(value, f.name), leaf, fixed, f"{path}.{f.name}")
            for f in fields(value)
        }
        return replace(value, **own)
    raise TypeError(f"no structure of scalars: {type(value).__name__}")
