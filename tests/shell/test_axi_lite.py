"""Registers behind AXI4-Lite; `sim.task_bench` has them under another master too."""

from __future__ import annotations

import gc
import random
from functools import partial
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.sim import Simulator

from rbdgen.shell.axi_lite import AxiLite, HostRegister, Resp, axi_lite_ports, connect_axi_lite

FIXED = 0x47444252
TABLE = (
    HostRegister("fixed", 0x00, "a constant"),
    HostRegister("first", 0x08, "a register", writable=True),
    HostRegister("second", 0x3C, "a register", writable=True),
)
WRITABLE = {register.offset for register in TABLE if register.writable}


class Registers(wiring.Component):
    """Two registers that keep what is written, and a constant."""

    def __init__(self) -> None:
        super().__init__(axi_lite_ports(8))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.bus = bus = AxiLite(TABLE, 8)
        connect_axi_lite(m, self, bus)
        m.d.comb += bus.value_fixed.eq(FIXED)
        for value, write in (
            (bus.value_first, bus.write_first),
            (bus.value_second, bus.write_second),
        ):
            kept = Signal(32)
            m.d.comb += value.eq(kept)
            with m.If(write):
                m.d.sync += kept.eq(kept & ~bus.write_mask | bus.write_data & bus.write_mask)
        return m


async def transfer(
    ctx: Any, bus: Any, asking: dict[str, int], answering: tuple[str, int]
) -> tuple[int, int]:
    """Ask on some channels, be answered on one, each as many clocks from now as is given.

    Returns when the last question was taken and when the answer was first offered, in clocks.
    """
    answer, patience = answering
    waiting, clock, taken, offered = dict(asking), 0, -1, -1
    while True:
        for channel in asking:
            ctx.set(bus[f"{channel}valid"], channel in waiting and clock >= waiting[channel])
        ctx.set(bus[f"{answer}ready"], clock >= patience)
        for channel in list(waiting):
            if ctx.get(bus[f"{channel}valid"]) and ctx.get(bus[f"{channel}ready"]):
                del waiting[channel]
                taken = clock
        if ctx.get(bus[f"{answer}valid"]):
            assert not waiting and clock > taken, "answered before it was asked"
            offered = clock if offered < 0 else offered
        else:
            assert offered < 0, "an answer withdrawn"
        done = offered >= 0 and clock >= patience
        if done:
            return taken, offered
        await ctx.tick()
        clock += 1
        assert clock < 100, "no answer"


async def watchdog(ctx: Any) -> None:
    for _ in range(20000):
        await ctx.tick()
    raise AssertionError("it hangs")


def simulate(*benches: Any) -> None:
    design = Registers()
    bus = {name: getattr(design, name) for name in axi_lite_ports(8)}
    simulator = Simulator(design)
    simulator.add_clock(1e-8)
    for bench in benches:
        simulator.add_testbench(partial(bench, bus=bus))
    simulator.add_testbench(watchdog, background=True)
    simulator.run()


def test_reads_and_writes_at_random() -> None:
    """Halves of a write in either order, patience of any length, strobes, wrong addresses."""
    rng = random.Random(5)
    model = {0x00: FIXED, 0x08: 0, 0x3C: 0}

    def pause() -> int:
        return rng.choice((0, 0, 1, 2, 7))

    async def bench(ctx: Any, bus: Any) -> None:
        for _ in range(400):
            address = rng.choice((0x00, 0x08, 0x3C, 0x3C, 0x08, 0x04, 0x48, 0x88, 0xFC))
            ctx.set(bus["araddr"], address | rng.randrange(4))
            ctx.set(bus["awaddr"], address | rng.randrange(4))
            if rng.random() < 0.5:
                await transfer(ctx, bus, {"ar": pause()}, ("r", pause()))
                assert ctx.get(bus["rdata"]) == model.get(address, 0)
                right = Resp.OKAY if address in model else Resp.SLVERR
                assert ctx.get(bus["rresp"]) == right
            else:
                word, strobes = rng.getrandbits(32), rng.getrandbits(4)
                ctx.set(bus["wdata"], word)
                ctx.set(bus["wstrb"], strobes)
                await transfer(ctx, bus, {"aw": pause(), "w": pause()}, ("b", pause()))
                right = Resp.OKAY if address in WRITABLE else Resp.SLVERR
                assert ctx.get(bus["bresp"]) == right
                if address in WRITABLE:
                    mask = sum(0xFF << 8 * k for k in range(4) if strobes >> k & 1)
                    model[address] = model[address] & ~mask | word & mask
            await ctx.tick()
            for channel in ("r", "b"):
                ctx.set(bus[f"{channel}ready"], 0)

    simulate(bench)


