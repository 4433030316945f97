"""The base of all cores: streams, flags, and results that wait for the reader."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..graph.fixed import FixedGraph
from ..graph.graph import source
from ..graph.node import STILL, Node, Op
from ..graph.word import indices, kind_of, spell
from .function_units import PlacedUnit

WORD, WRITE, FIRST = "parameter_word", "parameter_write", "parameter_first"  # ports of registers
WAKE = "wake"  # a port of a core that another wakes


class RtlCore(wiring.Component, ABC):
    """A function of a robot behind two streams.

    ``i``: a task, one signed field per graph input, formats as in the fixed graph.
    ``o``: its result, one signed field per graph output, then one bit ``overflow[k]`` per output:
    whether anything that the output depends on overflowed in this task.
    ``parameter_word``, ``parameter_write``: of a core with registers for many tasks. A word that is
    written enters the last register, and all others move up one: so many writes as there are
    registers fill them in their order. Until then they hold the words of the robot that the design
    was generated from. What is written is of tasks that come later; those under way mix both.
    ``parameter_first`` is the word in the first register: with that written back they go round.
    ``overflow``: the same bits, sticky: set when such a result is taken, until ``clear``. A core
    inside another has neither (``sticky``): nobody would read them.
    ``wake``: of a core that another one wakes (``woken``). While it is set the core does not rest.
    """

    def __init__(self, fixed: FixedGraph, *, sticky: bool = True, woken: bool = False) -> None:
        self.fixed, self.sticky = fixed, sticky
        graph = fixed.graph
        # an input that nothing reads still has its place in the task
        self.inputs = {name: fixed.inputs[name] for name in graph.inputs}
        self.outputs = {name: fixed.formats[node] for name, node in graph.outputs.items()}
        in_layout = data.StructLayout({name: signed(f.width) for name, f in self.inputs.items()})
        self.flags = {name: spell("overflow", k) for k, name in enumerate(self.outputs)}
        out_layout = data.StructLayout(
            {name: signed(f.width) for name, f in self.outputs.items()}
            | dict.fromkeys(self.flags.values(), 1)
        )
        streams = {"i": In(stream.Signature(in_layout)), "o": Out(stream.Signature(out_layout))}
        seen = {"overflow": Out(len(self.flags)), "clear": In(1)}
        ports = streams | seen if sticky else streams
        if woken:
            ports |= {WAKE: In(1)}
        if fixed.parameters:
            ports |= register_ports(fixed.chain)
        super().__init__(ports)
        self._chain = [
            Signal(signed(fixed.chain), init=int(fixed.formats[n].quantize(n.value)), name=name)
            for name, n in ((_plain(name), n) for name, n in fixed.parameters.items())
        ]

    @property
    def parts(self) -> Mapping[str, Any]:
        """Modules to be written apart from the core, by name."""
        return {}

    @property
    @abstractmethod
    def placed(self) -> list[PlacedUnit]:
        """Every instance of a unit; known once this has been elaborated."""

    @cached_property
    def registers(self) -> dict[str, Value]:
        """The parameter registers by name, each as wide as its format."""
        held = self.fixed.parameters.items()
        return {
            name: register[: self.fixed.formats[node].width].as_signed()
            for (name, node), register in zip(held, self._chain, strict=True)
        }

    def write_registers(self, m: Module) -> None:
        """The chain of registers."""
        if not self._chain:
            return
        with m.If(getattr(self, WRITE)):
            following = [*self._chain[1:], getattr(self, WORD)]
            m.d.sync += [a.eq(b) for a, b in zip(self._chain, following, strict=True)]
        m.d.comb += getattr(self, FIRST).eq(self._chain[0])

    def result(
        self, m: Module, values: dict[Node, Value], flags: dict[Node, Value]
    ) -> data.View[data.StructLayout]:
        """The output's word: every output and its flag, by the node they come from."""
        fixed = self.fixed
        found: dict[str, Value | int] = {}
        for name, node in fixed.graph.outputs.items():
            origin = source(node)
            if origin.op is Op.CONST:
                found[name] = int(fixed.formats[origin].quantize(origin.value))
                continue
            if origin.op is Op.PARAMETER:
                found[name] = self.registers[origin.name]
                continue
            found[name] = values[origin]
            if origin in flags:
                found[self.flags[name]] = flags[origin]
        result = Signal(self.o.payload.shape())
        fill(m, result, found)
        return result

    def taken(self, m: Module, together: Module | None = None) -> Signal:
        """Whether a result is taken in this cycle; its flags then become sticky.

        ``together``: the module that drives `overflow` where all outputs share one flag.
        """
        taken = Signal()
        m.d.comb += taken.eq(self.o.valid & self.o.ready)
        if not self.sticky:
            return taken
        if together is not None and self.flags:
            vary = [source(node).op not in STILL for node in self.fixed.graph.outputs.values()]
            flags = [self.o.payload[flag] for flag in self.flags.values()]
            seen = Signal(name="overflowed")
            m.d.sync += seen.eq(Mux(self.clear, 0, seen) | (taken & flags[vary.index(True)]))
            together.d.comb += self.overflow.eq(Cat(seen if own else Const(0) for own in vary))
            return taken
        for k, flag in enumerate(self.flags.values()):
            seen = taken & self.o.payload[flag]
            m.d.sync += self.overflow[k].eq(Mux(self.clear, 0, self.overflow[k]) | seen)
        return taken


def register_ports(width: int) -> dict[str, Any]:
    """The ports of a chain of registers of so many bits."""
    return {WORD: In(signed(width)), WRITE: In(1), FIRST: Out(signed(width))}


def connect_registers(m: Module, outer: Any, inner: Any) -> None:
    """Make the chain of registers of ``inner`` that of ``outer``."""
    m.d.comb += [getattr(inner, of).eq(getattr(outer, of)) for of in (WORD, WRITE)]
    m.d.comb += getattr(outer, FIRST).eq(getattr(inner, FIRST))


def _plain(name: str) -> str:
    """parameter[3] → parameter_3."""
    return "_".join(map(str, (kind_of(name), *indices(name))))


def fill(
    m: Module, structure: data.View[data.StructLayout], values: Mapping[str, Value | int]
) -> None:
    """``structure`` is these values, by the names of its fields; fields without one stay 0.

    Amaranth makes the same of an assignment for each field; but for each of those it looks at
    every bit of the whole, which takes minutes where fields are thousands.
    """
    whole, places = structure.as_value(), {name: structure.shape()[name] for name in values}
    fields = Cat(whole[at.offset : at.offset + at.width] for at in places.values())
    m.d.comb += fields.eq(Cat(fitted(values[name], at.width) for name, at in places.items()))


def fitted(value: Value | int, width: int) -> Value:
    """The lowest ``width`` bits, extended by the sign where there are fewer."""
    if isinstance(value, int):
        return Const(value, width)
    value = Value.cast(value)
    if len(value) >= width:
        return value[:width]
    above = value[-1] if value.shape().signed else Const(0)
    return Cat(value, above.replicate(width - len(value)))
