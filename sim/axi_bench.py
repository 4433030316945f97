"""The bench of a design behind an AXI4-Stream shell: packets in, packets out, every bit compared.

It knows nothing of the core. The environment variable RBDGEN_SCENARIO names a JSON file:

    packets           tasks, each a list of beats (unsigned ``tdata``)
    results           their results, in the same order and form
    malformed         packets of a length that no task has
    clocks_per_task   the rate that the design promises through its links
    takes_every       n: the core takes tasks in every n-th cycle alone
    resumes           n: after a result that waited the next comes within n cycles; 1: none waits
    drain             clocks after which nothing of a finished run can still be on its way

Ports are those of `rbdgen.shell.axi.Shell`.
"""

import json
import os
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer, with_timeout
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

SCENARIO = json.loads(Path(os.environ["RBDGEN_SCENARIO"]).read_text("utf-8"))
PERIOD_NS = 10

Packet = Sequence[int]


class Bench:
    """Clock, reset, a source, a sink and what they saw: the clock of every TLAST on either link."""

    def __init__(self, dut: Any, *, reset_source: bool = True) -> None:
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, PERIOD_NS, unit="ns").start())
        # One lane as wide as the link, so that a frame is a list of beats.
        self.source = AxiStreamSource(
            AxiStreamBus.from_prefix(dut, "s_axis"),
            dut.clk,
            dut.rst if reset_source else None,
            byte_lanes=1,
        )
        self.sink = AxiStreamSink(
            AxiStreamBus.from_prefix(dut, "m_axis"), dut.clk, dut.rst, byte_lanes=1
        )
        for link in (self.source, self.sink):
            link.log.setLevel("WARNING")
        self.taken: list[int] = []
        self.given: list[int] = []
        cocotb.start_soon(self._watch())

    async def reset(self) -> None:
        """Two clocks of reset; neither link may shake hands in the second."""
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, 2)
        assert not self.dut.s_axis_tready.value, "tready during reset"
        assert not self.dut.m_axis_tvalid.value, "tvalid during reset"
        self.dut.rst.value = 0

    def send(self, packets: Sequence[Packet]) -> None:
        for packet in packets:
            self.source.send_nowait(AxiStreamFrame(list(packet)))

    async def expect(self, results: Sequence[Packet]) -> None:
        """The results, one frame each, in this order, and then nothing."""
        clocks = 50 * (SCENARIO["clocks_per_task"] + 1) + SCENARIO["drain"]
        for number, result in enumerate(results):
            frame = await with_timeout(self.sink.recv(), clocks * PERIOD_NS, "ns")
            assert list(frame.tdata) == list(result), f"result {number}"
        self.sink.clear_pause_generator()
        self.sink.pause = False
        await ClockCycles(self.dut.clk, SCENARIO["drain"])
        assert self.sink.empty() and self.sink.idle(), "a result that no task asked for"

    async def _watch(self) -> None:
        """Record TLAST handshakes; check that an offer on ``m_axis`` stands until it is taken."""
        dut, clock, offer = self.dut, 0, None
        while True:
            # All that the coming rising edge samples has settled by the falling edge before it.
            await FallingEdge(dut.clk)
            clock += 1
            if dut.rst.value:
                offer = None
                continue
            valid, ready = bool(dut.m_axis_tvalid.value), bool(dut.m_axis_tready.value)
            now = (int(dut.m_axis_tdata.value), int(dut.m_axis_tlast.value)) if valid else None
            assert offer is None or now == offer, "an offer changed before it was taken"
            offer = now if valid and not ready else None
            if valid and ready and dut.m_axis_tlast.value:
                self.given.append(clock)
            if dut.s_axis_tvalid.value and dut.s_axis_tready.value and dut.s_axis_tlast.value:
                self.taken.append(clock)


def random_pauses(rng: random.Random) -> Iterator[bool]:
    """Pauses in stretches of random length and density: idle, broken, and none at all."""
    while True:
        density = rng.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        for _ in range(rng.randrange(1, 40)):
            yield rng.random() < density


def pause_at_random(bench: Bench) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    bench.source.set_pause_generator(random_pauses(random.Random(rng.random())))
    bench.sink.set_pause_generator(random_pauses(random.Random(rng.random())))


