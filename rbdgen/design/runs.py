"""Results of simulations: of a core, and of an accelerator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..graph.accuracy import SCALES
from ..system.records import Record
from .coordinates import CoordinateError, said, worst_at


@dataclass(frozen=True)
class CoreRun(Record):
    """A core's run: ``latency``, ``initiation_interval`` [cycles]; ``overflows``: states with one.

    ``coordinates``: the errors of each. ``promised``: the error that the design was made for;
    ``calibration``: the robot whose words its registers held, unless their own.
    """

    states: int
    seed: int
    bit_exact: bool
    stalled_states: int
    latency: int
    initiation_interval: int
    overflows: int
    promised: float | None
    coordinates: tuple[CoordinateError, ...]
    calibration: str | None = None

    @property
    def headline(self) -> str:
        """A one-line summary."""
        worst = worst_at(self.coordinates, SCALES[0])
        return (
            f"{self.states} states, every bit equal, latency {self.latency}, "
            f"{self.overflows} overflows{', ' + said(worst, SCALES[0]) if worst else ''}"
        )


@dataclass(frozen=True)
class FunctionRun(Record):
    """A function's run: ``latency`` of a task alone, a batch's ``interval`` and whole [cycles]."""

    latency: int
    interval: float
    batch_cycles: int
    overflows: int
    coordinates: tuple[CoordinateError, ...]


@dataclass(frozen=True)
class MixedRun(Record):
    """A run of tasks of all functions, in random order."""

    tasks: int
    cycles: int


@dataclass(frozen=True)
class AcceleratorRun(Record):
    """An accelerator's run: each function alone, in batches of ``batch`` tasks, and all mixed."""

    states: int
    seed: int
    bit_exact: bool
    batch: int
    functions: Mapping[str, FunctionRun]
    mixed: MixedRun
    multipliers: int
    calibration: str | None = None

    @property
    def headline(self) -> str:
        """A one-line summary."""
        latencies = ", ".join(f"{name} {own.latency}" for name, own in self.functions.items())
        return f"every bit and tag equal; latency {latencies}"
