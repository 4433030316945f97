"""Links between a host and an accelerator: how long tasks take through each. A model, not measured.

Tasks go in, through the core and out as in a pipeline, so that the slowest of the three sets the
pace. The host's own work and its driver's are in none of these figures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class HostLink:
    """A link that carries both ways at once.

    ``rate``: bytes a second on the wire, each way, line coding taken off. ``payload``: bytes of a
    packet at most, ``overhead``: those of its head, tail and acknowledgement. ``turn``: seconds
    that a call waits besides, there and back. ``source``: of all four. ``framed``: each task and
    each result is a frame of a board's line, in a packet of its own; else tasks are 32-bit words
    and those that come together share packets.
    """

    name: str
    rate: float
    payload: int
    overhead: int
    turn: float
    source: str
    framed: bool = False

    def seconds(self, size: float) -> float:
        """The time [s] of ``size`` bytes one way, in packets as full as possible."""
        packets = math.ceil(size / self.payload)
        return (size + packets * self.overhead) / self.rate

    def each(self, size: float, tasks: int) -> float:
        """Seconds a task of ``size`` bytes one way, of so many that come together."""
        return self.seconds(size) if self.framed else self.seconds(tasks * size) / tasks

    def call(self, taken: int, given: int) -> float:
        """Seconds of a task alone: ``taken`` bytes in, ``given`` bytes out, none in the core."""
        return self.turn + self.seconds(taken) + self.seconds(given)

    def pace(self, taken: int, given: int) -> float:
        """Tasks a second, one right behind the other, both ways at a time."""
        return 1 / max(self.each(taken, 1), self.each(given, 1))


# preamble 8, Ethernet 14, IPv4 20, UDP 8, checksum 4, gap 12; the turn is an assumption
UDP = HostLink(
    "1 GbE, UDP", 125e6, 1472, 66, 30e-6, "IEEE 802.3, RFC 768; turn: assumed", framed=True
)
# Start and stop bit. An FTDI bridge passes on what came when 62 bytes are there or its latency
# timer is out: 1 ms at the least, 16 ms unless it is set (FTDI AN232B-04).
LATENCY_TIMER, DEFAULT_TIMER = 1e-3, 16e-3
UART = HostLink(
    "UART, 3 Mbaud",
    0.3e6,
    1 << 30,
    0,
    LATENCY_TIMER,
    "10 bits a byte; turn: FTDI's latency timer, set to 1 ms (AN232B-04)",
    framed=True,
)
