"""What every core has in common: its streams, its flags, and results that wait to be taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op
from ..schedule.pipelined import source
from .channel import BANK
from .lut_ram import LutRam
from .multiplier import Multiplier
from .reciprocal import ReciprocalUnit
from .sincos import SinCosUnit

WAITING = 3  # results that may wait to be taken: one a clock takes two


class Core(wiring.Component):
    """A function of a robot behind two streams.

    ``i``: a task, one signed field per graph input, formats as in the fixed graph.
    ``o``: its result, one signed field per graph output, then one bit ``overflow[k]`` per output:
    whether anything that the output depends on overflowed in this task.
    ``overflow``: the same bits, sticky: set when such a result is taken, until ``clear``.
    """

    def __init__(self, fixed: FixedGraph) -> None:
        self.fixed = fixed
        graph = fixed.graph
        # an input that nothing reads still has its place in the task
        self.inputs = {name: fixed.inputs[name] for name in graph.inputs}
        self.outputs = {name: fixed.formats[node] for name, node in graph.outputs.items()}
        in_layout = data.StructLayout({name: signed(f.width) for name, f in self.inputs.items()})
        self.flags = {name: f"overflow[{k}]" for k, name in enumerate(self.outputs)}
        out_layout = data.StructLayout(
            {name: signed(f.width) for name, f in self.outputs.items()}
            | dict.fromkeys(self.flags.values(), 1)
        )
        self._results = LutRam(data.Layout.cast(out_layout).size, BANK)
        super().__init__(
            {
                "i": In(stream.Signature(in_layout)),
                "o": Out(stream.Signature(out_layout)),
                "overflow": Out(len(self.flags)),
                "clear": In(1),
            }
        )

    @property
    def parts(self) -> Mapping[str, Any]:
        """Modules to be written apart from the core, by name."""
        return {}

    @property
    def multipliers(self) -> list[Multiplier]:
        """Every multiplier instance; known once this has been elaborated."""
        raise NotImplementedError

    @property
    def table_units(self) -> list[SinCosUnit | ReciprocalUnit]:
        """Every sine and reciprocal instance; known once this has been elaborated."""
        raise NotImplementedError

    @property
    def rams(self) -> list[LutRam]:
        """Every memory instance; known once this has been elaborated."""
        raise NotImplementedError

    def give(
        self, m: Module, fire: Signal, values: dict[Node, Value], flags: dict[Node, Value]
    ) -> Value:
        """Results, by the node they come from, wait here to be taken; ``fire``: they are there.

        Returns whether there is room for one in the next cycle. Room is left for what may come
        while ``o.ready`` is on its way: no path leads from there to what makes results.
        """
        result, taken = self.result(m, values, flags), self.taken(m)
        waiting = Signal(range(WAITING + 1))
        write_address, read_address = Signal(range(BANK)), Signal(range(BANK))
        m.submodules.results = self._results.instance(
            write=fire,
            write_address=write_address,
            data=result.as_value(),
            read_address=read_address,
            q=self.o.payload.as_value(),
        )
        m.d.sync += [
            write_address.eq(write_address + fire),
            read_address.eq(read_address + taken),
            waiting.eq(waiting + fire - taken),
            self.o.valid.eq(fire | Mux(taken, waiting > 1, self.o.valid)),
        ]
        return waiting + fire < WAITING

    def result(
        self, m: Module, values: dict[Node, Value], flags: dict[Node, Value]
    ) -> data.View[data.StructLayout]:
        """The output's word: every output and its flag, by the node they come from."""
        fixed = self.fixed
        result = Signal(self.o.payload.shape())
        for name, node in fixed.graph.outputs.items():
            origin = source(node)
            if origin.op is Op.CONST:
                value = int(fixed.formats[origin].quantize(origin.value))
                m.d.comb += result[name].eq(value)
                continue
            m.d.comb += result[name].eq(values[origin])
            if origin in flags:
                m.d.comb += result[self.flags[name]].eq(flags[origin])
        return result

    def taken(self, m: Module) -> Signal:
        """Whether a result is taken in this cycle; its flags then become sticky."""
        taken = Signal()
        m.d.comb += taken.eq(self.o.valid & self.o.ready)
        for k, flag in enumerate(self.flags.values()):
            seen = taken & self.o.payload[flag]
            m.d.sync += self.overflow[k].eq(Mux(self.clear, 0, self.overflow[k]) | seen)
        return taken
