"""A back end, requests to it and its answers: functions, each of many states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.design.design import Design
from rbdgen.robot.model import Robot

from .words import Array, Flags

if TYPE_CHECKING:
    from rbdgen.api.native_programs import NativeProgram
    from rbdgen.graph.fixed import Integers

    from .coder import Coder
    from .registers import ProgramRegisters, Registers

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


@dataclass(frozen=True, eq=False)
class Backend:
    """``run`` answers batches together, and says how many cycles that took, if it knows.

    ``coder`` makes words of the arrays; None where arrays are what ``run`` takes. Of a back end of
    compiled programs ``programs`` has function → what computes it, and what others give besides
    where `TOGETHER` says so, and ``joint`` makes the one of all functions. ``registers``: of a
    design for all robots of a model, where the back end can write them. ``notes``: of the design.
    """

    design: Design
    robot: Robot
    coder: Coder | None
    run: Run
    programs: Mapping[str, NativeProgram] = field(default_factory=dict)
    joint: Callable[[], NativeProgram] | None = None
    registers: Registers | ProgramRegisters | None = None
    notes: tuple[str, ...] = ()

    def values(
        self, function: str, arrays: Mapping[str, Array], saturate: bool
    ) -> tuple[Mapping[str, NDArray[Any]], Flags]:
        """The values that ``run`` takes for checked arrays, and which states have one too large.

        InputError for the first such value unless ``saturate``.
        """
        if self.coder is None:
            return arrays, np.zeros(len(arrays["q"]), np.bool_)
        return self.coder.words(function, arrays, saturate)
