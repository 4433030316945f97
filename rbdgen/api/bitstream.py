"""The record of an accelerator on a board: bitstream, clock, cells, line rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..draw.tables import table
from ..synthesize.report import Usage
from ..system.records import Record


@dataclass(frozen=True)
class LineRate(Record):
    """Bytes of a task's and a result's frame; tasks a second of the line and of the core."""

    task_bytes: int
    result_bytes: int
    line: int
    core: int


@dataclass(frozen=True)
class BoardFacts(Record):
    """A bitstream: board, clock [MHz], sites, rates, seconds; ``reached``: seed → clock → MHz."""

    board: str
    part: str
    name: str
    identity: str
    bitstream: str
    bytes: int
    line: str
    clock: float
    reached: Mapping[str, Mapping[str, float]]
    seed: int
    usage: Mapping[str, Usage]
    functions: Mapping[str, LineRate]
    seconds: Mapping[str, float]


def as_text(facts: BoardFacts) -> str:
    """The same for people."""
    used = [
        [kind, own.used, own.available, f"{own.percent} %"] for kind, own in facts.usage.items()
    ]
    rates = [
        [name, own.task_bytes, own.result_bytes, own.line, own.core]
        for name, own in facts.functions.items()
    ]
    took = ", ".join(f"{step} {own:g} s" for step, own in facts.seconds.items())
    return "\n\n".join(
        [
            f"{facts.name} on {facts.board} ({facts.part}), {facts.clock:g} MHz",
            table(("sites", "used", "of", ""), used),
            table(("function", "bytes out", "bytes back", "line, tasks/s", "core, tasks/s"), rates),
            f"line: {facts.line}. {took}. {facts.bitstream}: {facts.bytes} bytes; it has not "
            "been run on a board by us",
        ]
    )
