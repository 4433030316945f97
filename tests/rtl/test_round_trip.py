"""The network of a core's channels: each is as deep as it must be, and no deeper.

What the regions compute does not touch when they fire, so they are left hollow here.
"""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.sim import Simulator

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.rtl import queues as channel
from rbdgen.rtl import round_trip
from rbdgen.rtl.delay_line import LutRam
from rbdgen.rtl.region import RegionPipeline
from rbdgen.rtl.round_trip import RoundTrip
from rbdgen.schedule.channels import Pipeline
from rbdgen.schedule.plan import Channel
from tests.support.cores import core_of, memory_of
from tests.support.random_robots import random_robot

CYCLES = 150  # long enough for every loop of credits to go round several times


class Hollow(RegionPipeline):
    """A region's ports alone."""

    def elaborate(self, platform: object) -> Module:
        return Module()


def transfers(plan: Pipeline, cut: Channel | None = None) -> tuple[list[int], list[int]]:
    """Cycles in which tasks are taken and results given, with every FIFO as deep as predicted
    but ``cut``, which has one place less; neither side ever stalls."""

    def size(of: Channel) -> int:
        return of.depth - (of is cut)

    with (
        mock.patch.object(channel, "capacity", size),
        mock.patch.object(round_trip, "RegionPipeline", Hollow),
        mock.patch.object(LutRam, "instance", memory_of),
    ):
        core = RoundTrip(plan, {})
        simulator = Simulator(core)
    taken, given = [], []

    async def bench(ctx) -> None:  # type: ignore[no-untyped-def]
        ctx.set(core.i.valid, 1)
        ctx.set(core.o.ready, 1)
        for cycle in range(CYCLES):
            if ctx.get(core.i.ready):
                taken.append(cycle)
            if ctx.get(core.o.valid):
                given.append(cycle)
            await ctx.tick()

    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    return taken, given


def plan_of(robot: str) -> Pipeline:
    if robot == "pendulum":
        return compile_front(front_end(robot)).plan
    return core_of(random_robot(np.random.default_rng(33), joints=3, branching=0.5)).plan


@pytest.mark.parametrize(("robot", "cut"), [("pendulum", 9), ("tree", 4)])
def test_depths_are_enough_and_none_is_too_large(robot: str, cut: int) -> None:
    plan = plan_of(robot)
    assert len(plan.channels) >= cut
    taken, given = transfers(plan)
    assert np.diff(taken).tolist() == [1] * (len(taken) - 1)
    assert given == list(range(taken[0] + plan.latency, CYCLES))
    for k in np.random.default_rng(3).permutation(len(plan.channels))[:cut]:
        fifo = plan.channels[k]
        fewer, _ = transfers(plan, cut=fifo)
        assert len(fewer) < len(taken), f"{fifo.sender} to {fifo.receiver}: {fifo.depth}"
