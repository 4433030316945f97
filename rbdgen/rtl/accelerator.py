# amaranth: UnusedElaboratable=no
"""The accelerator: stages around banks in which every task under way has its slot.

A task that comes gets a slot, and keeps it until its result has left. Whatever a stage gives is
written to the banks of those that read it, under the task's slot; queues of slots say who is next.
So nothing inside ever waits for room: a stage fires when its operands are there, and tasks overtake
each other, come back to a stage, or wait for one another without a word being moved. (Dadu-RBD
sends the words of ΔFD through a feedback module; here only the slot goes back.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..tasks.routes import CODE, HOST, ROLLOUTS, STEPS, StageVisit, parse
from ..tasks.stages import COUNT, TAG, Accelerator
from .core import FIRST, WORD, WRITE, register_ports
from .delay_line import LutRam
from .function_units import PlacedUnit
from .queues import SlotQueue
from .slots import Retiring, Slots
from .stage_wrapper import TURNS, Station, is_one_of

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
        self.result_width, self.result_words = accelerator.result_width, accelerator.result_words
        words = Shape({word: signed(width) for word, width in accelerator.words.items()})
        results = data.ArrayLayout(signed(self.result_width), self.result_words)
        head = {"function": CODE, "tag": TAG}
        chain = max((stage.fixed.chain for stage in stages.values()), default=0)
        ports = {
            "i": In(stream.Signature(Shape({**head, "words": words}))),
            "o": Out(stream.Signature(Shape({**head, "overflow": 1, "words": results}))),
        }
        self.held = [own for own in self.stations if stages[own].fixed.parameters]
        super().__init__(ports | register_ports(chain) if self.held else ports)
        self.made: list[PlacedUnit] = []

    @property
    def parts(self) -> Mapping[str, wiring.Component]:
        """Modules to be written apart from this one, by name."""
        found: dict[str, wiring.Component] = {}
        for own, station in self.stations.items():
            found[own] = station.core
            found |= {f"{own}_{k}": part for k, part in station.core.parts.items()}
        return found

    @property
    def placed(self) -> list[PlacedUnit]:
        """Every instance of a unit; known once all parts have been elaborated."""
        stations = self.stations.values()
        return [*self.made, *(u for s in stations for u in (s.beside.ram, *s.core.placed))]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for own, station in self.stations.items():
            m.submodules[own] = station
        _Wiring(Slots(self, m)).build()
        if self.held:
            self._write_registers(m)
        return m

    def _write_registers(self, m: Module) -> None:
        """One chain through all stages that have registers: the last one's is written first."""
        word = getattr(self, WORD)
        for own in reversed(self.held):
            station = self.stations[own]
            m.d.comb += [
                getattr(station, WORD).eq(word),
                getattr(station, WRITE).eq(getattr(self, WRITE)),
            ]
            word = getattr(station, FIRST)
        m.d.comb += getattr(self, FIRST).eq(word)


