"""The record of a controller's loop, and its report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..draw.tables import table
from ..system.records import Record
from .results import Report
from .ticked_loop import Tripped


@dataclass(frozen=True)
class JointLoop(Record):
    """A joint in the loop: RMS of q − q_ref [rad or m], the most that its q is apart from that of
    the loop in float64 [rad or m], RMS of the steps of τ from tick to tick, in words and in float64
    [N·m or N]. ``off``: None where the law follows no reference."""

    name: str
    off: float | None
    apart: float
    step: float
    step_float: float


@dataclass(frozen=True)
class LoopFacts(Record):
    """A loop of ``ticks`` at ``rate`` [1/s], every bit of which was the integer model's.

    ``cycles``: the fewest and the most from a tick's task to its result; ``overflows``: ticks with
    one. ``late``: ticks from reading to driving. ``link``: whose origin is ``off`` and ``apart``
    [m], as the joints are. What the law does not know: ``load`` [kg] and ``push`` [N] on that link,
    ``noise`` [rad or m, rad/s or m/s]. ``dropped``: from when to when no commands came [s];
    ``trips``: both of a controller with ticks.
    """

    controller: str
    rate: float
    ticks: int
    late: int
    seed: int
    bit_exact: bool
    cycles: tuple[int, ...]
    overflows: int
    link: str
    off: float | None
    apart: float
    load: float
    push: float
    noise: tuple[float, ...]
    joints: tuple[JointLoop, ...]
    dropped: tuple[float, ...] | None = None
    trips: tuple[Tripped, ...] | None = None

    @property
    def unknown(self) -> str:
        """Disturbances that the law does not know, in words; empty without any."""
        given = {
            f"{self.load:g} kg on {self.link}": self.load,
            f"a push of {self.push:g} N on {self.link}": self.push,
            f"noise of {self.noise[0]:g} in q and {self.noise[1]:g} in q̇": max(self.noise),
            f"efforts that come {self.late} tick{'s' * (self.late > 1)} late": self.late,
        }
        return ", ".join(words for words, size in given.items() if size)


class Loop(Report[LoopFacts]):
    """The result of `loop`."""

    def __init__(self, facts: LoopFacts, chart: Path) -> None:
        super().__init__(facts)
        self._chart = chart

    def headline(self) -> str:
        own = self.facts
        return (
            f"{own.ticks} ticks at {own.rate:g} Hz, every bit equal, {own.link} at most "
            f"{1e6 * own.apart:.3g} µm from float64's loop"
        )

    def as_text(self) -> str:
        own = self.facts
        cycles = " to ".join(str(k) for k in dict.fromkeys(own.cycles))
        off = "" if own.off is None else f"off its path by {1e6 * own.off:.4g} µm (RMS), "
        rows = [
            [
                joint.name,
                "-" if joint.off is None else f"{joint.off:.3g}",
                f"{joint.apart:.2g}",
                f"{joint.step:.3g}",
                f"{joint.step_float:.3g}",
            ]
            for joint in own.joints
        ]
        head = ("joint", "off, RMS [rad, m]", "apart, at most", "step of τ [N·m, N]", "float64's")
        return "\n".join(
            [
                f"{own.controller}: {own.ticks} ticks at {own.rate:g} Hz, "
                f"{cycles} cycles each, every bit equal to the integer model; "
                f"{own.overflows} overflows",
                *([f"the law does not know of {own.unknown}"] if own.unknown else []),
                *_lines(own),
                f"{own.link}: {off}apart from the same loop in float64 by "
                f"{1e6 * own.apart:.3g} µm at most",
                "",
                table(head, rows),
                "",
                f"picture: {self._chart}",
            ]
        )

    def picture(self) -> Path | None:
        return self._chart


def _lines(own: LoopFacts) -> list[str]:
    """Lines on the commands that were dropped, and on the watchdog."""
    lines = []
    if own.dropped:
        lines.append("no commands from {:.4f} s to {:.4f} s".format(*own.dropped))
    if own.trips is not None:
        lines.append("the watchdog " + ("; ".join(map(str, own.trips)) or "did not trip"))
    return lines
