"""Packets that no shell may take, and what the bench of a shell of several functions is told."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from rbdgen.shell.axi import Packet
from rbdgen.shell.task_packets import FORMAT_VERSION, MAX_FUNCTIONS, PacketFormat, TaskFunction
from rbdgen.shell.task_registers import MAGIC, STICKY, register_table


def malformed_packets(packet: Packet, rng: random.Random) -> list[list[int]]:
    """Every wrong length up to twice the right one and a bit more."""
    right = len(packet.beats)
    lengths = [length for length in range(1, 2 * right + 2) if length != right]
    return [[rng.getrandbits(packet.width) for _ in range(length)] for length in lengths]


def packet_format(manifest: Mapping[str, Any], lanes: int = 1) -> PacketFormat:
    """The packets of an accelerator, by its manifest."""
    entry = manifest["tasks"]
    functions = {
        own["code"]: TaskFunction(name, len(own["inputs"]), len(own["outputs"]))
        for name, own in entry["functions"].items()
    }
    return PacketFormat(functions, tuple(word["width"] for word in entry["words"]), lanes)


def malformed_tasks(packets: PacketFormat, rng: random.Random) -> list[list[int]]:
    """Everything that can be wrong with a task: function, options, length, and two at once."""
    bits = 32 * packets.lanes

    def packet(function: int, options: int, length: int) -> list[int]:
        beats = [rng.getrandbits(bits) for _ in range(length)]
        beats[0] = beats[0] >> 16 << 16 | options << 8 | function
        return beats

    made = []
    for code in packets.functions:
        right = packets.task_beats(code)
        lengths = {1, right - 1, right + 1, right + 2, 2 * right, 3 * right + 40} - {0, right}
        made += [packet(code, 0, length) for length in sorted(lengths)]
        made += [packet(code, 1 << rng.randrange(8), length) for length in (1, right, right + 1)]
        made.append(packet(code | 1 << rng.randrange(4, 8), 0, right))
    for absent in {*range(17), 128, MAX_FUNCTIONS - 1} - packets.functions.keys():
        made += [packet(absent, 0, 1), packet(absent, rng.getrandbits(8), rng.randrange(2, 50))]
    return made


def task_scenario(
    packets: PacketFormat,
    identity: int,
    tasks: Sequence[Sequence[int]],
    answers: Sequence[Sequence[int]],
    tags: Sequence[int],
    rng: random.Random,
) -> dict[str, Any]:
    """What sim/task_bench.py reads, but rates and times; malformed packets take ``tags``."""
    malformed = malformed_tasks(packets, rng)
    assert len(malformed) <= len(tags)
    for beats, tag in zip(malformed, tags, strict=False):
        beats[0] = beats[0] & ~(0xFFFF << 16) | tag << 16
    return {
        "packets": tasks,
        "answers": answers,
        "malformed": malformed,
        "refusals": [packets.refuse(beats) for beats in malformed],
        "registers": {r.name: r.offset for r in register_table(packets.functions)},
        "identity": {
            "magic": MAGIC,
            "format": FORMAT_VERSION,
            "identity_low": identity & 0xFFFFFFFF,
            "identity_high": identity >> 32,
            "functions": sum(1 << code for code in packets.functions),
            "lanes": packets.lanes,
        },
        "results": {code: f"results_{f.name}" for code, f in packets.functions.items()},
        "sticky": {int(status): bit.position for status, bit in STICKY.items()},
    }
