"""Time-multiplexed limbs, in Verilator: every bit and flag of the whole robot's integer model, on
time."""

from __future__ import annotations

from collections.abc import Callable
from unittest import mock

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.sim import Simulator

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.rtl import round_trip
from rbdgen.rtl.cores import core_of as hardware_of
from rbdgen.rtl.delay_line import LutRam
from rbdgen.rtl.region import RegionPipeline
from rbdgen.schedule.limbs import LimbPlan
from rbdgen.tools.model import Model
from tests.support.cores import (
    any_words,
    check,
    check_on_time,
    core_of,
    memory_of,
    shared_folder,
    states_within_limits,
    verilated,
)
from tests.support.limbs import robot_of_limbs

SENSES = [(1, 1), (-1, 1), (1, -1), (-1, -1)]


def limbs(n: int, *functions: str) -> Product:
    return core_of(robot_of_limbs(SENSES[:n]), functions=functions, fold="limbs")


CASES: dict[str, Callable[[], Product]] = {
    "two": lambda: limbs(2, "id"),
    "three": lambda: limbs(3, "fd"),
    "four_with_constants": lambda: limbs(4, "m"),  # and with inputs that nothing reads
    "hyq_did_12": lambda: compile_front(front_end("hyq", functions=("did",), ii=12)),
    "hyq_did": lambda: compile_front(front_end("hyq", functions=("did",), fold="limbs")),
}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("three", "hyq_did", "hyq_did_12")]


@pytest.fixture(scope="module", params=["two", "four_with_constants", *SLOW])
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Product, Model]:
    core = CASES[request.param]()
    return core, verilated(core, shared_folder(tmp_path_factory, "cores"), request.param)


@pytest.mark.rtl
def test_every_bit_on_time(built: tuple[Product, Model]) -> None:
    """A task every n clocks, each result after the latency that was predicted."""
    core, model = built
    assert isinstance(core.plan, LimbPlan)
    assert core.plan.interval % len(core.plan.limbs) == 0
    inside, anywhere = states_within_limits(core, 1000, 2), any_words(core, 2000, 1)
    assert not inside.flags.any()
    assert anywhere.flags.any()
    assert not anywhere.flags.all()
    for expected in (inside, anywhere):
        run = model.run(expected.tasks, seed=1)
        check(run, expected)
        check_on_time(run, core)


@pytest.mark.rtl
@pytest.mark.parametrize("stall_out", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("stall_in", [0.0, 0.5, 0.9])
def test_stalls_lose_nothing(
    built: tuple[Product, Model], stall_in: float, stall_out: float
) -> None:
    core, model = built
    expected = any_words(core, 500, 3)
    run = model.run(expected.tasks, stall_in=stall_in, stall_out=stall_out, seed=4)
    check(run, expected)
    took = run.result_cycle - run.accept_cycle
    assert np.diff(run.accept_cycle).min() >= core.plan.interval
    if stall_out == 0:  # no task waits for those behind it
        np.testing.assert_array_equal(took, core.plan.latency)
    else:
        assert took.min() >= core.plan.latency


class Hollow(RegionPipeline):
    """A region's ports alone."""

    def elaborate(self, platform: object) -> Module:
        return Module()


def test_no_path_from_one_side_to_the_other() -> None:
    """Within a cycle ``o.ready`` does not reach ``i.ready``, nor ``i.valid`` ``o.valid``; nothing
    is taken during reset."""
    core = limbs(3, "id")
    assert isinstance(core.plan, LimbPlan)
    with (
        mock.patch.object(round_trip, "RegionPipeline", Hollow),
        mock.patch.object(LutRam, "instance", memory_of),
    ):
        dut = hardware_of(core.plan)
        simulator = Simulator(dut)
    rng = np.random.default_rng(5)
    seen: set[tuple[int, int]] = set()

    async def bench(ctx) -> None:
        assert not ctx.get(dut.i.ready)
        for cycle in range(600):
            sides = []
            for ready, valid in ((0, 1), (1, 0), *rng.integers(0, 2, (1, 2)).tolist()):
                ctx.set(dut.o.ready, ready if cycle % 200 > 60 else 0)  # until all is full
                ctx.set(dut.i.valid, valid if cycle % 200 < 160 else 0)  # until all is empty
                sides.append((ctx.get(dut.i.ready), ctx.get(dut.o.valid)))
            assert len(set(sides)) == 1
            seen.add(sides[0])
            await ctx.tick()

    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == {(0, 0), (0, 1), (1, 0), (1, 1)}
