# amaranth: UnusedElaboratable=no
"""A stage in hardware: operands out of the banks, its core, and beside it whose they are."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..graph.fixed import Format
from ..graph.graph import source
from ..graph.node import Node, Op
from ..tasks.integration import turn_flags
from ..tasks.routes import CODE, CODES, HOST, NOTHING, ROLLOUTS, TOLD, TURN, Source, StageVisit
from ..tasks.stage import Stage
from ..tasks.stages import COUNT, Accelerator
from .core import RtlCore, connect_registers, fill, register_ports
from .cores import core_of
from .function_units import PlacedUnit
from .queues import SlotQueue
from .separate_module import instance_of

# Where a rollout is: the stage of its step, the steps left with this one, and whether it ends now.
TURNS = {"phase": 2, "left": COUNT, "finish": 1}
FLAG = "overflow"  # the field of a bank that says whether anything before it overflowed


def is_one_of(function: Value, names: list[str]) -> Value:
    """Whether a function's code is one of these functions'."""
    return Cat(function == CODES[name] for name in names).any()


class RegisterCore(RtlCore):
    """The core of a stage without operations: a register."""

    @property
    def placed(self) -> list[PlacedUnit]:
        return []

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self.write_registers(m)
        task = Signal(self.i.payload.shape(), reset_less=True)
        m.d.comb += self.i.ready.eq(~self.o.valid | self.o.ready)
        with m.If(self.i.ready):
            m.d.sync += [task.eq(self.i.payload), self.o.valid.eq(self.i.valid)]
        values: dict[Node, Value] = {}
        for node in map(source, self.fixed.graph.outputs.values()):
            if node.op is Op.INPUT:
                values[node] = task[node.name]
        m.d.comb += self.o.payload.eq(self.result(m, values, {}))
        self.taken(m)
        return m


def once(m: Module, value: Value, name: str) -> Signal:
    """A signal of that value. Amaranth writes an expression again wherever it is read."""
    found = Signal(value.shape(), name=name)
    m.d.comb += found.eq(value)
    return found


def converted(m: Module, word: Value, of: Format, to: Format, name: str) -> tuple[Value, Value]:
    """A word in another format: the last bits rounded half up, saturated; and whether it was."""
    if (of.width, of.fraction) == (to.width, to.fraction):
        return word, Const(0)
    shift = of.fraction - to.fraction
    moved = (word + (1 << shift >> 1)) >> shift if shift > 0 else word << -shift
    if len(moved) <= to.width:
        return moved, Const(0)
    moved = once(m, moved, f"{name}_moved")
    above = moved[to.width - 1 :]  # all the same where the word fits
    out = once(m, above.any() & ~above.all(), f"{name}_beyond")
    most = Mux(moved[-1], to.lowest, to.highest)
    return Mux(out, most, moved[: to.width].as_signed()), out


class Station(wiring.Component):
    """A stage: takes tasks by their slots, and gives its outputs back with them.

    ``i``: whose operands are in ``read`` while it is valid: ``slot``, ``function``, and whether the
    task comes back (``again``); for `integrate` also where in its rollout it is. ``read``: for
    each sender the words that this stage reads of it, and its flag. ``done`` rises for one cycle
    with each result: then ``whose`` says whose ``o`` is, ``flag`` whether anything that the task
    has visited overflowed. A result cannot be refused.
    """

    def __init__(self, accelerator: Accelerator, stage: Stage, name: str | None = None) -> None:
        self.accelerator, self.stage, self.name = accelerator, stage, name
        self.core: RtlCore = (
            core_of(stage.plan, name, sticky=False)
            if stage.plan
            else RegisterCore(stage.fixed, sticky=False)
        )
        self.senders = accelerator.senders(stage)
        turn = TURNS if stage.name == "integrate" else {}
        self.task = data.StructLayout(
            {"slot": range(accelerator.slots), "function": CODE, "again": 1, **turn}
        )
        kept = data.StructLayout({**dict(self.task.members), "flag": 1})
        self.beside = SlotQueue(kept, accelerator.slots)
        outputs = {name: signed(f.width) for name, f in self.core.outputs.items()}
        chain = stage.fixed.chain if stage.fixed.parameters else 0
        super().__init__(
            (register_ports(chain) if chain else {})
            | {
                "i": In(stream.Signature(self.task)),
                "read": In(
                    data.StructLayout(
                        {
                            sender: bank_layout(accelerator, sender, fields)
                            for sender, fields in self.senders.items()
                        }
                    )
                ),
                "done": Out(1),
                "whose": Out(self.task),
                "flag": Out(1),
                "o": Out(data.StructLayout(outputs)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        core, beside = self.core, self.beside
        if self.stage.fixed.parameters:
            connect_registers(m, self, core)
        m.submodules.core = core if self.name is None else instance_of(core, self.name)
        m.submodules.beside = beside
        operands = Signal(core.i.payload.shape(), reset_less=True)
        entering = Signal(self.beside.data.shape(), reset_less=True)
        full = Signal()
        fetched, flag = self._operands(m)
        m.d.comb += [
            self.i.ready.eq(~full | core.i.ready),
            core.i.valid.eq(full),
            core.i.payload.eq(operands),
            beside.push.eq(full & core.i.ready),
            beside.data.eq(entering),
        ]
        with m.If(self.i.ready):
            m.d.sync += [full.eq(self.i.valid), operands.eq(fetched), entering.flag.eq(flag)]
            m.d.sync += [entering[key].eq(self.i.payload[key]) for key in self.task.members]
        m.d.comb += [
            self.done.eq(core.o.valid & beside.o.valid),
            core.o.ready.eq(beside.o.valid),
            beside.o.ready.eq(core.o.valid),
            *(self.whose[key].eq(beside.o.payload[key]) for key in self.task.members),
            self.flag.eq(
                beside.o.payload.flag | Cat(core.o.payload[f] for f in core.flags.values()).any()
            ),
        ]
        fill(m, self.o, {name: core.o.payload[name] for name in core.outputs})
        return m

    def _operands(self, m: Module) -> tuple[data.View[data.StructLayout], Value]:
        """Every operand of the visit that is offered, and the flag of what they come from."""
        task = self.i.payload
        operands: dict[str, Value | int] = {}
        flags: list[Value] = []
        banks = {
            sender: Signal(bank_layout(self.accelerator, sender, fields), name=f"of_{sender}")
            for sender, fields in self.senders.items()
        }
        m.d.comb += [bank.eq(self.read[sender]) for sender, bank in banks.items()]
        made: dict[tuple[tuple[str, StageVisit], ...], Value] = {}

        def here(visits: list[tuple[str, StageVisit]]) -> Value:
            """Whether the task that is offered makes one of these visits."""
            if (key := tuple(visits)) not in made:
                made[key] = once(m, self._visiting(task, visits), f"visits_{len(made)}")
            return made[key]

        for field, word in self.core.inputs.items():
            value: Value = Const(0, signed(word.width))
            for (sender, own), visits in self._choices(field).items():
                if sender == TURN:
                    new, out = self._turn(task, own), Const(0)
                elif sender == TOLD:
                    new, out = Const(-1, signed(word.width)), Const(0)
                else:
                    of = self.accelerator.given(visits[0][0], Source(sender, own))
                    read = banks[sender][own][: of.width].as_signed()
                    new, out = converted(m, read, of, word, field)
                value = Mux(here(visits), new, value)
                if not isinstance(out, Const):
                    flags.append(here(visits) & out)
            operands[field] = value
        for sender in self.senders:
            if sender != HOST:
                flags.append(here(self._reading(sender)) & banks[sender][FLAG])
        fetched, flag = Signal(self.core.i.payload.shape()), Signal()
        fill(m, fetched, operands)
        m.d.comb += flag.eq(Cat(flags).any())
        return fetched, flag

    def _choices(self, field: str) -> dict[tuple[str, str], list[tuple[str, StageVisit]]]:
        """(sender, its field) → visits, for each place that an operand may come from."""
        found: dict[tuple[str, str], list[tuple[str, StageVisit]]] = {}
        for function, visit in self.accelerator.visitors(self.stage.name):
            origin = self.stage.sources(function, visit)[field]
            if origin.stage != NOTHING:
                found.setdefault((origin.stage, origin.field), []).append((function, visit))
        return found

    @staticmethod
    def _turn(task: Any, flag: str) -> Value:
        """The flag of a rollout's turn: -1 or 0."""
        ways = [
            (task.phase == phase) & is_one_of(task.function, [function])
            for function, stages in ROLLOUTS.items()
            for phase in range(stages)
            if turn_flags(phase, function == "euler")[flag]
        ]
        return Cat(ways).any().replicate(2).as_signed()

    def _reading(self, sender: str) -> list[tuple[str, StageVisit]]:
        """The visits that read anything of a sender."""
        return [
            (function, visit)
            for function, visit in self.accelerator.visitors(self.stage.name)
            if any(o.stage == sender for o in self.stage.sources(function, visit).values())
        ]

    def _visiting(self, task: Any, visits: list[tuple[str, StageVisit]]) -> Value:
        """Whether the task that is offered makes one of these visits."""
        every = self.accelerator.visitors(self.stage.name)
        if len(visits) == len(every):
            return Const(1)
        first = [f for f, visit in visits if not visit.again]
        second = [f for f, visit in visits if visit.again]
        return (~task.again & is_one_of(task.function, first)) | (
            task.again & is_one_of(task.function, second)
        )


def bank_layout(accelerator: Accelerator, sender: str, fields: list[str]) -> data.StructLayout:
    """The layout of a bank for each slot: words of a sender, and its flag unless it is the host."""
    words = {field: signed(bits) for field, bits in accelerator.bank(sender, fields).items()}
    return data.StructLayout(words if sender == HOST else {**words, FLAG: 1})
