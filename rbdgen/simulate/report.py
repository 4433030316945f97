"""What a simulation found: of a core, and of an accelerator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..system.records import Record


@dataclass(frozen=True)
class Errors(Record):
    """Against float64: RMS over all states and entries, relative to that of the values; the
    largest error, and the same relative to the largest value."""

    relative_rms: float
    max_absolute: float
    max_relative: float


@dataclass(frozen=True)
class CoreRun(Record):
    """A core's run: ``latency``, ``initiation_interval`` [cycles]; ``overflows``: states with one.

    ``error`` is over all results, ``errors`` of each array, ``promised`` what the design was made
    for; ``calibration``: the robot whose words its registers held, unless their own.
    """

    states: int
    seed: int
    bit_exact: bool
    stalled_states: int
    latency: int
    initiation_interval: int
    overflows: int
    error: Errors
    errors: Mapping[str, Errors]
    promised: float | None
    calibration: str | None = None

    @property
    def headline(self) -> str:
        """What came of it."""
        return (
            f"{self.states} states, every bit equal, latency {self.latency}, "
            f"{self.overflows} overflows, error {self.error.relative_rms:.2e}"
        )


@dataclass(frozen=True)
class IntegerRun(Record):
    """A run of the integer model alone."""

    states: int
    latency: int
    overflows: int
    errors: Mapping[str, Errors]


@dataclass(frozen=True)
class FunctionRun(Record):
    """A function's run: ``latency`` of a task alone, a batch's ``interval`` and whole [cycles]."""

    latency: int
    interval: float
    batch_cycles: int
    overflows: int
    errors: Mapping[str, Errors]


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
        """What came of it."""
        latencies = ", ".join(f"{name} {own.latency}" for name, own in self.functions.items())
        return f"every bit and tag equal; latency {latencies}"
