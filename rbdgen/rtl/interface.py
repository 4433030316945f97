"""The ports of a core: tasks in, results with their overflow flags out."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Module, Mux, Value, signed
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ..graph.fixed import FixedGraph, Format


class Interface:
    """Of a core that computes ``fixed``.

    ``inputs``, ``outputs``: their formats, in the order of the task and of the result. ``flags``:
    output → the name of its overflow flag among the fields of the result.
    """

    def __init__(self, fixed: FixedGraph) -> None:
        graph = fixed.graph
        # an input that nothing reads still has its place in the task
        self.inputs: dict[str, Format] = {name: fixed.inputs[name] for name in graph.inputs}
        self.outputs = {name: fixed.formats[node] for name, node in graph.outputs.items()}
        self.flags = {name: f"overflow[{k}]" for k, name in enumerate(self.outputs)}
        self.task = data.StructLayout({name: signed(f.width) for name, f in self.inputs.items()})
        self.result = data.StructLayout(
            {name: signed(f.width) for name, f in self.outputs.items()}
            | dict.fromkeys(self.flags.values(), 1)
        )

    @property
    def ports(self) -> dict[str, In | Out]:
        return {
            "i": In(stream.Signature(self.task)),
            "o": Out(stream.Signature(self.result)),
            "overflow": Out(len(self.flags)),
            "clear": In(1),
        }

    def keep_flags(self, m: Module, core: Any, taken: Value) -> None:
        """``core.overflow`` has seen the flags of every result ``taken`` since ``core.clear``."""
        for k, flag in enumerate(self.flags.values()):
            seen = taken & core.o.payload[flag]
            m.d.sync += core.overflow[k].eq(Mux(core.clear, 0, core.overflow[k]) | seen)
