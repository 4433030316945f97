"""Storage common to an accelerator's stations: banks of words, marks, and the newest task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from amaranth.hdl import Module, Mux, Signal, Value

from ..tasks.routes import HOST, RESULT
from ..tasks.stages import Accelerator
from ..tasks.visit import StageVisit
from .core import fill
from .delay_line import BlockRam, LutRam
from .stage_wrapper import FLAG, Station, bank_layout, is_one_of, once


class Stations(Protocol):
    """An accelerator's stations, between a stream of tasks and one of results."""

    accelerator: Accelerator
    stations: dict[str, Station]
    i: Any
    o: Any
    result_width: int
    result_words: int
    made_rams: list[LutRam]


@dataclass
class Slots:
    """Every task under way has one: its place in banks and marks."""

    core: Stations
    m: Module
    task: Any = field(init=False)  # that has just come, and its slot
    words: Any = field(init=False)  # the task's
    slot: Signal = field(init=False)
    comes: Signal = field(init=False)
    leaves: Signal = field(init=False)  # a slot is free again:
    left: Signal = field(init=False)

    def __post_init__(self) -> None:
        slots = range(self.core.accelerator.slots)
        self.task = Signal(self.core.i.payload.shape(), reset_less=True)
        self.words = once(self.m, self.task.words, "words")
        self.slot, self.comes = Signal(slots, reset_less=True), Signal()
        self.left, self.leaves = Signal(slots, reset_less=True), Signal()

    @property
    def depth(self) -> int:
        """How many slots there are."""
        return self.core.accelerator.slots

    def leading(self, stage: str, to: StageVisit) -> list[tuple[str, StageVisit]]:
        """(function, visit) of every visit to ``stage`` from which tasks go ``to``."""
        accelerator = self.core.accelerator
        return [(f, v) for f, v in accelerator.visitors(stage) if to in accelerator.route(f)[v]]

    def sent(self, stage: str, to: StageVisit) -> tuple[Value, Value, Value]:
        """Whether a stage sends a task ``to`` somewhere in this cycle, its slot and function."""
        station, ways = self.core.stations[stage], self.leading(stage, to)
        whose = station.whose
        first = is_one_of(whose.function, [f for f, v in ways if not v.again])
        second = is_one_of(whose.function, [f for f, v in ways if v.again])
        sends = station.done & Mux(whose.again, second, first)
        if stage == "integrate":
            sends &= whose.finish if to == RESULT else ~whose.finish
        return sends, whose.slot, whose.function

    def mark(
        self, marks: Signal, events: list[tuple[Value, Value]], clears: list[Any] | None = None
    ) -> None:
        """A bit for each slot, cleared when a task comes there and by ``clears``, set by events."""
        for clear, slot in [(self.comes, self.slot), *(clears or [])]:
            with self.m.If(clear):
                self.m.d.sync += marks.bit_select(slot, 1).eq(0)
        for event, slot in events:
            with self.m.If(event):
                self.m.d.sync += marks.bit_select(slot, 1).eq(1)

    def bank(
        self, sender: str, fields: list[str], slot: Value, name: str, block: bool = False
    ) -> Any:
        """The words that ``sender`` gave for a slot, read from their bank; with ``block`` they
        come a cycle later."""
        m, core = self.m, self.core
        layout = bank_layout(core.accelerator, sender, fields)
        written, read = Signal(layout, name=f"{name}_written"), Signal(layout, name=f"{name}_read")
        if sender == HOST:
            write, address = self.comes, self.slot
            fill(m, written, {word: self.words[word] for word in fields})
        else:
            station = core.stations[sender]
            write, address = station.done, station.whose.slot
            words = {word: station.o[word] for word in fields}
            fill(m, written, {**words, FLAG: station.flag})
        ram = (BlockRam if block else LutRam)(layout.size, self.depth)
        core.made_rams.append(ram)
        m.submodules[f"bank_{name}"] = ram.instance(
            write=write,
            write_address=address,
            data=written.as_value(),
            read_address=slot,
            q=read.as_value(),
        )
        return read
