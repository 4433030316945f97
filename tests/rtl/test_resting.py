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
    """The part of a folded core that takes tasks; ``phase``: that of the copies, -1 for none."""

    def __init__(self, interval: int) -> None:
        self.interval = interval
        self.valid, self.ready = Signal(), Signal()
        self.copies = [Signal() for _ in range(interval)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        phases = Phases(m, self.interval, rests=True)
        fire, pause = Signal(), phases.copy([-WAKING])
        ready = phases.rest(phases.copy([-1]), pause, fire, self.valid, ROUNDS)
        m.d.sync += self.ready.eq(ready)
        m.d.comb += fire.eq(self.valid & self.ready)
        m.d.comb += [own.eq(phases.copy([k])) for k, own in enumerate(self.copies)]
        return m


def offered(interval: int, start: int) -> tuple[bool, int, list[int]]:
    """Of a task offered after so many cycles: whether the phases rest, how long it waits, and the
    phases of an interval from the cycle in which it is taken, -1 where none is set."""
    dut, found = Taking(interval), []
    simulator = Simulator(dut)
    simulator.add_clock(1e-6)

    async def offer(ctx: Any) -> None:
        def phase() -> int:
            (*set_, _) = *(k for k, own in enumerate(dut.copies) if ctx.get(own)), -1
            assert len(set_) <= 1
            return set_[0] if set_ else -1

        for _ in range(start):
            await ctx.tick()
        rests, waited = phase() < 0, 0
        ctx.set(dut.valid, 1)
        while not ctx.get(dut.ready):
            await ctx.tick()
            waited += 1
        seen = []
        for _ in range(interval):
            seen.append(phase())
            await ctx.tick()
            ctx.set(dut.valid, 0)
        found.append((rests, waited, seen))

    simulator.add_testbench(offer)
    simulator.run()
    return found[0]


@pytest.mark.parametrize("interval", [2, 3, 5, 8])
def test_a_task_waits_for_its_phase_and_where_they_rest_for_waking(interval: int) -> None:
    """Whenever it comes, the phases of its interval are all there, one after the other."""
    every = [offered(interval, start) for start in range(interval, (ROUNDS + 5) * interval)]
    assert all(seen == list(range(interval)) for _, _, seen in every)
    assert max(waited for _, waited, _ in every) == max(interval - 1, WAKING)
    assert {waited for rests, waited, _ in every if rests} == {WAKING}
    # the first rounds are awake
    assert sorted(waited for _, waited, _ in every[:interval]) == list(range(interval))
