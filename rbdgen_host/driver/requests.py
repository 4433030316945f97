"""Requests to a back end and its answers: functions, each of many states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from rbdgen.graph.fixed import Integers

from .words import Array, Flags

TAGS = 1 << 16


@dataclass(frozen=True, eq=False)
class Tasks:
    """One function for N states: ``values`` by name, arrays or words, and a tag for each state.

    ``outside``: states with a value that its word cannot hold.
    """

    function: str
    values: Mapping[str, NDArray[Any]]
    outside: Flags
    tags: Integers


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to N tasks: arrays (N, …) by name, overflow (N,), and latency (N,) in cycles."""

    arrays: dict[str, Array]
    overflow: Flags
    latency: Integers | None = None


Run = Callable[[Sequence[Tasks]], tuple[list[Answer], int | None]]
