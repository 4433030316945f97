"""Packets that no shell may take."""

from __future__ import annotations

import random

from rbdgen.rtl.axi import Packet


def malformed_packets(packet: Packet, rng: random.Random) -> list[list[int]]:
    """Every wrong length up to twice the right one and a bit more."""
    right = len(packet.beats)
    lengths = [length for length in range(1, 2 * right + 2) if length != right]
    return [[rng.getrandbits(packet.width) for _ in range(length)] for length in lengths]
