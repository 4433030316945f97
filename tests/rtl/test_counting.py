"""Small counters as logic: every value of every width that is used."""

from __future__ import annotations

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator, SimulatorContext

from rbdgen.rtl.counting import plus


@pytest.mark.parametrize("width", [1, 3, 5])
def test_plus_wraps_as_a_counter_does(width: int) -> None:
    m, count, size = Module(), Signal(width), 1 << width
    sums = {number: Signal(width, name=f"sum_{k}") for k, number in enumerate(range(-size, size))}
    m.d.comb += [total.eq(plus(count, number)) for number, total in sums.items()]

    async def bench(context: SimulatorContext) -> None:
        for value in range(size):
            context.set(count, value)
            for number, total in sums.items():
                assert context.get(total) == (value + number) % size

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
