"""Times of a core alone and behind a link to its host: a model, not measured."""

from __future__ import annotations

from dataclasses import dataclass

from rbdgen.schedule.pipelined import UART, UDP, HostLink

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
