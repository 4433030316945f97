"""The phase that a folded datapath is in, as one-hot bits with few loads each.

The core of a fold: one static datapath, in which every operation has its phase.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value, signed

from ..design.target import Style
from ..graph.graph import operands
from ..graph.node import Node, Op
from ..schedule.difference_constraints import BANK, LOADS, LONGEST_RING, READ
from ..schedule.fold import LOGIC_PORT, Fold, job_operands
from ..schedule.units import Job, UnitKind, job, nodes_of
from .arithmetic import Copies, copy_for, later, next_count
from .core import RtlCore
from .delay_line import LutRam, whole_address
from .function_units import PlacedUnit
from .queues import NOT_SHARED, ChannelFifo
from .units import UNIT, Operand, Ports, Site, operand_of, overflow_of

COPIES = 24  # that follow one relay


class Phases:
    """Counts 0 to ``interval`` - 1, over and over, from 0 in the first cycle after reset.

    What users get are copies, registers behind relays, which are registers that follow one ring of
    master bits: no net has many ends, however large the datapath is.
    """

    def __init__(self, m: Module, interval: int) -> None:
        self._m, self.interval = m, interval
        self._ring = Signal(interval, init=1, name="phases", attrs=NOT_SHARED)
        m.d.sync += self._ring.eq(self._ring.rotate_left(1))
        self._relays: Copies[int, Signal] = {}  # by the phase in which they are set
        self._copies: Copies[int, Signal] = {}
        self._made = 0

    def copy(self, phases: Iterable[int]) -> Signal:
        """A register of the caller's own: set in these phases."""
        among = {p % self.interval for p in phases}
        before = Cat(self._relay((p - 1) % self.interval) for p in sorted(among))
        return self._register(f"phase_copy_{self._made}", 0 in among, before.any())

    def _relay(self, phase: int) -> Signal:
        """A register set in ``phase``, for one more copy."""
        before = self._ring[(phase - 1) % self.interval]

        def relay() -> Signal:
            return self._register(f"phase_relay_{self._made}", phase == 0, before)

        return copy_for(self._relays, phase, 1, COPIES, relay)

    def _register(self, name: str, init: bool, value: Value) -> Signal:
        self._made += 1
        register = Signal(init=int(init), name=name, attrs=NOT_SHARED)
        self._m.d.sync += register.eq(value)
        return register

    def bit(self, phase: int, loads: int) -> Signal:
        """A register set in ``phase``, shared by users with so many loads each."""
        phase %= self.interval
        return copy_for(self._copies, phase, loads, LOADS, lambda: self.copy([phase]))

    def enable(self, m: Module, phase: int, register: Signal, value: Value) -> None:
        """``register`` takes ``value`` at the end of every cycle of ``phase``."""
        if self.interval == 1:
            m.d.sync += register.eq(value)
            return
        with m.If(self.bit(phase, len(register))):
            m.d.sync += register.eq(value)

    def select(self, choices: Mapping[int, tuple[Any, Value]], width: int) -> Value:
        """(``width``,) the value of the phase that it is; ``choices``: phase → its name, itself.

        AND-OR of one-hot bits: two values fill a LUT, with no decoding between. In phases without
        a choice it is any.
        """
        values: dict[Any, tuple[Value, list[int]]] = {}
        for phase, (name, value) in choices.items():
            values.setdefault(name, (value, []))[1].append(phase)
        wide = [Cat(v, v[-1].replicate(width - len(v))) for v, _ in values.values()]
        if len(values) == 1:
            return wide[0].as_signed()
        total: Value | None = None
        for bits, (_, phases) in zip(wide, values.values(), strict=True):
            term = bits & self.copy(phases).replicate(width)
            total = term if total is None else total | term
        assert total is not None
        return total.as_signed()


GATHER = 16  # overflow bits that meet in one register
FEW = 4  # the same where they come in every cycle


