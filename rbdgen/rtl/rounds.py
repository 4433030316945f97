"""The core of joints in turn: datapaths that visit by visit compute what joints have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping

from amaranth.hdl import Cat, Const, Module, Signal, Value, signed

from ..graph.fixed import Format
from ..schedule.datapaths import TASK, Datapath
from ..schedule.round_plan import ON_THE_WAY, Group, RoundPlan
from .channel import NOT_SHARED
from .core import Core
from .folded import FoldHardware
from .lut_ram import BlockRam, LutRam
from .multiplier import Multiplier
from .reciprocal import ReciprocalUnit
from .round_counts import Rounds
from .round_results import Results
from .sincos import SinCosUnit
from .units import Made


class InRounds(Core):
    """A function of a robot, one task every ``plan.interval`` cycles.

    A task is taken in the first cycle of every ``plan.rounds``-th round, when there is room for its
    results: nothing in between can stall, and what runs while there was no task is never given
    out. A result comes ``plan.latency`` cycles after its task was taken; either side may stall at
    any time. ``i.ready`` is a register.
    """

    def __init__(self, plan: RoundPlan, *, sticky: bool = True) -> None:
        self.plan = plan
        self.made = Made()
        super().__init__(plan.program.whole, sticky=sticky)

    @property
    def multipliers(self) -> list[Multiplier]:
        return self.made.multipliers

    @property
    def table_units(self) -> list[SinCosUnit | ReciprocalUnit]:
        return self.made.tables

    @property
    def rams(self) -> list[LutRam]:
        return self.made.rams

    def elaborate(self, platform: object) -> Module:
        m = Module()
        plan = self.plan
        rounds = Rounds(m, plan)
        task = Signal(self.i.payload.shape(), reset_less=True)
        for word in self.inputs:  # in every task's first cycle, whether it is taken or not
            with m.If(rounds.first_for(len(task[word]))):
                m.d.sync += task[word].eq(self.i.payload[word])
        words = {
            f"{datapath.name}.{port}": Signal(signed(word.width), name=f"{datapath.name}_{port}")
            for datapath in plan.datapaths.copies
            for port, word in plan.program.templates[datapath.template].inputs.items()
        }
        hardware = FoldHardware(plan.template, self.made, words, m, rounds.phases)
        hardware.build()
        memories = _Memories(self, m, rounds, hardware, task)
        memories.build(words)

        results = Results(m, plan, rounds, hardware, self.made)
        ready = rounds.ends & (rounds.turn == plan.rounds - 1) & results.room
        m.d.sync += self.i.ready.eq(ready)
        results.follow(self.i.valid & self.i.ready)
        values, flag = results.gather(self.o.valid, self.taken(m))
        flags = {} if flag is None else dict.fromkeys(values, flag)
        m.d.comb += self.o.payload.eq(self.result(m, values, flags))
        return m


class _Memories:
    """The memories between the datapaths: what each gives, until another takes it."""

    def __init__(
        self, core: InRounds, m: Module, rounds: Rounds, hardware: FoldHardware, task: Signal
    ) -> None:
        self.core, self.m, self.rounds, self.hardware, self.task = core, m, rounds, hardware, task
        self.plan = core.plan
        self.turns = {
            datapath: rounds.turn_copy(f"turn_{datapath.name}")
            for datapath in self.plan.datapaths.copies
        }
        self.choices: dict[str, list[tuple[Value, Format, frozenset[int]]]] = {}
        self.selects: dict[tuple[Datapath, frozenset[int]], Signal] = {}

    def build(self, words: Mapping[str, Signal]) -> None:
        for number, group in enumerate(self.plan.groups):
            self._group(group, f"group_{number}")
        for datapath in self.plan.datapaths.copies:
            for port, to in self.plan.program.templates[datapath.template].inputs.items():
                name = f"{datapath.name}.{port}"
                self.m.d.comb += words[name].eq(self._chosen(datapath, port, name, to))

    def _group(self, group: Group, name: str) -> None:
        """A memory for each time at which words of the group are written."""
        m, rounds, plan = self.m, self.rounds, self.plan
        depth, block = group.depth, group.in_block_ram
        together: dict[int, list[str]] = {}
        for word in group.words:
            together.setdefault(plan.written(group.sender, word), []).append(word)
        address = self._address(group, name, ON_THE_WAY if block else 1)
        for written, members in together.items():
            formats = [plan.word(group.sender, word) for word in members]
            width = sum(word.width for word in formats)
            ram = (BlockRam if block else LutRam)(width, depth)
            self.core.made.rams.append(ram)
            behind, phase = divmod(written, rounds.cycles)
            q = Signal(width, name=f"{name}_{written}_q")
            m.submodules[f"{name}_{written}"] = ram.instance(
                write=rounds.at(phase),
                write_address=rounds.count(behind, width)[: ram.address_width],
                data=Cat(self._given(group.sender, word, written) for word in members),
                read_address=address,
                q=q,
            )
            taken: Value = q
            if block:
                taken = Signal(width, name=f"{name}_{written}_taken", reset_less=True)
                m.d.sync += taken.eq(q)
            start = 0
            for word, own in zip(members, formats, strict=True):
                value = taken[start : start + own.width].as_signed()
                start += own.width
                for port in group.words[word]:
                    choice = value, own, frozenset(group.ago)
                    self.choices.setdefault(f"{group.reader.name}.{port}", []).append(choice)

    def _address(self, group: Group, name: str, cycles: int) -> Signal:
        """Where the words lie that operands are taken from in a round's first cycle.

        Worked out so many ``cycles`` before: a block RAM takes two to give them to a register.
        """
        m, rounds, every = self.m, self.rounds, self.plan.rounds
        ahead = -(-cycles // rounds.cycles)  # rounds from the one in which this is worked out
        address = Signal(range(group.depth), name=f"{name}_address", reset_less=True)
        ago = Signal(range(group.depth + 1), name=f"{name}_ago")
        with m.Switch(self.turns[group.reader]):
            for phase, value in group.ago.items():
                with m.Case((phase - ahead) % every):
                    m.d.comb += ago.eq(value)
        now = rounds.count(-ahead, group.depth.bit_length())
        with m.If(rounds.at(-cycles % rounds.cycles)):
            m.d.sync += address.eq(now - ago)
        return address

    def _given(self, sender: Datapath, word: str, written: int) -> Value:
        """A datapath's word in the cycle in which it is stored."""
        plan = self.plan
        if sender.template != TASK:
            return self.hardware.at(plan.node(sender, word), written)
        name, to = f"{sender.name}_{word}", plan.word(sender, word)
        value = Signal(signed(to.width), name=name, reset_less=True)
        with self.m.Switch(self.rounds.turn_for(len(value))):
            for at, visit in plan.task_visits(sender, word):
                source, by = plan.program.real.read(visit)[word]
                more = to.fraction - plan.whole.inputs[source].fraction + int(math.log2(by))
                given = self.task[source]
                with self.m.Case(at):
                    self.m.d.sync += value.eq(Cat(Const(0, more), given) if more else given)
            with self.m.Default():
                self.m.d.sync += value.eq(0)  # rather than an enable
        return value

    def _chosen(self, datapath: Datapath, port: str, name: str, to: Format) -> Value:
        """An input in the first cycle of a round."""
        choices = self.choices.get(name, [])
        numbers = self.plan.numbers.get((datapath, port), {})
        phases = {phase for _, _, of in choices for phase in of} | set(numbers)
        terms: list[Value] = []
        for value, own, of in choices:
            # bits that the input has and the word has not are zero
            wide = (
                Cat(Const(0, to.fraction - own.fraction), value)
                if to.fraction > own.fraction
                else value
            )
            bits = Cat(wide, wide[-1].replicate(max(to.width - len(wide), 0)))
            alone = of == phases
            terms.append(bits if alone else bits & self._select(datapath, of).replicate(to.width))
        if any(int(to.quantize(x)) for x in numbers.values()):
            constant = Signal(to.width, name=f"{name}_constant", reset_less=True)
            # every phase has a value: each bit is a function of nothing but the round's number
            every = self.plan.rounds
            with self.m.Switch(self.rounds.turn_for(to.width)):
                for phase in range(every):
                    with self.m.Case((phase - 1) % every):
                        value = int(to.quantize(numbers.get(phase, 0.0)))
                        self.m.d.sync += constant.eq(value)
                with self.m.Default():
                    self.m.d.sync += constant.eq(0)
            terms.append(constant)
        if not terms:  # constants that are less than half of the last bit
            return Const(0, signed(to.width))
        total = terms[0]
        for term in terms[1:]:
            total = total | term
        return total.as_signed()

    def _select(self, datapath: Datapath, phases: frozenset[int]) -> Signal:
        """A register that is set in the first cycle of these rounds."""
        if (datapath, phases) not in self.selects:
            name = f"select_{datapath.name}_{'_'.join(map(str, sorted(phases)))}"
            register = Signal(name=name, reset_less=True, attrs=NOT_SHARED)
            turn = self.turns[datapath]
            before = ((phase - 1) % self.plan.rounds for phase in sorted(phases))
            self.m.d.sync += register.eq(Cat(turn == phase for phase in before).any())
            self.selects[datapath, phases] = register
        return self.selects[datapath, phases]
