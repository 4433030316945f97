"""The bench of a board with a serial line: its whole top, from pin to pin."""

import random
from collections.abc import Sequence
from typing import Any

import cocotb
from cocotb.triggers import Timer
from cocotbext.uart import UartSink, UartSource

from .board_bench import SCENARIO, Host, bursts, restarted, start

BAUD = SCENARIO["baud"]
WRONG_BAUD = 0.02  # of the host's clock


class Serial:
    """`sim.board_bench.Line` over the pins ``rx`` and ``tx``; ``fast``: of the host, relative."""

    def __init__(self, dut: Any, fast: float = 0.0) -> None:
        self.source = UartSource(dut.rx, baud=round(BAUD * (1 + fast)))
        self.sink = UartSink(dut.tx, baud=round(BAUD * (1 + fast)))
        for side in (self.source, self.sink):
            side.log.setLevel("WARNING")

    def send(self, frames: Sequence[bytes]) -> None:
        self.source.write_nowait(b"".join(frames))

    async def sent(self) -> None:
        await self.source.wait()

    async def receive(self) -> bytes:
        return bytes(await self.sink.read())

    def heard(self) -> bool:
        return not self.sink.empty()


@cocotb.test()
async def back_to_back(dut: Any) -> None:
    """Frames without a pause, from hosts whose clocks are right, fast and slow."""
    dut.rx.value = 1
    await start(dut)
    for fast in (0.0, WRONG_BAUD, -WRONG_BAUD):
        host = Host(dut, Serial(dut, fast))
        for burst in bursts(host, len(SCENARIO["tasks"])):
            host.line.send(burst)
            await host.answered()
        await host.silence()
        assert host.broken == 0
        host.line.source._run_cr.cancel()
        host.line.sink._run_cr.cancel()


@cocotb.test()
async def noise(dut: Any) -> None:
    """Glitches while the line is idle, and frames of which levels are turned over: what was not
    touched is answered."""
    rng = random.Random(cocotb.RANDOM_SEED)
    await start(dut)
    line = Serial(dut)
    host = Host(dut, line)
    for _ in range(16):
        for _ in range(rng.randrange(4)):
            dut.rx.value = 0
            await Timer(rng.randrange(1, 2000), "ns")
            dut.rx.value = 1
            await Timer(rng.randrange(1, 2000), "ns")
        await Timer(10_000_000_000 // BAUD, "ns")  # what the noise has begun ends
        if rng.random() < 0.5:
            line.send([host.frame()])
            host.forget()
            for _ in range(rng.randrange(1, 4)):
                await Timer(rng.randrange(1, 30_000), "ns")
                dut.rx.value = 1 - int(dut.rx.value)
        await line.sent()
        dut.rx.value = 1
        await Timer(20_000_000_000 // BAUD, "ns")
        line.send([b"\x7e", host.frame()])
        await host.answered(forgotten=True)
    await host.silence()
    assert host.broken


@cocotb.test()
async def cut(dut: Any) -> None:
    """Frames that end anywhere, the next one right behind."""
    await start(dut)
    host = Host(dut, Serial(dut))
    damaged, longest = 0, max(len(task) // 2 for task in SCENARIO["tasks"])
    for length in range(1, longest + 6, 2):
        frame = host.frame()
        # One flag is no frame, and where but the last one is cut the next task's ends the frame.
        damaged += 1 < length < len(frame) - 1
        host.forget()
        host.line.send([frame[: min(length, len(frame) - 1)], host.frame()])
        await host.answered(forgotten=True)
    await host.silence()
    assert host.broken == damaged > 2


@cocotb.test()
async def resets(dut: Any) -> None:
    """The button at any time: what follows is answered as after the first start."""
    await start(dut)
    line = Serial(dut)

    async def silent() -> None:
        await line.sent()

    host = Host(dut, line)
    await restarted(host, random.Random(cocotb.RANDOM_SEED), 4, silent)
    await host.silence()