@cocotb.test()
async def full_rate(dut: Any) -> None:
    """Without pauses results leave at the promised interval, and tasks are taken at it."""
    bench = Bench(dut)
    await bench.reset()
    bench.send(SCENARIO["packets"])
    await bench.expect(SCENARIO["results"])
    assert not dut.framing_error.value
    assert len(bench.taken) == len(SCENARIO["packets"])
    clocks = SCENARIO["clocks_per_task"]
    gaps = {b - a for a, b in pairwise(bench.given)}
    assert max(gaps) <= clocks if SCENARIO["resumes"] == clocks else gaps == {clocks}
    # A slower output link holds the input back only once the buffers between them are full, then
    # until there is room, which is so when the next result is there, and until the next cycle in
    # which the core takes a task.
    late = SCENARIO["resumes"] - 1 + SCENARIO["takes_every"] - 1
    longest = clocks + late
    assert all(b - a <= longest for a, b in pairwise(bench.taken))


@cocotb.test()
async def random_back_pressure(dut: Any) -> None:
    """Pauses on both links lose, double and reorder nothing."""
    bench = Bench(dut)
    await bench.reset()
    pause_at_random(bench)
    bench.send(SCENARIO["packets"])
    await bench.expect(SCENARIO["results"])
    assert not dut.framing_error.value


@cocotb.test()
async def framing_errors(dut: Any) -> None:
    """Packets of a wrong length leave no trace but the flag; those between them all arrive."""
    bench = Bench(dut)
    await bench.reset()
    half = len(SCENARIO["packets"]) // 2
    bench.send(SCENARIO["packets"][:half])
    await bench.expect(SCENARIO["results"][:half])
    assert not dut.framing_error.value
    pause_at_random(bench)
    good = zip(SCENARIO["packets"][half:], SCENARIO["results"][half:], strict=True)
    expected = []
    for malformed in SCENARIO["malformed"]:
        packet, result = next(good)
        bench.send([malformed, packet])
        expected.append(result)
    await bench.expect(expected)
    assert dut.framing_error.value
    await bench.reset()
    await RisingEdge(dut.clk)
    assert not dut.framing_error.value


@cocotb.test()
async def reset_in_a_packet(dut: Any) -> None:
    """Reset at any beat, tasks in flight: what came before is forgotten, what follows is whole."""
    bench = Bench(dut)
    await bench.reset()
    beats = len(SCENARIO["packets"][0])
    for cut in range(1, beats + 3):
        bench.send(SCENARIO["packets"])
        await RisingEdge(dut.s_axis_tready)
        await ClockCycles(dut.clk, 3 * beats + cut)
        bench.source.clear()
        await bench.reset()
        bench.sink.clear()
        bench.send(SCENARIO["packets"][cut : cut + 4])
        await bench.expect(SCENARIO["results"][cut : cut + 4])
        assert not dut.framing_error.value
        await bench.reset()


@cocotb.test()
async def source_without_reset(dut: Any) -> None:
    """What a source offers while the design is in reset is neither lost nor doubled."""
    bench = Bench(dut, reset_source=False)
    bench.send(SCENARIO["packets"])
    await bench.reset()
    await bench.expect(SCENARIO["results"])
    assert not dut.framing_error.value


@cocotb.test()
async def registered_outputs(dut: Any) -> None:
    """Between two clock edges no input moves an output."""
    bench = Bench(dut)
    await bench.reset()
    pause_at_random(bench)
    inputs = (dut.s_axis_tvalid, dut.s_axis_tdata, dut.s_axis_tlast, dut.m_axis_tready)
    outputs = (
        dut.s_axis_tready,
        dut.m_axis_tvalid,
        dut.m_axis_tdata,
        dut.m_axis_tlast,
        dut.framing_error,
    )
    bench.send(SCENARIO["packets"])
    for _ in range(200):
        await FallingEdge(dut.clk)
        driven = [signal.value for signal in inputs]
        before = [signal.value for signal in outputs]
        for signal, value in zip(inputs, driven, strict=True):
            signal.value = ~value
        await Timer(1, "ns")
        after = [signal.value for signal in outputs]
        for signal, value in zip(inputs, driven, strict=True):
            signal.value = value
        assert after == before
    await bench.expect(SCENARIO["results"])
