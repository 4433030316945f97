"""Structures of scalars that go into the steps of visits, and the steps as they are kept.

Whatever goes into a step or comes out of it is a structure of scalars: lists, tuples and
dataclasses of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from ..graph.node import Node
from ..graph.visits import Scaled, Source, Visit, VisitResult, scaled
from .units import Units

T = TypeVar("T")
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
