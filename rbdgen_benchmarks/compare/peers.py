"""Published designs of others: each number with its source, M measured or P published.

A cycle is one of the peer's own clock. Nothing of this is computed here.

A design in a comparison: its figures, and how many times better it is than another's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rbdgen.design.clock import ClockEstimate
from rbdgen.system.records import Record

# What Robomorphic and RoboShape compute: RNEA and its gradients, then M⁻¹ times them. The host
# gives sines, cosines and M⁻¹; there is no gravity.
CONVENTIONS: Mapping[str, Any] = {
    "functions": ("did", "difd"),
    "angles": "sincos",
    "gravity": (0.0, 0.0, 0.0),
}
GRADIENTS = ("did", "difd")  # functions that peers' hardware is compared in


@dataclass(frozen=True)
class Peer:
    """One accelerator for one robot.

    ``latency``: cycles from start to done. ``interval``: cycles from task to task, the least and
    the most that the source allows. ``clock``: MHz. ``dsp``: DSP48E2. None: not published.
    What is inferred, not published, says so in ``note``.
    ``source``: of all the figures. ``note``: what to know when comparing.
    """

    name: str
    robot: str
    latency: int
    interval: tuple[float, float] | None
    clock: float | None
    dsp: int | None
    source: str
    note: str = ""


# Dadu-RBD publishes no interval. Its throughput is 6.3 to 7.0 times (P, section VI-A) that of the
# FPGA of Plancher et al., which is RoboShape's predecessor: the least interval follows if that one
# took a task every 24 of its cycles, which RoboShape's RTL allows, the most if it took one after
# the other, 34 cycles each, as its text says (RA-L 2021, section IV-C).
DADU_CLOCK = 125.0  # MHz, P


FASTER_THAN_RA_L = (7.0, 6.3)


PREDECESSOR = (24, 34)  # cycles of 18 ns from task to task


def _inferred() -> tuple[float, float]:
    """Dadu-RBD's interval in its own cycles, to a tenth."""
    least, most = (
        round(18e-3 * cycles * DADU_CLOCK / faster, 1)
        for cycles, faster in zip(PREDECESSOR, FASTER_THAN_RA_L, strict=True)
    )
    return least, most


CYCLES_ONLY = "published, ISCA 2023: cycles within a VCU118"


ROBOSHAPE_CLOCK = 1e3 / 18  # MHz: 18 ns


PEERS = (
    Peer(
        "RoboShape",
        "iiwa14",
        34,  # M: its RTL, simulated: 24 forward, 8 backward, 2 for the product with M⁻¹
        (24, 24),  # M: nothing is pipelined within a processing element
        ROBOSHAPE_CLOCK,  # P: Robomorphic, ASPLOS 2021
        5925,  # P: its own model, ISCA 2023
        "its RTL, simulated; DSP: its own model, ISCA 2023; clock: Robomorphic, ASPLOS 2021",
        "32-bit words; 5925 DSP48E2 are its own model's; Yosys maps its RTL to 11312, four a "
        "product; its predecessor took 5301 in Vivado (RA-L 2021: 77.5 % of the part)",
    ),
    # P: of these no more is said than the cycles
    Peer("RoboShape", "hyq", 57, None, None, None, CYCLES_ONLY),
    Peer("RoboShape", "baxter", 73, None, None, None, CYCLES_ONLY),
    Peer("RoboShape", "jaco2", 84, None, None, None, CYCLES_ONLY),
    Peer("RoboShape", "jaco3", 115, None, None, None, CYCLES_ONLY),
    Peer("RoboShape", "hyq_arm", 90, None, None, None, CYCLES_ONLY),
    Peer(
        "Dadu-RBD",
        "iiwa14",
        95,  # P: 0.76 µs
        _inferred(),
        DADU_CLOCK,
        4240,  # P: 62 % of an XCVU9P's 6840; that it is of iiwa is inferred
        "published, MICRO 2023: an XCVU9P",
        "its text gives no word width and no interval; the interval is inferred from its ratio to "
        "another FPGA (one number: at its best); 4240 DSP (62 %) are for its seven functions "
        "together, and of iiwa only by inference",
    ),
)


# M: Pinocchio 4.1 in C++ (-O3, AVX-512) on one core, ns a call, median.
# Robot → our name of the function → ns.
PINOCCHIO: Mapping[str, Mapping[str, float]] = {
    "iiwa14": {"id": 674, "m": 353, "fd": 1485, "minv": 969, "did": 2415, "dfd": 3410},
    "hyq": {"id": 1103, "m": 526, "fd": 2427, "minv": 1560, "did": 3704, "dfd": 5200},
    "baxter": {"id": 1412, "m": 740, "fd": 3131, "minv": 2164, "did": 5012, "dfd": 7230},
}


NOTES = (
    "DRACO (arXiv 2511.08395, 2025) claims up to 8 times the throughput and 7.4 times less latency "
    "than Dadu-RBD and RoboShape; its cycles and DSP of one function are not at hand.",
    "GRiD (ICRA 2022) is GPU code: up to 7.6 times a multi-threaded CPU, 2.6 times with "
    "input and output.",
)


@dataclass(frozen=True)
class Line(Record):
    """A design: cycles of latency, cycles from task to task (least, most), MHz, DSP.

    None where nobody says; ``clock_of``: where the clock comes from. ``estimated``: the range that
    an estimated one is in, at a speed grade; None of others.
    """

    LAST: ClassVar[tuple[str, ...]] = (
        *("evaluations_per_clock", "evaluations_per_clock_and_dsp"),
        *("latency_us", "evaluations_per_us"),
    )

    name: str
    latency: int
    interval: tuple[float, float] | None
    clock: float | None
    clock_of: str
    dsp: int | None
    estimated: ClockEstimate | None = field(default=None, kw_only=True)

    @property
    def evaluations_per_clock(self) -> float | None:
        """The best rate: one evaluation in the shortest interval."""
        return 1 / self.interval[0] if self.interval else None

    @property
    def evaluations_per_clock_and_dsp(self) -> float | None:
        """The best rate for each DSP."""
        rate = self.evaluations_per_clock
        return rate / self.dsp if rate and self.dsp else None

    @property
    def latency_us(self) -> float | None:
        """The latency in µs."""
        return self.latency / self.clock if self.clock else None

    @property
    def evaluations_per_us(self) -> float | None:
        """The best rate in million evaluations a second."""
        rate = self.evaluations_per_clock
        return rate * self.clock if rate and self.clock else None


@dataclass(frozen=True)
class Theirs(Line):
    """A peer's design, and where it is described."""

    LAST = (*Line.LAST, "source", "note")

    source: str
    note: str


@dataclass(frozen=True)
class Ratios(Record):
    """How many times better than a peer: evaluations a clock, the same for each DSP, cycles."""

    evaluations_per_clock: float | None
    evaluations_per_clock_and_dsp: float | None
    latency: float | None


@dataclass(frozen=True)
class Ours(Line):
    """A design of ours, and how many times better it is than each peer, by name."""

    LAST = (*Line.LAST, "relative")

    relative: Mapping[str, Ratios]
