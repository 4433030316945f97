"""The accelerator: stages around banks in which every task under way has its slot.

A task that comes gets a slot, and keeps it until its result has left. Whatever a stage gives is
written to the banks of those that read it, under the task's slot; queues of slots say who is next.
So nothing inside ever waits for room: a stage fires when its operands are there, and tasks overtake
each other, come back to a stage, or wait for one another without a word being moved. (Dadu-RBD
sends the words of ΔFD through a feedback module; here only the slot goes back.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..accelerator.routes import AGAIN, HOST, RESULT, ROLLOUTS, STEPS, WAITS, stage_of
from ..accelerator.stages import COUNT, TAG, Accelerator
from .lut_ram import LutRam
from .multiplier import Multiplier
from .reciprocal import ReciprocalUnit
from .sincos import SinCosUnit
from .slot_queue import SlotQueue
from .station import FLAG, FUNCTION, TURNS, Station, bank_layout, is_one_of

Shape = data.StructLayout


class AcceleratorCore(wiring.Component):
    """Functions of a robot behind two streams, each task with its function and a tag.

    ``i``: ``function`` (a code of `CODES`, one that there is), ``tag``, and ``words``, of which a
    function takes the first so many (`Accelerator.formats`). ``o``: the same function and tag,
    whether anything ``overflow``-ed in the stages that the task visited, and ``words``, of which
    a function gives the first so many (`Accelerator.result_formats`), sign-extended.
    Results of one function come in the order of its tasks; those of several as they finish, or
    with ``in_order`` as the tasks came. Either side may stall at any time.
    """

    def __init__(self, accelerator: Accelerator, name: str | None = None) -> None:
        self.accelerator, self.name = accelerator, name
        stages = accelerator.stages
        self.stations = {
            own: Station(accelerator, stage, f"{name}_{own}" if name else None)
            for own, stage in stages.items()
        }
        self.result_width = max(
            f.width for formats in accelerator.result_formats.values() for f in formats.values()
        )
        self.result_words = max(map(len, accelerator.results.values()))
        words = Shape({word: signed(width) for word, width in accelerator.words.items()})
        results = data.ArrayLayout(signed(self.result_width), self.result_words)
        head = {"function": FUNCTION, "tag": TAG}
        super().__init__(
            {
                "i": In(stream.Signature(Shape({**head, "words": words}))),
                "o": Out(stream.Signature(Shape({**head, "overflow": 1, "words": results}))),
            }
        )
        self.made_rams: list[LutRam] = []

    @property
    def parts(self) -> Mapping[str, wiring.Component]:
        """Modules to be written apart from this one, by name."""
        found: dict[str, wiring.Component] = {}
        for own, station in self.stations.items():
            found[own] = station.core
            found |= {f"{own}_{k}": part for k, part in station.core.parts.items()}
        return found

    @property
    def multipliers(self) -> list[Multiplier]:
        """Every multiplier instance; known once all parts have been elaborated."""
        return [unit for s in self.stations.values() for unit in s.core.multipliers]

    @property
    def table_units(self) -> list[SinCosUnit | ReciprocalUnit]:
        """Every sine and reciprocal instance; known once all parts have been elaborated."""
        return [unit for s in self.stations.values() for unit in s.core.table_units]

    @property
    def rams(self) -> list[LutRam]:
        """Every memory instance; known once all parts have been elaborated."""
        own = [s.beside.ram for s in self.stations.values()]
        return [*self.made_rams, *own, *(r for s in self.stations.values() for r in s.core.rams)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for own, station in self.stations.items():
            m.submodules[own] = station
        _Wiring(self, m).build()
        return m


@dataclass
class _Wiring:
    """Banks and queues between the stations."""

    core: AcceleratorCore
    m: Module
    task: Any = field(init=False)  # that has just come, and its slot
    slot: Signal = field(init=False)
    comes: Signal = field(init=False)
    leaves: Signal = field(init=False)  # a slot is free again:
    left: Signal = field(init=False)

    def __post_init__(self) -> None:
        slots = range(self.core.accelerator.slots)
        self.task = Signal(self.core.i.payload.shape(), reset_less=True)
        self.slot, self.comes = Signal(slots, reset_less=True), Signal()
        self.left, self.leaves = Signal(slots, reset_less=True), Signal()

    def build(self) -> None:
        self._admit()
        for name in self.core.stations:
            self._feed(name)
        self._retire()

    def _admit(self) -> None:
        """Give a slot to each task that comes: first those that nobody had, then those left."""
        m, i = self.m, self.core.i
        m.submodules.free = free = SlotQueue(self.left.shape(), self._slots)
        self.core.made_rams.append(free.ram)
        fresh, awake = Signal(range(self._slots + 1)), Signal()
        used = fresh[-1]  # all of them
        take = Signal()
        m.d.comb += [
            i.ready.eq(awake & (~used | free.o.valid)),
            take.eq(i.valid & i.ready),
            free.o.ready.eq(take & used),
            free.push.eq(self.leaves),
            free.data.eq(self.left),
        ]
        m.d.sync += [awake.eq(1), self.comes.eq(take)]
        with m.If(take):
            m.d.sync += [self.task.eq(i.payload), self.slot.eq(Mux(used, free.o.payload, fresh))]
            m.d.sync += fresh.eq(fresh + ~used)

    @property
    def _slots(self) -> int:
        return self.core.accelerator.slots

    def _feed(self, name: str) -> None:
        """Connect a station: the queues of its tasks, and the banks of its operands."""
        m, station = self.m, self.core.stations[name]
        visits = dict.fromkeys(v for _, v in self.core.accelerator.visitors(name))
        # who comes back goes first, so that its slot is soon free
        heads = [q for v in sorted(visits, key=len, reverse=True) for q in self._queues(v)]
        offered = Signal(station.task)
        valid, gate = Signal(), Signal()
        m.d.comb += valid.eq(Cat(head.o.valid for head in heads).any())
        before: Value = Const(0)  # whether a queue that goes first offers one
        for head in heads:
            with m.If(head.o.valid & ~before):
                m.d.comb += offered.eq(head.o.payload)
            m.d.comb += head.o.ready.eq(station.i.ready & gate & ~before)
            before = before | head.o.valid
        m.d.comb += [
            gate.eq(self._passed(name, offered.slot)),
            station.i.valid.eq(valid & gate),
            *(station.i.payload[key].eq(offered[key]) for key in ("slot", "function", "again")),
        ]
        for sender, fields in station.senders.items():
            read = self._bank(sender, fields, offered.slot, f"{sender}_to_{name}")
            m.d.comb += station.read[sender].eq(read)
        if name == "integrate":
            self._count_turns(station)

    def _count_turns(self, station: Station) -> None:
        """Tell `integrate` where a rollout is; it keeps the next turn under the task's slot."""
        m, task, done = self.m, station.i.payload, station.whose
        begun = Signal(self._slots)
        self._mark(begun, [(station.done, done.slot)])
        layout = Shape({key: TURNS[key] for key in ("phase", "left")})
        kept, next_turn = Signal(layout), Signal(layout)
        ram = LutRam(layout.size, self._slots)
        self.core.made_rams.append(ram)
        m.submodules.turns = ram.instance(
            write=station.done,
            write_address=done.slot,
            data=next_turn.as_value(),
            read_address=task.slot,
            q=kept.as_value(),
        )
        again = begun.bit_select(task.slot, 1)
        phase = Mux(again, kept.phase, 0)
        left = Mux(again, kept.left, station.read[HOST][STEPS][:COUNT])
        m.d.comb += [
            task.again.eq(again),
            task.phase.eq(phase),
            task.left.eq(left),
            task.finish.eq(self._ends(task.function, phase) & (left <= 1)),
            next_turn.phase.eq(Mux(self._ends(done.function, done.phase), 0, done.phase + 1)),
            next_turn.left.eq(done.left - self._ends(done.function, done.phase)),
        ]

    @staticmethod
    def _ends(function: Value, phase: Value) -> Value:
        """Whether a step of a rollout ends with this turn."""
        return Cat(
            is_one_of(function, [name]) & (phase == turns - 1) for name, turns in ROLLOUTS.items()
        ).any()

    def _queues(self, visit: str) -> list[SlotQueue]:
        """Tasks on their way to a visit: a queue for each place that they may come from."""
        core, accelerator = self.core, self.core.accelerator
        sent = {a: self._sent(a, visit) for a in core.stations if self._leading(a, visit)}
        at_once = [f for f in accelerator.functions if visit in accelerator.entries(f)]
        if at_once:
            function = self.task.function
            sent[HOST] = self.comes & is_one_of(function, at_once), self.slot, function
        queues = []
        for sender, (push, slot, function) in sent.items():
            queue = SlotQueue(core.stations[stage_of(visit)].task, self._slots)
            self.m.submodules[f"queue_{visit}_from_{sender}"] = queue
            core.made_rams.append(queue.ram)
            self.m.d.comb += [
                queue.push.eq(push),
                queue.data.slot.eq(slot),
                queue.data.function.eq(function),
                queue.data.again.eq(visit.endswith(AGAIN)),
            ]
            queues.append(queue)
        return queues

    def _leading(self, stage: str, to: str) -> list[tuple[str, str]]:
        """(function, visit) of every visit to ``stage`` from which tasks go ``to``."""
        accelerator = self.core.accelerator
        return [(f, v) for f, v in accelerator.visitors(stage) if to in accelerator.route(f)[v]]

    def _sent(self, stage: str, to: str) -> tuple[Value, Value, Value]:
        """Whether a stage sends a task ``to`` somewhere in this cycle, its slot and function."""
        station, ways = self.core.stations[stage], self._leading(stage, to)
        whose = station.whose
        first = is_one_of(whose.function, [f for f, v in ways if not v.endswith(AGAIN)])
        second = is_one_of(whose.function, [f for f, v in ways if v.endswith(AGAIN)])
        sends = station.done & Mux(whose.again, second, first)
        if stage == "integrate":
            sends &= whose.finish if to == RESULT else ~whose.finish
        return sends, whose.slot, whose.function

    def _passed(self, name: str, slot: Value) -> Value:
        """Whether the task in a slot has left what ``name`` waits for besides."""
        waits = WAITS.get(name)
        if waits not in self.core.stations:
            return Const(1)
        passed = Signal(self._slots, name=f"passed_{waits}_for_{name}")
        stations = self.core.stations
        comes_back = []
        if "integrate" in stations:  # it will go there once more
            integrate = stations["integrate"]
            comes_back.append((integrate.done, integrate.whose.slot))
        self._mark(passed, [(stations[waits].done, stations[waits].whose.slot)], comes_back)
        return passed.bit_select(slot, 1)

    def _mark(
        self, marks: Signal, events: list[tuple[Value, Value]], clears: list[Any] | None = None
    ) -> None:
        """A bit for each slot, cleared when a task comes there and by ``clears``, set by events."""
        for clear, slot in [(self.comes, self.slot), *(clears or [])]:
            with self.m.If(clear):
                self.m.d.sync += marks.bit_select(slot, 1).eq(0)
        for event, slot in events:
            with self.m.If(event):
                self.m.d.sync += marks.bit_select(slot, 1).eq(1)

    def _bank(self, sender: str, fields: list[str], slot: Value, name: str) -> Any:
        """What ``sender`` gave for a slot."""
        m, core = self.m, self.core
        layout = bank_layout(core.accelerator, sender, fields)
        written, read = Signal(layout, name=f"{name}_written"), Signal(layout, name=f"{name}_read")
        if sender == HOST:
            write, address = self.comes, self.slot
            m.d.comb += [written[word].eq(self.task.words[word]) for word in fields]
        else:
            station = core.stations[sender]
            write, address = station.done, station.whose.slot
            m.d.comb += [written[word].eq(station.o[word]) for word in fields]
            m.d.comb += written[FLAG].eq(station.flag)
        ram = LutRam(layout.size, self._slots)
        core.made_rams.append(ram)
        m.submodules[f"bank_{name}"] = ram.instance(
            write=write,
            write_address=address,
            data=written.as_value(),
            read_address=slot,
            q=read.as_value(),
        )
        return read

    def _retire(self) -> None:
        """Pick a task that is done, read its result, and free its slot."""
        m, core = self.m, self.core
        o, layout = core.o, Shape({"slot": self.slot.shape(), "function": FUNCTION})
        picked, found, offer = Signal(), Signal(layout, reset_less=True), Signal(layout)
        offered, accept, moves = Signal(), Signal(), Signal()
        (self._issued if core.accelerator.in_order else self._finished)(offer, offered, accept)
        m.d.comb += [moves.eq(~o.valid | o.ready), accept.eq(~picked | moves)]
        with m.If(accept):
            m.d.sync += [picked.eq(offered), found.eq(offer)]
        tag = Signal(TAG)
        ram = LutRam(TAG, self._slots)
        core.made_rams.append(ram)
        m.submodules.tags = ram.instance(
            write=self.comes,
            write_address=self.slot,
            data=self.task.tag,
            read_address=found.slot,
            q=tag,
        )
        words, overflow = self._result(found.slot, found.function)
        with m.If(moves):
            m.d.sync += [
                o.valid.eq(picked),
                o.payload.function.eq(found.function),
                o.payload.tag.eq(tag),
                o.payload.overflow.eq(overflow),
                *(o.payload.words[k].eq(word) for k, word in enumerate(words)),
            ]
        m.d.sync += [self.leaves.eq(picked & moves), self.left.eq(found.slot)]

    def _issued(self, offer: Any, offered: Signal, accept: Value) -> None:
        """Offer the oldest task, when it is done."""
        m = self.m
        m.submodules.order = order = SlotQueue(offer.shape(), self._slots)
        self.core.made_rams.append(order.ram)
        done = Signal(self._slots)
        self._mark(done, [self._sent(stage, RESULT)[:2] for stage in self._givers])
        m.d.comb += [
            order.push.eq(self.comes),
            order.data.slot.eq(self.slot),
            order.data.function.eq(self.task.function),
            offer.eq(order.o.payload),
            offered.eq(order.o.valid & done.bit_select(order.o.payload.slot, 1)),
            order.o.ready.eq(offered & accept),
        ]

    def _finished(self, offer: Any, offered: Signal, accept: Value) -> None:
        """Offer tasks that are done, from each stage in turn."""
        m = self.m
        queues = []
        for stage in self._givers:
            queue = SlotQueue(offer.shape(), self._slots)
            m.submodules[f"done_{stage}"] = queue
            self.core.made_rams.append(queue.ram)
            push, slot, function = self._sent(stage, RESULT)
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
        return [name for name in self.core.stations if self._leading(name, RESULT)]

    def _result(self, slot: Value, function: Value) -> tuple[list[Value], Value]:
        """Words of the result of the task in a slot, and its flag."""
        accelerator = self.core.accelerator
        fields: dict[str, dict[str, None]] = {}
        for f, outputs in accelerator.results.items():
            fields.setdefault(accelerator.last(f), {})
            for output in outputs:
                fields.setdefault(accelerator.giver(f, output), {})[output] = None
        banks = {s: self._bank(s, list(own), slot, f"{s}_to_result") for s, own in fields.items()}
        words: list[Value] = []
        for k in range(self.core.result_words):
            by_place: dict[tuple[str, str], list[str]] = {}
            for f, outputs in accelerator.results.items():
                if k < len(outputs):
                    at = accelerator.giver(f, outputs[k]), outputs[k]
                    by_place.setdefault(at, []).append(f)
            word: Value = Const(0)
            for (stage, output), owners in by_place.items():
                read = banks[stage][output]
                word = Mux(is_one_of(function, owners), read, word)
            words.append(word)
        by_stage: dict[str, list[str]] = {}
        for f in accelerator.functions:
            by_stage.setdefault(accelerator.last(f), []).append(f)
        flag = Cat(
            is_one_of(function, fs) & banks[stage][FLAG] for stage, fs in by_stage.items()
        ).any()
        return words, flag