class Folded(RtlCore):
    """A function of a robot, one task every ``fold.interval`` cycles.

    A task is taken in phase 0 only, when there is room for its results: nothing in between can
    stall, and what runs while there was no task is never written. A result comes ``fold.latency``
    cycles after its task was taken; either side may stall at any time. ``i.ready`` is a register.
    """

    def __init__(self, fold: Fold, *, sticky: bool = True) -> None:
        self.fold = fold
        self.fifo = ChannelFifo(fold.channel)
        self.made: list[PlacedUnit] = []
        super().__init__(fold.fixed, sticky=sticky)

    @property
    def placed(self) -> list[PlacedUnit]:
        return [*self.fifo.placed, *self.made]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.fifo = fifo = self.fifo
        phases = Phases(m, self.fold.interval)
        last = phases.copy([-1]) if self.fold.interval > 1 else Const(1)
        fire = Signal()
        m.d.sync += self.i.ready.eq(last & fifo.room)
        m.d.comb += [fire.eq(self.i.valid & self.i.ready), fifo.push.eq(fire)]

        words = {name: self.i.payload[name] for name in self.inputs}
        self.write_registers(m)
        hardware = FoldHardware(self.fold, self.made, words, m, phases, self.registers)
        hardware.build()
        values: dict[Node, Value] = {}
        for word, written, read in zip(fifo.channel.words, fifo.written, fifo.read, strict=True):
            if word.node is None:
                m.d.comb += written.eq(hardware.flag(self.fold.checks))
                flag = read[0]
            else:
                m.d.comb += written.eq(hardware.at(word.node, word.written))
                values[word.node] = read
        flags = dict.fromkeys(values, flag) if self.fold.checks else {}
        m.d.comb += [
            self.o.payload.eq(self.result(m, values, flags)),
            self.o.valid.eq(fifo.valid),
            fifo.pop.eq(self.taken(m)),
        ]
        return m


@dataclass(frozen=True)
class _Shared:
    """The ports of one shared unit: its inputs, what they read in each phase, and its outputs."""

    inputs: list[Signal]
    outputs: Ports
    reads: list[dict[int, tuple[tuple[int, int], Value]]]


