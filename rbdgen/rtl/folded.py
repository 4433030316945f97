# amaranth: UnusedElaboratable=no
"""The core of a fold: one static datapath, in which every operation has its phase."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import Cat, Module, ShapeLike, Signal, Value, signed

from ..design.target import Style
from ..graph.graph import operands
from ..graph.node import Node, Op
from ..schedule.difference_constraints import BANK, LONGEST_RING, READ
from ..schedule.fold import LOGIC_PORT, Fold, job_operands
from ..schedule.pipelined import region_name, region_of
from ..schedule.units import Job, UnitKind, job, nodes_of
from .arithmetic import NOT_SHARED, Copies, Phases, copy_for, later, next_count
from .core import WAKE, RtlCore
from .delay_line import LutRam, whole_address
from .function_units import PlacedUnit
from .queues import ChannelFifo
from .separate_module import Parts, Serves, serving
from .units import UNIT, Operand, Ports, Site, operand_of, overflow_of

# Modules of a core: its counters, the words of the task that it took, the flag of its overflows,
# and what gives its results.
SCHEDULE, TASK_WORDS, FLAGS, RESULTS = "schedule", "task_words", "flags", "results"


GATHER = 16  # overflow bits that meet in one register
RESULT = 2  # cycles from a result's time until nothing reads it any more
FEW = 4  # the same where they come in every cycle


class Folded(RtlCore):
    """A function of a robot, one task every ``fold.interval`` cycles.

    A task is taken in phase 0 only, when there is room for its results: nothing in between can
    stall, and what runs while there was no task is never written. Without tasks the phases rest,
    and nothing changes; a task is then taken ``fold.waking`` cycles after it is offered. A result
    comes ``fold.latency`` cycles after its task was taken; either side may stall at any time.
    ``i.ready`` is a register.

    ``woken``: inside another core, whose phases these are, it rests if that one wakes it: the port
    ``wake`` says that a task will come. Other cores inside of others do not rest.
    """

    def __init__(
        self, fold: Fold, serves: Serves, *, sticky: bool = True, woken: bool = False
    ) -> None:
        self.fold, self.serves = fold, serves
        self.woken = woken and fold.waking > 0
        self.rests = self.woken or (sticky and fold.waking > 0)
        self.fifo = ChannelFifo(fold.channel)
        self.made: list[PlacedUnit] = []
        super().__init__(fold.fixed, sticky=sticky, woken=self.woken)

    @property
    def placed(self) -> list[PlacedUnit]:
        return [*self.fifo.placed, *self.made]

    def elaborate(self, platform: object) -> Module:
        whole = Module()
        whole.submodules.fifo = fifo = self.fifo
        parts = Parts(whole)
        m = parts[RESULTS]
        phases = Phases(parts[SCHEDULE], self.fold.interval, self.rests)
        fire = Signal()
        last = phases.copy([-1])
        if self.rests:
            rounds = -(-(self.fold.latency + RESULT) // self.fold.interval)
            wanted = self.i.valid | (getattr(self, WAKE) if self.woken else 0)
            last = phases.rest(last, phases.copy([-self.fold.waking]), fire, wanted, rounds)
        m.d.sync += self.i.ready.eq(last & fifo.room)
        m.d.comb += [fire.eq(self.i.valid & self.i.ready), fifo.push.eq(fire)]

        self.write_registers(parts[TASK_WORDS])
        hardware = FoldHardware(self.fold, self.made, parts, phases, self.serves, self.registers)
        hardware.build()
        hardware.take({name: self.i.payload[name] for name in self.inputs})
        values: dict[Node, Value] = {}
        for word, written, read in zip(fifo.channel.words, fifo.written, fifo.read, strict=True):
            if word.node is None:
                m.d.comb += written.eq(hardware.flag(self.fold.checks, FLAGS))
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
        return whole


@dataclass(frozen=True)
class _Shared:
    """The ports of one shared unit: its inputs, what they read in each phase, and its outputs.

    ``m``: the module that it is in.
    """

    m: Module
    inputs: list[Signal]
    outputs: Ports
    reads: list[dict[int, tuple[tuple[int, int], Value]]]


class FoldHardware:
    """Builds the operations of a fold and the registers between them, in a module for each region.

    ``made`` notes the units. ``parts``: the modules; a unit that several regions share has one to
    itself. ``serves``: comments for the signals of a node. ``held``: the values of parameters, by
    name, which are the same for all tasks.
    """

    def __init__(
        self,
        fold: Fold,
        made: list[PlacedUnit],
        parts: Parts,
        phases: Phases,
        serves: Serves,
        held: Mapping[str, Value] | None = None,
    ) -> None:
        self.fold, self.made, self.parts, self.phases = fold, made, parts, phases
        self.fixed, self.serves = fold.fixed, serves
        self.chains: dict[Node, dict[int, Value]] = {  # value → register number → bits
            node: {0: (held or {})[name]} for name, node in fold.fixed.parameters.items()
        }
        self.wanted: dict[Node, set[int]] = {n: {0} for n in self.fold.time}
        self.wide: dict[Node, Value] = {}  # what a result is truncated from, for its overflow bit
        # input → its register, and what lets that take it
        self.entering: dict[Node, tuple[Signal, Signal | None]] = {}
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
                    chosen = later(unit.m, chosen, LOGIC_PORT - 1, NOT_SHARED)
                domain = unit.m.d.sync if self.fold.in_port(kind) else unit.m.d.comb
                domain += port.eq(chosen)

    def take(self, words: Mapping[str, Value]) -> None:
        """The inputs are these, taken at the end of each cycle of phase 0."""
        for node, (register, enable) in self.entering.items():
            self.phases.load(self.parts[self.home(node)], enable, register, words[node.name])

    def at(self, node: Node, cycle: int) -> Value:
        """A value in a cycle in which something reads it."""
        return self.chains[node][self.fold.register(node, cycle)]

    def home(self, node: Node) -> str:
        """The module that computes a node."""
        datapath, found, _ = node.name.partition(".")
        if node.op is Op.INPUT:
            return datapath if found else TASK_WORDS
        return region_name(region_of(node))

    def flag(self, checks: Mapping[int, list[Node]], part: str) -> Value:
        """The overflow bit of a task, in the cycle ``flag_time`` of the ``checks``; ``part``: the
        module that gathers it.

        Bits of one interval are looked at together while all are stored, and join those before.
        """
        m, flag = self.parts[part], None
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

    def _signal(self, kind: str, node: Node, shape: ShapeLike = 1, **more: bool) -> Signal:
        """A signal of a node, called by its kind and the node's number in the graph's text."""
        name = f"{kind}{self.fixed.graph.number[node]}"
        return Signal(shape, name=name, attrs=self._attrs(node), **more)

    def _attrs(self, *nodes: Node) -> dict[str, str | int]:
        """The attributes of signals of these nodes."""
        return serving(self.serves, *nodes)

    def _operand(self, node: Node, k: int) -> Operand:
        """Bits and fraction of the node's k-th operand in the cycle the node starts."""
        start = self.fold.start(node)
        return operand_of(self.fixed, node, k, lambda origin: self.at(origin, start))

    def _first(self, node: Node, units: dict[tuple[UnitKind, int], _Shared]) -> Value:
        """A result where it can first be read: its register, or the shared unit's output."""
        width = self.fixed.formats[node].width
        if node.op is Op.INPUT:
            register = self._signal("n", node, signed(width), reset_less=True)
            self.entering[node] = register, self.phases.loading(0, width)
            return register
        if self.fold.own(node):
            return self._signal("n", node, signed(width))
        place, unit = self.fold.place[job(node)], UNIT[node.op]
        outputs = units[place.kind, place.number].outputs
        wide = unit.result(self.fixed, node, outputs)
        if unit.flag:
            self.flagged[node] = outputs[unit.flag]
        result = self._signal("n", node, signed(width))
        self.parts[self.home(node)].d.comb += result.eq(wide)
        self.wide[node] = wide
        return result

    def _own(self, node: Node, units: dict[tuple[UnitKind, int], _Shared]) -> None:
        """An operation on its own hardware, its result registered but where clocks are slow."""
        unit, m = UNIT[node.op], self.parts[self.home(node)]
        if self.fold.shared(node):
            place = self.fold.place[job(node)]
            wide = unit.result(self.fixed, node, units[place.kind, place.number].outputs)
        else:
            assert unit.logic is not None
            read = [self._operand(node, k) for k in range(len(node.args))]
            made = unit.logic(m, self.fixed, node, *read)
            wide = self._signal(f"{node.op.value}_", node, made.shape())
            m.d.comb += wide.eq(made)
        if not self.fixed.overflowing(node):
            wide = wide[: self.fixed.formats[node].width].as_signed()
        if self.fold.chain is not None:
            m.d.comb += self.chains[node][0].eq(wide)
            self.wide[node] = wide
            return
        register = self._signal("r", node, wide.shape(), reset_less=True)
        # also where nothing reads it later than at once: what reads it makes no other words then
        self.phases.enable(m, self.fold.time[node] - 1, register, wide)
        m.d.comb += self.chains[node][0].eq(register)
        self.wide[node] = register

    def _chain(self, node: Node) -> None:
        """The registers through which a value goes on, one each interval that it is needed."""
        chain, now, m = self.chains[node], 0, self.parts[self.home(node)]
        value, phase = chain[0], self.fold.loads(node)
        for number in sorted(self.wanted[node]):
            while now < number:
                # the first register of what a shared unit gives can only be its own
                step = min(number - now, LONGEST_RING)
                if step < self.fold.target.ring or (now == 0 and not self.fold.held(node)):
                    step = 1
                name = f"n{self.fixed.graph.number[node]}_{now + step}"
                attrs = self._attrs(node)
                register = Signal(value.shape(), name=name, reset_less=True, attrs=attrs)
                following = value if step == 1 else self._ring(m, value, step - 1, phase, name)
                self.phases.enable(m, phase, register, following)
                value, now = register, now + step
                chain[now] = value

    def _ring(self, m: Module, value: Value, size: int, phase: int, name: str) -> Value:
        """``value`` as it was ``size`` intervals ago: a memory read just before it is written."""
        ram = LutRam(len(value), BANK if self.phases.interval == 1 else size)
        # in an interval of one cycle all rings of a size have the same pointer, wherever they lie
        everywhere = self.phases.interval == 1

        def new() -> Signal:
            attrs = NOT_SHARED if everywhere else {}
            pointer = Signal(range(max(size, 2)), name=f"ring_{size}_{phase}", attrs=attrs)
            step = self.phases.bit(phase, len(pointer))
            self.phases.load(self.phases.m, step, pointer, next_count(pointer, size))
            return pointer

        most = READ if everywhere else math.inf
        pointer = copy_for(self.pointers, (size, phase), len(value), most, new)
        at, q = whole_address(pointer, ram), Signal(value.shape(), name=f"q_{name}")
        write = self.phases.bit(phase, 1)
        m.submodules[f"ring_{name}"] = ram.instance(
            write=write, write_address=at, data=value, read_address=at, q=q
        )
        self.made.append(ram)
        return q

    def _overflow(self, node: Node, cycle: int) -> Value:
        """A node's overflow bit in the cycle in which it is looked at."""
        m = self.parts[f"{self.home(node)}_{FLAGS}"]
        bit = self.flagged.get(node)
        if bit is None:
            bit = self._signal("over", node)
            m.d.comb += bit.eq(overflow_of(self.fixed, node, self.wide[node]))
        if self.fold.held(node) or cycle == self.fold.time[node]:
            return bit
        kept = self._signal("v", node, reset_less=True)
        self.phases.enable(m, self.fold.loads(node), kept, bit)
        return kept

    def _units(self) -> dict[tuple[UnitKind, int], _Shared]:
        """Every shared unit, with ports still to be connected."""
        units: dict[tuple[UnitKind, int], _Shared] = {}
        users: dict[tuple[UnitKind, int], list[Node]] = {}
        for own, place in self.fold.place.items():
            users.setdefault((place.kind, place.number), []).extend(nodes_of(self.fixed, own))
        for kind, count in self.fold.units.items():
            example = nodes_of(self.fixed, self.fold.jobs.of[kind][0])[0]
            attrs = NOT_SHARED if kind.style == "logic" else {}  # it lies where its logic does
            for number in range(count):
                name = f"{kind.name}_{len(units)}"
                inputs = [
                    Signal(signed(width), name=f"{name}_in_{k}", reset_less=True, attrs=attrs)
                    for k, width in enumerate(kind.widths)
                ]
                nodes = users.get((kind, number), [])
                homes = dict.fromkeys(self.home(node) for node in nodes)
                m = self.parts[next(iter(homes)) if len(homes) == 1 else name]
                outputs = self._placed(m, name, example, inputs, kind.style)
                for output in outputs.values():
                    output.attrs.update(self._attrs(*nodes))
                units[kind, number] = _Shared(m, inputs, outputs, [{} for _ in inputs])
        return units

    def _placed(
        self, m: Module, name: str, example: Node, inputs: list[Signal], style: Style
    ) -> Ports:
        """The outputs of a unit for nodes like the ``example``."""
        place = UNIT[example.op].place
        assert place is not None
        target = self.fold.target
        site = Site(m, self.fixed, self.made, target, style, name, lambda p: f"{name}_{p}")
        return place(site, example, *inputs)

    def _connect(self, own: Job, unit: _Shared) -> None:
        place = self.fold.place[own]
        read, start = job_operands(own), self.fold.start(nodes_of(self.fixed, own)[0])
        for k, operand in enumerate(read[::-1] if place.swapped else read):
            number = self.fold.register(operand, start)
            choice = (operand.index, number), self.chains[operand][number]
            unit.reads[k][start % self.fold.interval] = choice
