"""What a task takes on the line to a board, and how many of them the line carries."""

from __future__ import annotations

from ..board.catalog import GIGABIT
from ..board.packets import BAUD, Layout
from ..design.facts import AcceleratorFacts, BoardLine
from .contract import Contract

PACKET = 66  # bytes of a packet of Ethernet around a datagram's own, the gap among them


def board_lines(facts: AcceleratorFacts) -> dict[str, BoardLine]:
    """Function → bytes of its frames, and tasks a second of a serial line and of Ethernet."""
    contract = Contract.of(facts)
    layouts = contract.layouts
    found = {}
    for name, function in contract.functions.items():
        own = layouts[function.code]
        found[name] = BoardLine(*own.line_bytes, round(serial(own, BAUD)), round(ethernet(own)))
    return found


def serial(of: Layout, baud: int) -> float:
    """Tasks a second: both ways at a time, ten bits a byte."""
    return baud / 10 / max(of.line_bytes)


def ethernet(of: Layout) -> float:
    """Tasks a second of a gigabit's wire, each way a frame in a datagram."""
    return GIGABIT / (max(of.line_bytes) + PACKET)
