"""The core of time-multiplexed joints: datapaths that visit by visit compute what joints have in
common."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Signal, Value, signed

from ..graph.fixed import Format, renamed
from ..graph.visits import factored
from ..schedule.difference_constraints import BANK
from ..schedule.round_plan import ON_THE_WAY, Group, RoundPlan
from ..schedule.specialise import TASK, Datapath
from .arithmetic import NOT_SHARED, Copies, copy_for
from .core import RtlCore
from .delay_line import BlockRam, LutRam, whole_address
from .folded import RESULTS, SCHEDULE, TASK_WORDS, FoldHardware
from .function_units import PlacedUnit
from .round_results import TURNED, RoundResults, Rounds
from .separate_module import Parts, Serves


class InRounds(RtlCore):
    """A function of a robot, one task every ``plan.interval`` cycles.

    A task is taken in the first cycle of every ``plan.rounds``-th round, when there is room for its
    results: nothing in between can stall, and what runs while there was no task is never given
    out. Without tasks the counters rest, and nothing changes; a task is then taken ``plan.waking``
    cycles after it is offered. A result comes ``plan.latency`` cycles after its task was taken;
    either side may stall at any time. ``i.ready`` is a register. Inside another core it does not
    rest.
    """

    def __init__(self, plan: RoundPlan, serves: Serves, *, sticky: bool = True) -> None:
        self.plan, self.serves = plan, serves
        self.made: list[PlacedUnit] = []
        super().__init__(plan.program.whole, sticky=sticky)

    @property
    def placed(self) -> list[PlacedUnit]:
        return self.made

    def elaborate(self, platform: object) -> Module:
        m = Module()
        plan, parts = self.plan, Parts(m)
        rounds = Rounds(parts[SCHEDULE], plan, self.sticky)
        task = Signal(self.i.payload.shape(), reset_less=True)
        taking = parts[TASK_WORDS]
        for word in self.inputs:  # in every task's first cycle, whether it is taken or not
            with taking.If(rounds.first_for(len(task[word]))):
                taking.d.sync += task[word].eq(self.i.payload[word])
        hardware = FoldHardware(plan.template, self.made, parts, rounds.phases, self.serves)
        hardware.build()
        memories = _Memories(self, parts, rounds, hardware, task)
        hardware.take(memories.build())

        results = RoundResults(parts, plan, rounds, hardware, self.made)
        fire = self.i.valid & self.i.ready
        ready = rounds.before_task(fire, self.i.valid) & results.room
        parts[SCHEDULE].d.sync += self.i.ready.eq(ready)
        results.follow(fire)
        giving = parts[RESULTS]
        values, flag = results.gather(self.o.valid, self.taken(giving, together=m))
        flags = {} if flag is None else dict.fromkeys(values, flag)
        giving.d.comb += self.o.payload.eq(self.result(giving, values, flags))
        return m


class _Memories:
    """The memories between the datapaths: what each gives, until another takes it."""

    def __init__(
        self, core: InRounds, parts: Parts, rounds: Rounds, hardware: FoldHardware, task: Signal
    ) -> None:
        self.core, self.parts, self.rounds, self.hardware = core, parts, rounds, hardware
        self.task, self.plan = task, core.plan
        self.choices: dict[str, list[tuple[Value, Format, frozenset[int]]]] = {}
        self.selects: Copies[tuple[Datapath, frozenset[int]], Signal] = {}

    def build(self) -> dict[str, Value]:
        """The memories; what every input of the datapaths is, by name."""
        between: Counter[str] = Counter()
        for group in self.plan.groups:
            name = f"{group.sender.name}_to_{group.reader.name}"
            between[name] += 1
            self._group(group, f"{name}_memory_{between[name]}" if between[name] > 1 else name)
        return {
            f"{datapath.name}.{port}": self._chosen(datapath, port, _operand(datapath, port), to)
            for datapath in self.plan.datapaths.copies
            for port, to in self.plan.program.templates[datapath.template].inputs.items()
        }

    def _group(self, group: Group, name: str) -> None:
        """A memory for each time at which words of the group are written."""
        m, rounds, plan = self.parts[name], self.rounds, self.plan
        block = group.in_block_ram
        # what is tied to a constant is a net across the part: LUT-RAMs have all their words
        depth = group.depth if block else max(group.depth, BANK)
        count = rounds.copy("round")
        address = self._address(group, name, count, ON_THE_WAY if block else 1)
        for written, part, members in (
            (written, part, members)
            for written, parts in plan.memories(group).items()
            for part, members in enumerate(parts)
        ):
            formats = [plan.word(group.sender, word) for word in members]
            width = sum(word.width for word in formats)
            ram = (BlockRam if block else LutRam)(width, depth)
            self.core.made.append(ram)
            behind, phase = divmod(written, rounds.cycles)
            here = f"{name}_{written}_{part}"
            copy = Signal.like(address, name=f"{here}_address", attrs=NOT_SHARED)
            to = Signal.like(address, name=f"{here}_write", attrs=NOT_SHARED)
            m.d.sync += copy.eq(address)
            with m.If(rounds.ends):
                m.d.sync += to.eq(count + 1 - behind)
            q = Signal(width, name=f"{here}_q")
            read = {"read": rounds.at(1 - ON_THE_WAY)} if block else {}
            m.submodules[here] = ram.instance(
                **read,
                write=rounds.at(phase),
                write_address=whole_address(to, ram),
                data=Cat(self._given(group.sender, word, written) for word in members),
                read_address=whole_address(copy, ram),
                q=q,
            )
            taken: Value = q
            if block:
                taken = Signal(width, name=f"{here}_taken", reset_less=True)
                m.d.sync += taken.eq(q)
            start = 0
            for word, own in zip(members, formats, strict=True):
                value = taken[start : start + own.width].as_signed()
                start += own.width
                for port in group.words[word]:
                    found = self.choices.setdefault(_operand(group.reader, port), [])
                    phases: dict[float, set[int]] = {}  # by the power of two that it comes times
                    for phase, (origin, _) in plan.origins[group.reader, port].items():
                        of, by = factored(origin)
                        if not isinstance(of, float) and phase in group.ago:
                            phases.setdefault(by, set()).add(phase)
                    found += [(value, renamed(own, by), frozenset(of)) for by, of in phases.items()]

    def _address(self, group: Group, name: str, count: Signal, cycles: int) -> Signal:
        """Where the words lie that operands are taken from in a round's first cycle.

        It is there a cycle before so many ``cycles``, for copies: a block RAM takes two to give
        the words to a register. ``count``: the number of this round.
        """
        m, rounds, every = self.parts[name], self.rounds, self.plan.rounds
        cycles += 1
        # rounds to the one that it is for, from the cycle in which it is worked out
        ahead, before = (-(-c // rounds.cycles) for c in (cycles, cycles + 1))
        shape, local = range(group.depth), {"reset_less": True, "attrs": NOT_SHARED}
        address = Signal(shape, name=f"{name}_address", **local)
        ago = Signal(shape, name=f"{name}_ago", **local)
        with m.Switch(rounds.copy("turn")):
            for phase, value in group.ago.items():
                with m.Case((phase - before) % every):
                    m.d.sync += ago.eq(value - ahead)
        with m.If(rounds.at(-cycles % rounds.cycles)):
            m.d.sync += address.eq(count - ago)
        return address

    def _given(self, sender: Datapath, word: str, written: int) -> Value:
        """A datapath's word in the cycle in which it is stored."""
        plan = self.plan
        if sender.template != TASK:
            return self.hardware.at(plan.node(sender, word), written)
        name, to = _operand(sender, word), plan.word(sender, word)
        value = Signal(signed(to.width), name=name, reset_less=True)
        late = self.rounds.cycles == 1  # a task's words are there in its second cycle
        m = self.parts[TASK_WORDS]
        with m.Switch(self.rounds.turn_for(len(value))):
            for at, visit in plan.task_visits(sender, word):
                source, by = plan.program.real.read(visit)[word]
                more = to.fraction - plan.whole.inputs[source].fraction + int(math.log2(by))
                given = self.task[source]
                with m.Case((at + late) % plan.rounds):
                    m.d.sync += value.eq(Cat(Const(0, more), given) if more else given)
            with m.Default():
                m.d.sync += value.eq(0)  # rather than an enable
        return value

    def _chosen(self, datapath: Datapath, port: str, name: str, to: Format) -> Value:
        """An input in the first cycle of a round."""
        choices = self.choices.get(name, [])
        numbers = self.plan.numbers.get((datapath, port), {})
        phases = {phase for _, _, of in choices for phase in of} | set(numbers)
        terms: list[Value] = []
        for value, own, of in choices:
            # bits that the input has and the word has not are zero; those that it has not are left
            more = to.fraction - own.fraction
            wide = Cat(Const(0, more), value) if more > 0 else value[min(-more, len(value) - 1) :]
            bits = Cat(wide, wide[-1].replicate(max(to.width - len(wide), 0)))
            if of != phases:
                bits &= self._select(datapath, of, to.width).replicate(to.width)
            terms.append(bits)
        if any(int(to.quantize(x)) for x in numbers.values()):
            constant = self._constant(datapath, name, numbers, to)
            terms.append(constant)
        if not terms:  # constants that are less than half of the last bit
            return Const(0, signed(to.width))
        if len(terms) == 1 and all(of == phases for _, _, of in choices):  # wires alone
            return terms[0].as_signed()
        chosen = Signal(signed(to.width), name=name)
        self.parts[_operands(datapath)].d.comb += chosen.eq(reduce(or_, terms))
        return chosen

    def _constant(
        self, datapath: Datapath, name: str, numbers: Mapping[int, float], to: Format
    ) -> Value:
        """A register that is the number of the phase, 0 in those that have none."""
        every = self.plan.rounds
        values = {phase: int(to.quantize(x)) for phase, x in numbers.items()}
        ever = [k for k in range(to.width) if any(value >> k & 1 for value in values.values())]
        register = Signal(len(ever), name=f"{name}_constant", reset_less=True, attrs=NOT_SHARED)
        # every phase has a value: each bit is a function of nothing but the round's number
        m = self.parts[_operands(datapath)]
        with m.Switch(self.rounds.copy("turn")):
            for phase in range(every):
                with m.Case((phase - 1) % every):
                    bits = (values.get(phase, 0) >> k & 1 for k in ever)
                    m.d.sync += register.eq(Cat(Const(bit, 1) for bit in bits))
            with m.Default():
                m.d.sync += register.eq(0)
        own = dict(zip(ever, register, strict=True))
        return Cat(own.get(k, Const(0, 1)) for k in range(to.width))

    def _select(self, datapath: Datapath, phases: frozenset[int], loads: int) -> Signal:
        """A register that is set in the first cycle of these rounds, for so many loads more."""

        def new() -> Signal:
            name = f"select_{datapath.name}_{'_'.join(map(str, sorted(phases)))}"
            register = Signal(name=name, reset_less=True, attrs=NOT_SHARED)
            turn = self.rounds.copy("turn")
            before = ((phase - 1) % self.plan.rounds for phase in sorted(phases))
            m = self.parts[_operands(datapath)]
            m.d.sync += register.eq(Cat(turn == phase for phase in before).any())
            return register

        return copy_for(self.selects, (datapath, phases), loads, TURNED, new)


def _operands(datapath: Datapath) -> str:
    """The module that chooses what a datapath reads."""
    return f"{datapath.name}_operands"


def _operand(datapath: Datapath, port: str) -> str:
    """The signal that a datapath reads at a port."""
    return f"{datapath.name}_{port.replace('.', '_')}"
