"""Slots of an accelerator's tasks: banks of words and marks, and the results that leave them.

A result that leaves frees its slot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from ..tasks.routes import CODE, HOST, RESULT, Source, StageVisit
from ..tasks.stages import TAG, Accelerator
from .core import fill, fitted
from .delay_line import BlockRam, LutRam
from .function_units import PlacedUnit
from .queues import SlotQueue
from .stage_wrapper import FLAG, Station, bank_layout, is_one_of, once


class Stations(Protocol):
    """An accelerator's stations, between a stream of tasks and one of results."""

    accelerator: Accelerator
    stations: dict[str, Station]
    i: Any
    o: Any
    result_width: int
    result_words: int
    made: list[PlacedUnit]


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
        """The number of slots."""
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
        core.made.append(ram)
        m.submodules[f"bank_{name}"] = ram.instance(
            write=write,
            write_address=address,
            data=written.as_value(),
            read_address=slot,
            q=read.as_value(),
        )
        return read


Shape = data.StructLayout


@dataclass(frozen=True)
class Retiring:
    """Picks tasks that are done, and offers their results."""

    slots: Slots

    def build(self) -> None:
        """Pick a task that is done, read its result, and free its slot."""
        m, core = self.slots.m, self.slots.core
        o, layout = core.o, Shape({"slot": self.slots.slot.shape(), "function": CODE})
        picked, found, offer = Signal(), Signal(layout, reset_less=True), Signal(layout)
        offered, accept, moves = Signal(), Signal(), Signal()
        (self._issued if core.accelerator.in_order else self._finished)(offer, offered, accept)
        m.d.comb += [moves.eq(~o.valid | o.ready), accept.eq(~picked | moves)]
        with m.If(accept):
            m.d.sync += [picked.eq(offered), found.eq(offer)]
        tag = Signal(TAG)
        ram = LutRam(TAG, self.slots.depth)
        core.made.append(ram)
        m.submodules.tags = ram.instance(
            write=self.slots.comes,
            write_address=self.slots.slot,
            data=self.slots.task.tag,
            read_address=found.slot,
            q=tag,
        )
        coming = Mux(accept, offer.slot, found.slot)  # what found.slot is a cycle later
        words, overflow = self._result(found.slot, coming, found.function)
        with m.If(moves):
            m.d.sync += [
                o.valid.eq(picked),
                o.payload.function.eq(found.function),
                o.payload.tag.eq(tag),
                o.payload.overflow.eq(overflow),
                o.payload.words.as_value().eq(
                    Cat(fitted(word, core.result_width) for word in words)
                ),
            ]
        m.d.sync += [self.slots.leaves.eq(picked & moves), self.slots.left.eq(found.slot)]

    def _issued(self, offer: Any, offered: Signal, accept: Value) -> None:
        """Offer the oldest task, when it is done."""
        m = self.slots.m
        m.submodules.order = order = SlotQueue(offer.shape(), self.slots.depth)
        self.slots.core.made.append(order.ram)
        done = Signal(self.slots.depth)
        self.slots.mark(done, [self.slots.sent(stage, RESULT)[:2] for stage in self._givers])
        m.d.comb += [
            order.push.eq(self.slots.comes),
            order.data.slot.eq(self.slots.slot),
            order.data.function.eq(self.slots.task.function),
            offer.eq(order.o.payload),
            offered.eq(order.o.valid & done.bit_select(order.o.payload.slot, 1)),
            order.o.ready.eq(offered & accept),
        ]

    def _finished(self, offer: Any, offered: Signal, accept: Value) -> None:
        """Offer tasks that are done, from each stage in turn."""
        m = self.slots.m
        queues = []
        for stage in self._givers:
            queue = SlotQueue(offer.shape(), self.slots.depth)
            m.submodules[f"done_{stage}"] = queue
            self.slots.core.made.append(queue.ram)
            push, slot, function = self.slots.sent(stage, RESULT)
            m.d.comb += [
                queue.push.eq(push),
                queue.data.slot.eq(slot),
                queue.data.function.eq(function),
            ]
            queues.append(queue)
        later = Signal(len(queues))  # those behind the last one that had its turn
        there = Cat(queue.o.valid for queue in queues)
        chosen = Signal(len(queues))
        first = Mux((there & later).any(), there & later, there)
        m.d.comb += [chosen.eq(first & -first), offered.eq(there.any())]
        for k, queue in enumerate(queues):
            m.d.comb += queue.o.ready.eq(chosen[k] & accept)
            with m.If(chosen[k]):
                m.d.comb += offer.eq(queue.o.payload)
                with m.If(accept):
                    m.d.sync += later.eq(~((2 << k) - 1))

    @property
    def _givers(self) -> list[str]:
        """The stages that complete a function."""
        return [name for name in self.slots.core.stations if self.slots.leading(name, RESULT)]

    def _result(self, slot: Value, coming: Value, function: Value) -> tuple[list[Value], Value]:
        """Words of the result of the task in a slot, and its flag; ``coming``: the next slot."""
        accelerator, banks = self.slots.core.accelerator, dict[str, Any]()
        for stage, own in accelerator.given_fields.items():
            block = accelerator.in_block_ram(stage)
            address, name = coming if block else slot, f"{stage}_to_result"
            banks[stage] = self.slots.bank(stage, own, address, name, block)
        words: list[Value] = []
        asked: dict[tuple[str, ...], Value] = {}
        for k in range(self.slots.core.result_words):
            by_place: dict[Source, list[str]] = {}
            for f, outputs in accelerator.results.items():
                if k < len(outputs):
                    by_place.setdefault(accelerator.giver(f, outputs[k]), []).append(f)
            word: Value = Const(0)
            for giver, owners in by_place.items():
                if (key := tuple(owners)) not in asked:
                    of = is_one_of(function, owners)
                    asked[key] = once(self.slots.m, of, f"result_{len(asked)}_asked")
                word = Mux(asked[key], banks[giver.stage][giver.field], word)
            words.append(once(self.slots.m, word, f"result_{k}"))
        by_stage: dict[str, list[str]] = {}
        for f in accelerator.functions:
            for stage in accelerator.flags_of(f):
                by_stage.setdefault(stage, []).append(f)
        flag = Cat(
            is_one_of(function, fs) & banks[stage][FLAG] for stage, fs in by_stage.items()
        ).any()
        return words, flag
