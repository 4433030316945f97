"""Phases that rest, alone: which cycles take a task, and for how long it waits at most."""

from __future__ import annotations

from typing import Any

import pytest
from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.sim import Simulator

from rbdgen.rtl.arithmetic import Phases
from rbdgen.schedule.fold import WAKING

ROUNDS = 3  # without a task, until they rest


class Taking(Elaboratable):
    """The part of a folded core that takes tasks."""

    def __init__(self, interval: int) -> None:
        self.interval = interval
        self.valid, self.ready, self.rests = Signal(), Signal(), Signal()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        phases = Phases(m, self.interval, rests=True)
        fire = Signal()
        last = phases.copy([-1])
        ready = phases.rest(last, fire, self.valid, ROUNDS)
        m.d.sync += self.ready.eq(ready)
        quiet = Signal(range(2 * self.interval + 1))  # cycles in which the copy was not set
        with m.If(last):
            m.d.sync += quiet.eq(0)
        with m.Elif(quiet != 2 * self.interval):
            m.d.sync += quiet.eq(quiet + 1)
        m.d.comb += [fire.eq(self.valid & self.ready), self.rests.eq(quiet >= self.interval)]
        return m


def waits(interval: int, starts: range) -> list[tuple[bool, int, int]]:
    """Of a task offered after so many cycles: whether the phases rest, how long it waits, and the
    phase in which it is taken."""
    found = []
    for start in starts:
        dut = Taking(interval)
        simulator = Simulator(dut)
        simulator.add_clock(1e-6)

        async def offer(ctx: Any, dut: Taking = dut, start: int = start) -> None:
            await ctx.tick().repeat(start)
            rests, waited = bool(ctx.get(dut.rests)), 0
            ctx.set(dut.valid, 1)
            while not ctx.get(dut.ready):
                await ctx.tick()
                waited += 1
            found.append((rests, waited, (start + waited) % interval))

        simulator.add_testbench(offer)
        simulator.run()
    return found


@pytest.mark.parametrize("interval", [2, 3, 5, 8])
def test_a_task_waits_for_its_phase_and_where_they_rest_for_waking(interval: int) -> None:
    long = (ROUNDS + 4) * interval
    every = waits(interval, range(interval, long + interval))
    assert {phase for _, _, phase in every} == {0}
    resting = [waited for rests, waited, _ in every if rests]
    assert (min(resting), max(resting)) == (WAKING, interval - 1 + WAKING)
    # the first rounds are awake
    awake = [waited for _, waited, _ in every[:interval]]
    assert sorted(awake) == list(range(interval))