class FoldHardware:
    """Builds the operations of a fold and the registers between them.

    ``words``: its inputs, taken at the end of each cycle of phase 0; ``made`` notes the units.
    ``held``: what stands in registers of no task.
    """

    def __init__(
        self,
        fold: Fold,
        made: list[PlacedUnit],
        words: Mapping[str, Value],
        m: Module,
        phases: Phases,
        held: Mapping[str, Value] | None = None,
    ) -> None:
        self.fold, self.made, self.words, self.m, self.phases = fold, made, words, m, phases
        self.fixed = fold.fixed
        self.chains: dict[Node, dict[int, Value]] = {  # value → register number → bits
            node: {0: (held or {})[name]} for name, node in fold.fixed.parameters.items()
        }
        self.wanted: dict[Node, set[int]] = {n: {0} for n in self.fold.time}
        self.wide: dict[Node, Value] = {}  # what a result is truncated from, for its overflow bit
        self.flagged: dict[Node, Value] = {}  # node → whether its unit's operand is out of range
        self.pointers: Copies[tuple[int, int], Signal] = {}

    def build(self) -> None:
        fold = self.fold
        for node in fold.time:
            for operand in operands(node):
                self.wanted[operand].add(fold.register(operand, fold.start(node)))
        units = self._units()
        for node in fold.time:
            self.chains[node] = {0: self._first(node, units)}
        for node in fold.time:
            self._chain(node)
        for node in fold.time:
            if node.op is not Op.INPUT and fold.own(node):
                self._own(node, units)
        for own, place in fold.place.items():
            self._connect(own, units[place.kind, place.number])
        for (kind, _), unit in units.items():
            for port, choices, width in zip(unit.inputs, unit.reads, kind.widths, strict=True):
                chosen = self.phases.select(choices, width)
                if kind.style == "logic":  # two wires, one to the way there
                    chosen = later(self.m, chosen, LOGIC_PORT - 1, NOT_SHARED)
                domain = self.m.d.sync if self.fold.in_port(kind) else self.m.d.comb
                domain += port.eq(chosen)

    def at(self, node: Node, cycle: int) -> Value:
        """A value in a cycle in which something reads it."""
        return self.chains[node][self.fold.register(node, cycle)]

    def flag(self, checks: Mapping[int, list[Node]]) -> Value:
        """The overflow bit of a task, in the cycle ``flag_time`` of the ``checks``.

        Bits of one interval are looked at together while all are stored, and join those before.
        """
        m, flag = self.m, None
        for cycle, nodes in checks.items():
            bits = [self._overflow(node, cycle) for node in nodes]
            if self.fold.chain is not None:
                seen = Cat(*bits, *([flag] if flag is not None else [])).any()
                if cycle == self.fold.flagged_at:
                    return seen
                flag = Signal(name=f"flag_{cycle}", reset_less=True)
                self.phases.enable(m, cycle, flag, seen)
                continue
            most = GATHER if self.fold.interval > 1 else FEW
            groups = [bits[k : k + most] for k in range(0, len(bits), most)]
            gathered = Signal(len(groups), name=f"gathered_{cycle}", reset_less=True)
            m.d.sync += gathered.eq(Cat(Cat(group).any() for group in groups))
            before: list[Value] = [flag] if flag is not None else []
            flag = Signal(name=f"flag_{cycle}", reset_less=True)
            self.phases.enable(m, cycle + 1, flag, Cat(gathered, *before).any())
        assert flag is not None
        return flag

    def _operand(self, node: Node, k: int) -> Operand:
        """Bits and fraction of the node's k-th operand in the cycle the node starts."""
        start = self.fold.start(node)
        return operand_of(self.fixed, node, k, lambda origin: self.at(origin, start))

    def _first(self, node: Node, units: dict[tuple[UnitKind, int], _Shared]) -> Value:
        """A result where it can first be read: its register, or the shared unit's output."""
        width = self.fixed.formats[node].width
        if node.op is Op.INPUT:
            register = Signal(signed(width), name=f"n{node.index}", reset_less=True)
            self.phases.enable(self.m, 0, register, self.words[node.name])
            return register
        if self.fold.own(node):
            return Signal(signed(width), name=f"n{node.index}")
        place, unit = self.fold.place[job(node)], UNIT[node.op]
        outputs = units[place.kind, place.number].outputs
        wide = unit.result(self.fixed, node, outputs)
        if unit.flag:
            self.flagged[node] = outputs[unit.flag]
        result = Signal(signed(width), name=f"n{node.index}")
        self.m.d.comb += result.eq(wide)
        self.wide[node] = wide
        return result

    def _own(self, node: Node, units: dict[tuple[UnitKind, int], _Shared]) -> None:
        """An operation on its own hardware, its result registered but where clocks are slow."""
        unit = UNIT[node.op]
        if self.fold.shared(node):
            place = self.fold.place[job(node)]
            wide = unit.result(self.fixed, node, units[place.kind, place.number].outputs)
        else:
            assert unit.logic is not None
            read = [self._operand(node, k) for k in range(len(node.args))]
            wide = unit.logic(self.m, self.fixed, node, *read)
        if not self.fixed.overflowing(node):
            wide = wide[: self.fixed.formats[node].width].as_signed()
        if self.fold.chain is not None:
            self.m.d.comb += self.chains[node][0].eq(wide)
            self.wide[node] = wide
            return
        register = Signal(wide.shape(), name=f"r{node.index}", reset_less=True)
        if self.fold.held(node):
            self.phases.enable(self.m, self.fold.loads(node), register, wide)
        else:
            self.m.d.sync += register.eq(wide)
        self.m.d.comb += self.chains[node][0].eq(register)
        self.wide[node] = register

    def _chain(self, node: Node) -> None:
        """The registers through which a value goes on, one each interval that it is needed."""
        chain, now = self.chains[node], 0
        value, phase = chain[0], self.fold.loads(node)
        for number in sorted(self.wanted[node]):
            while now < number:
                # the first register of what a shared unit gives can only be its own
                step = min(number - now, LONGEST_RING)
                if step < self.fold.target.ring or (now == 0 and not self.fold.held(node)):
                    step = 1
                name = f"n{node.index}_{now + step}"
                register = Signal(value.shape(), name=name, reset_less=True)
                following = value if step == 1 else self._ring(value, step - 1, phase, name)
                self.phases.enable(self.m, phase, register, following)
                value, now = register, now + step
                chain[now] = value

    def _ring(self, value: Value, size: int, phase: int, name: str) -> Value:
        """``value`` as it was ``size`` intervals ago: a memory read just before it is written."""
        m, ram = self.m, LutRam(len(value), BANK if self.phases.interval == 1 else size)
        # in an interval of one cycle all rings of a size have the same pointer, wherever they lie
        everywhere = self.phases.interval == 1

        def new() -> Signal:
            attrs = NOT_SHARED if everywhere else {}
            pointer = Signal(range(max(size, 2)), name=f"ring_{size}_{phase}", attrs=attrs)
            self.phases.enable(m, phase, pointer, next_count(pointer, size))
            return pointer

        most = READ if everywhere else math.inf
        pointer = copy_for(self.pointers, (size, phase), len(value), most, new)
        at, q = whole_address(pointer, ram), Signal(value.shape(), name=f"q_{name}")
        write = self.phases.bit(phase, 1) if self.phases.interval > 1 else Const(1)
        m.submodules[f"ring_{name}"] = ram.instance(
            write=write, write_address=at, data=value, read_address=at, q=q
        )
        self.made.append(ram)
        return q

    def _overflow(self, node: Node, cycle: int) -> Value:
        """A node's overflow bit in the cycle in which it is looked at."""
        bit = self.flagged.get(node)
        if bit is None:
            bit = overflow_of(self.fixed, node, self.wide[node])
        if self.fold.held(node) or cycle == self.fold.time[node]:
            return bit
        kept = Signal(name=f"v{node.index}", reset_less=True)
        self.phases.enable(self.m, self.fold.loads(node), kept, bit)
        return kept

    def _units(self) -> dict[tuple[UnitKind, int], _Shared]:
        """Every shared unit, with ports still to be connected."""
        units: dict[tuple[UnitKind, int], _Shared] = {}
        for kind, count in self.fold.units.items():
            example = nodes_of(self.fixed, self.fold.jobs.of[kind][0])[0]
            attrs = NOT_SHARED if kind.style == "logic" else {}  # it lies where its logic does
            for number in range(count):
                name = f"{kind.name}_{len(units)}"
                inputs = [
                    Signal(signed(width), name=f"{name}_in_{k}", reset_less=True, attrs=attrs)
                    for k, width in enumerate(kind.widths)
                ]
                outputs = self._placed(name, example, inputs, kind.style)
                units[kind, number] = _Shared(inputs, outputs, [{} for _ in inputs])
        return units

    def _placed(self, name: str, example: Node, inputs: list[Signal], style: Style) -> Ports:
        """The outputs of a unit for nodes like the ``example``."""
        place = UNIT[example.op].place
        assert place is not None
        target = self.fold.target
        site = Site(self.m, self.fixed, self.made, target, style, name, lambda p: f"{name}_{p}")
        return place(site, example, *inputs)

    def _connect(self, own: Job, unit: _Shared) -> None:
        place = self.fold.place[own]
        read, start = job_operands(own), self.fold.start(nodes_of(self.fixed, own)[0])
        for k, operand in enumerate(read[::-1] if place.swapped else read):
            number = self.fold.register(operand, start)
            choice = (operand.index, number), self.chains[operand][number]
            unit.reads[k][start % self.fold.interval] = choice