@dataclass(frozen=True)
class _Wiring:
    """Queues between the stations."""

    slots: Slots

    def build(self) -> None:
        self._admit()
        for name in self.slots.core.stations:
            self._feed(name)
        Retiring(self.slots).build()

    def _admit(self) -> None:
        """Give a slot to each task that comes: first those that nobody had, then those left."""
        m, i = self.slots.m, self.slots.core.i
        m.submodules.free = free = SlotQueue(self.slots.left.shape(), self.slots.depth)
        self.slots.core.made.append(free.ram)
        fresh, awake = Signal(range(self.slots.depth + 1)), Signal()
        used = fresh[-1]  # all of them
        take = Signal()
        m.d.comb += [
            i.ready.eq(awake & (~used | free.o.valid)),
            take.eq(i.valid & i.ready),
            free.o.ready.eq(take & used),
            free.push.eq(self.slots.leaves),
            free.data.eq(self.slots.left),
        ]
        m.d.sync += [awake.eq(1), self.slots.comes.eq(take)]
        with m.If(take):
            m.d.sync += [
                self.slots.task.eq(i.payload),
                self.slots.slot.eq(Mux(used, free.o.payload, fresh)),
            ]
            m.d.sync += fresh.eq(fresh + ~used)

    def _feed(self, name: str) -> None:
        """Connect a station: the queues of its tasks, and the banks of its operands."""
        m, station = self.slots.m, self.slots.core.stations[name]
        visits = dict.fromkeys(v for _, v in self.slots.core.accelerator.visitors(name))
        # who comes back goes first, so that its slot is soon free
        ordered = sorted(visits, key=lambda visit: visit.again, reverse=True)
        heads = [queue for visit in ordered for queue in self._queues(visit)]
        offered = Signal(station.task)
        valid, gate = Signal(), Signal()
        m.d.comb += valid.eq(Cat(head.o.valid for head in heads).any())
        before: Value = Const(0)  # whether a queue that goes first offers one
        for head in heads:
            with m.If(head.o.valid & ~before):
                m.d.comb += offered.eq(head.o.payload)
            m.d.comb += head.o.ready.eq(station.i.ready & gate & ~before)
            before = before | head.o.valid
        taken = station.i.valid & station.i.ready
        passed = self._passed(name, offered.slot, taken)
        accelerator = self.slots.core.accelerator
        if accelerator.waits_for_words(name):
            looked, last = Signal(name=f"looked_{name}"), Signal.like(offered)
            m.d.sync += [looked.eq(valid & passed & ~taken), last.eq(offered)]
            passed &= looked & (last.as_value() == offered.as_value())
        m.d.comb += [
            gate.eq(passed),
            station.i.valid.eq(valid & gate),
            *(station.i.payload[key].eq(offered[key]) for key in ("slot", "function", "again")),
        ]
        for sender, fields in station.senders.items():
            block = (sender, name) in accelerator.blocks
            read = self.slots.bank(sender, fields, offered.slot, f"{sender}_to_{name}", block)
            m.d.comb += station.read[sender].eq(read)
        if name == "integrate":
            self._count_turns(station)

    def _count_turns(self, station: Station) -> None:
        """Tell `integrate` where a rollout is; it keeps the next turn under the task's slot."""
        m, task, done = self.slots.m, station.i.payload, station.whose
        begun = Signal(self.slots.depth)
        self.slots.mark(begun, [(station.done, done.slot)])
        layout = Shape({key: TURNS[key] for key in ("phase", "left")})
        kept, next_turn = Signal(layout), Signal(layout)
        ram = LutRam(layout.size, self.slots.depth)
        self.slots.core.made.append(ram)
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

    def _queues(self, visit: StageVisit) -> list[SlotQueue]:
        """Tasks on their way to a visit: a queue for each place that they may come from."""
        core, accelerator = self.slots.core, self.slots.core.accelerator
        sent = {a: self.slots.sent(a, visit) for a in core.stations if self.slots.leading(a, visit)}
        at_once = [f for f in accelerator.functions if visit in accelerator.entries(f)]
        if at_once:
            function = self.slots.task.function
            sent[HOST] = self.slots.comes & is_one_of(function, at_once), self.slots.slot, function
        queues = []
        for sender, (push, slot, function) in sent.items():
            queue = SlotQueue(core.stations[visit.stage].task, self.slots.depth)
            self.slots.m.submodules[f"queue_{visit}_from_{sender}"] = queue
            core.made.append(queue.ram)
            self.slots.m.d.comb += [
                queue.push.eq(push),
                queue.data.slot.eq(slot),
                queue.data.function.eq(function),
                queue.data.again.eq(visit.again),
            ]
            queues.append(queue)
        return queues

    def _passed(self, name: str, slot: Value, taken: Value) -> Value:
        """Whether the task in a slot has left all that ``name`` waits for besides.

        ``taken``: whether ``name`` takes it; a part of the same step is waited for at each visit.
        """
        stations, found = self.slots.core.stations, list[Value]()
        for waits in self.slots.core.accelerator.waits.get(name, ()):
            if waits not in stations:
                continue
            passed = Signal(self.slots.depth, name=f"passed_{waits}_for_{name}")
            again = [(taken, slot)] if parse(waits).step == parse(name).step else []
            if "integrate" in stations:  # it will go there once more
                integrate = stations["integrate"]
                again.append((integrate.done, integrate.whose.slot))
            self.slots.mark(passed, [(stations[waits].done, stations[waits].whose.slot)], again)
            found.append(passed.bit_select(slot, 1))
        return Cat(found).all() if len(found) > 1 else found[0] if found else Const(1)
