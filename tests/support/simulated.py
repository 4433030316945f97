"""Logic and pipelines in Amaranth's own simulator, where nothing has to be compiled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.sim import Simulator, SimulatorContext

from rbdgen.rtl.multiplier import Multiplier


def answers(
    inputs: Sequence[Signal],
    words: Sequence[Sequence[int]],
    values: Sequence[Value],
    m: Module | None = None,
) -> list[list[int]]:
    """The values (words, values) of logic without registers."""
    found = []

    async def bench(context: SimulatorContext) -> None:
        for own in words:
            for signal, word in zip(inputs, own, strict=True):
                context.set(signal, word)
            found.append([context.get(value) for value in values])

    simulator = Simulator(m or Module())
    simulator.add_testbench(bench)
    simulator.run()
    return found


def streamed(
    design: Elaboratable,
    inputs: Sequence[Signal],
    words: Sequence[Sequence[int]],
    outputs: Sequence[Value],
    latency: int,
) -> list[list[int]]:
    """The outputs (words, outputs) ``latency`` cycles after their words, of which one comes in
    every cycle; zeros come behind the last."""
    found = []

    async def bench(context: SimulatorContext) -> None:
        for cycle in range(len(words) + latency):
            own = words[cycle] if cycle < len(words) else [0] * len(inputs)
            for signal, word in zip(inputs, own, strict=True):
                context.set(signal, int(word))
            if cycle >= latency:
                found.append([context.get(value) for value in outputs])
            await context.tick()

    simulator = Simulator(design)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


@dataclass(frozen=True, order=True)
class Product(Multiplier):
    """A multiplier for this simulator, in place of the one whose module is Verilog."""

    def instance(self, *, a: Value, b: Value, p: Value) -> Module:
        assert (len(a), len(b), len(p)) == (self.a_width, self.b_width, self.a_width + self.b_width)
        m, product = Module(), a.as_signed() * b.as_signed()
        for _ in range(self.latency):
            register = Signal(product.shape(), reset_less=True)
            m.d.sync += register.eq(product)
            product = register
        m.d.comb += p.eq(product)
        return m


def ports(rtlil: str) -> dict[str, tuple[str, int, bool]]:
    """Direction, width and whether signed, of the ports of a text of one module, in their order."""
    line = r"^  wire width (\d+) (input|output) (\d+) ( signed)? ?\\(\w+)$"
    lines = re.findall(line, rtlil, re.M)
    assert lines
    in_order = sorted(lines, key=lambda line: int(line[2]))
    return {name: (way, int(width), bool(of)) for width, way, _, of, name in in_order}


def cells(rtlil: str) -> dict[str, tuple[str, dict[str, str]]]:
    """The module and the connections of every instance with a name."""
    found = re.findall(r"^  cell \\(\w+) \\(\w+)\n(.*?)^  end$", rtlil, re.M | re.S)
    return {
        name: (kind, dict(re.findall(r"connect (\w+) (.+)", body.replace("\\", ""))))
        for kind, name, body in found
    }
