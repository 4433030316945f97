"""Line rates to a board: bytes and µs of a task, and tasks a second."""

from __future__ import annotations

from ..design.facts import AcceleratorFacts, BoardLine
from ..estimate.links import UART, UDP
from .contract import Contract


def board_lines(facts: AcceleratorFacts) -> dict[str, BoardLine]:
    """Function → bytes of its frames, a call and tasks a second of a serial line and Ethernet."""
    contract = Contract.of(facts)
    layouts = contract.layouts
    found = {}
    for name, function in contract.functions.items():
        frames = layouts[function.code].line_bytes
        found[name] = BoardLine(
            *frames,
            *(round(1e6 * UART.call(*frames)), round(UART.pace(*frames))),
            *(round(1e6 * UDP.call(*frames)), round(UDP.pace(*frames))),
        )
    return found
