"""Tasks as the packets of a folder's shell of words, and the answers that they must get."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..design.manifest import HardwareManifest
from ..shell.task_packets import Response, Status
from ..tasks.model import Specification
from ..tasks.routes import CODES
from .c_header import packet_format
from .evaluation import to_words
from .filed_design import filed_design
from .integer_model import integer_results
from .simulation import batches
from .stimulus import Traffic, inputs_of, within_limits

WORD = (1 << 32) - 1
Beats = list[int]


@dataclass(frozen=True)
class Packets:
    """Tasks and, in the same order, their answers: 32-bit beats, TLAST on the last of each.

    ``tagged``: an answer has its task's number in bits 16 to 31 of its first beat; without, answers
    come in the order of the tasks.
    """

    tasks: list[Beats]
    answers: list[Beats]
    tagged: bool


def packets_of(place: Path, entry: HardwareManifest, tasks: int, seed: int = 0) -> Packets:
    """Random tasks within the design's limits, by the integer model; errors as those of
    `filed_design`."""
    made = filed_design(place, entry)
    own = _of_core if made.is_core else _of_accelerator
    return own(made, entry, tasks, seed)


def _of_core(core: Specification, entry: HardwareManifest, tasks: int, seed: int) -> Packets:
    """A packet is a task of all functions."""
    words = to_words(core, next(batches(core, tasks, seed)))
    found, flags = integer_results(core, words)
    inputs = np.stack([words[field.name] for field in entry.ports.input.fields], axis=1)
    outputs = np.stack(list(found.values()), axis=1)
    sent = [[int(word) & WORD for word in row] for row in inputs]
    answers = [
        [*(int(word) & WORD for word in row), *_packed([bool(flag) for flag in own])]
        for row, own in zip(outputs, flags, strict=True)
    ]
    return Packets(sent, answers, tagged=False)


def _of_accelerator(made: Specification, entry: HardwareManifest, tasks: int, seed: int) -> Packets:
    """The functions in random order."""
    packets = packet_format(entry.tasks)
    traffic = Traffic(made, inputs_of(made, within_limits(made, tasks, seed)))
    sent, answers = [], []
    for tag, function in enumerate(traffic.mixed(tasks, seed)):
        code = CODES[function]
        operands = traffic.tasks[function][tag, 2:][: packets.functions[code].words_in]
        sent.append(packets.encode_task(code, tag, [int(word) for word in operands]))
        results, flags = traffic.expected[function]
        status = Status.OVERFLOW if flags[tag] else Status.OK
        words = tuple(int(word) for word in results[tag])
        answers.append(packets.encode_response(Response(code, status, tag, words)))
    return Packets(sent, answers, tagged=True)


def _packed(flags: list[bool]) -> Beats:
    """32 flags to a beat, the first in bit 0."""
    rows = (flags[at : at + 32] for at in range(0, len(flags), 32))
    return [sum(flag << k for k, flag in enumerate(row)) for row in rows]