def test_latency() -> None:
    async def bench(ctx: Any, bus: Any) -> None:
        assert not any(ctx.get(bus[name]) for name in ("arready", "awready", "wready"))
        await ctx.tick().repeat(2)
        assert await transfer(ctx, bus, {"ar": 0}, ("r", 9)) == (0, 2)
        await ctx.tick()
        assert await transfer(ctx, bus, {"aw": 3, "w": 0}, ("b", 0)) == (3, 5)

    simulate(bench)


def test_reads_pass_a_write_that_waits() -> None:
    """A write whose data does not come holds up no read."""

    async def bench(ctx: Any, bus: Any) -> None:
        ctx.set(bus["awvalid"], 1)
        await ctx.tick().until(bus["awready"])
        ctx.set(bus["awvalid"], 0)
        await transfer(ctx, bus, {"ar": 0}, ("r", 0))
        assert ctx.get(bus["rdata"]) == FIXED

    simulate(bench)


def test_one_answer_waits_for_the_other() -> None:
    """What is asked while an answer stands is done, and answered, after that was taken."""

    async def bench(ctx: Any, bus: Any) -> None:
        for address, word in ((0x04, 1), (0x08, 2)):
            ctx.set(bus["awaddr"], address)
            ctx.set(bus["wdata"], word)
            ctx.set(bus["wstrb"], 15)
            ctx.set(bus["araddr"], address)
            for request in ("aw", "w", "ar"):
                ctx.set(bus[f"{request}valid"], 1)
                await ctx.tick().until(bus[f"{request}ready"])
                ctx.set(bus[f"{request}valid"], 0)
            await ctx.tick().repeat(9)
            for answer in ("b", "r"):
                assert ctx.get(bus[f"{answer}valid"])
                assert ctx.get(bus[f"{answer}resp"]) == Resp.SLVERR
            assert ctx.get(bus["rdata"]) == 0
        for answer in ("b", "r"):
            ctx.set(bus[f"{answer}ready"], 1)
            await ctx.tick()
            await ctx.tick().until(bus[f"{answer}valid"])
            ctx.set(bus[f"{answer}ready"], 0)
        assert ctx.get(bus["bresp"]) == ctx.get(bus["rresp"]) == Resp.OKAY
        assert ctx.get(bus["rdata"]) == 2

    simulate(bench)


def test_requests_without_a_pause() -> None:
    """Valids that stay up, from one request to the next: each is answered once."""
    addresses = [0x00, 0x08, 0x3C, 0x04] * 5

    def sender(channel: str, signal: str, values: list[int]) -> Any:
        async def bench(ctx: Any, bus: Any) -> None:
            ctx.set(bus["wstrb"], 15)
            for value in values:
                ctx.set(bus[signal], value)
                ctx.set(bus[f"{channel}valid"], 1)
                await ctx.tick().until(bus[f"{channel}ready"])
            ctx.set(bus[f"{channel}valid"], 0)

        return bench

    def receiver(channel: str, right: set[int]) -> Any:
        async def bench(ctx: Any, bus: Any) -> None:
            ctx.set(bus[f"{channel}ready"], 1)
            for address in addresses:
                (resp,) = (
                    await ctx.tick().sample(bus[f"{channel}resp"]).until(bus[f"{channel}valid"])
                )
                assert resp == (Resp.OKAY if address in right else Resp.SLVERR)

        return bench

    async def afterwards(ctx: Any, bus: Any) -> None:
        await ctx.tick().repeat(200)
        for address, word in ((0x08, 17), (0x3C, 18)):
            ctx.set(bus["araddr"], address)
            await transfer(ctx, bus, {"ar": 0}, ("r", 0))
            assert ctx.get(bus["rdata"]) == word
            await ctx.tick()

    simulate(
        sender("ar", "araddr", addresses),
        sender("aw", "awaddr", addresses),
        sender("w", "wdata", list(range(len(addresses)))),
        receiver("r", {0x00, *WRITABLE}),
        receiver("b", WRITABLE),
        afterwards,
    )


@pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
def test_tables_that_cannot_be_are_refused() -> None:
    for problem, offsets in (
        ("overlap", (0, 4, 4)),
        ("not aligned", (2,)),
        ("beyond 8 bits", (0x100,)),
    ):
        table = [HostRegister(f"r{k}", offset, "") for k, offset in enumerate(offsets)]
        with pytest.raises(ValueError, match=problem):
            AxiLite(table, 8)
    gc.collect()  # while the warnings are off
