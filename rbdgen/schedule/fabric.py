"""A part's small memories and fan-out: sizes that schedules, areas and hardware share."""

from __future__ import annotations

from .channels import Channel

BANK = 16  # words of one LUT-RAM
LONGEST_RING = BANK + 1  # cycles that a value waits in a LUT-RAM and the register behind it
ADDRESSED = 200  # bits of memory that one copy of an address reaches
READ = 72  # the same of an address that is read at: every bit is a load, not every fourth
LOADS = 400  # registers that one copy of a phase's bit enables


def capacity(channel: Channel) -> int:
    """Tokens the channel has room for: what the schedule asks for, in whole LUT-RAMs."""
    return -(-channel.depth // BANK) * BANK
