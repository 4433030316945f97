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


# 3DW head, sequence number, LCRC and framing, 20 bytes, and an acknowledgement of 8 (AMD UG962);
# of a payload of 128 bytes, which every root complex takes. A turn takes 0.85 to 1 µs (Neugebauer
# et al., SIGCOMM 2018, for Gen3 endpoints; older ones are no faster).
_PCIE = (
    "PCI Express base specification; overheads: AMD UG962; turn: Neugebauer et al., SIGCOMM 2018"
)
PCIE = (
    HostLink("PCIe Gen1 x8", 2.5e9 * 8 / 10, 128, 28, 1e-6, _PCIE),
    HostLink("PCIe Gen3 x16", 8e9 * 16 / 8 * 128 / 130, 128, 28, 1e-6, _PCIE),
)
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
LINKS = (*PCIE, UDP, UART)


@dataclass(frozen=True)
class Timing:
    """The time that a core takes: ``latency`` of a task and from one to the next, in seconds."""

    latency: float
    interval: float

    def alone(self, tasks: int) -> float:
        """Seconds for so many tasks at full rate, from the first in to the last out."""
        return self.latency + (tasks - 1) * self.interval

    def through(self, link: HostLink, taken: int, given: int, tasks: int) -> float:
        """The same through a link, of ``taken`` bytes in and ``given`` bytes out a task."""
        first = link.call(taken, given) + self.latency
        each_in, each_out = (link.each(size, tasks) for size in (taken, given))
        return first + (tasks - 1) * max(each_in, self.interval, each_out)
