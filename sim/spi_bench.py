"""The bench of a board on SPI: its whole top, from pin to pin, by a controller of its own clock."""

import random
from collections.abc import Sequence
from typing import Any

import cocotb
from cocotb.triggers import Timer

from rbdgen.shell.packets import FLAG

from .board_bench import SCENARIO, Host, bursts, restarted, start

FASTEST_PS = SCENARIO["spi_ps"]  # the shortest period of the bus's clock
IDLE = bytes([FLAG])


class Spi:
    """`sim.board_bench.Line` over the pins; ``period``: of the controller's clock, in ps.

    ``polarity``: the clock's level between transfers, of mode 0 or 3.
    """

    def __init__(self, dut: Any, period: float = 1.0, polarity: int = 0) -> None:
        self.dut, self.half, self.polarity = dut, round(FASTEST_PS * period / 2), polarity
        self._queue, self._come = bytearray(), bytearray()
        dut.cs_n.value = 1
        dut.sck.value = polarity
        dut.copi.value = 0

    def send(self, frames: Sequence[bytes]) -> None:
        self._queue += b"".join(frames)

    async def sent(self) -> None:
        data, self._queue = bytes(self._queue), bytearray()
        self._come += await self.transfer(data)

    async def receive(self) -> bytes:
        while True:
            await self.sent()
            found = bytes(self._come) + await self.transfer(IDLE * 24)
            self._come.clear()
            if found.strip(IDLE):
                return found

    def heard(self) -> bool:
        return bool(self.dut.ready.value) or bool(self._come.strip(IDLE))

    async def transfer(self, data: bytes, bits: int | None = None) -> bytes:
        """So many bits of it, or all; the whole bytes that came back."""
        dut, found = self.dut, 0
        bits = 8 * len(data) if bits is None else bits
        dut.sck.value = self.polarity  # of another mode it was another one
        await Timer(self.half, "ps")
        dut.cs_n.value = 0
        await Timer(self.half, "ps")
        for k in range(bits):
            dut.sck.value = 0
            dut.copi.value = data[k // 8] >> 7 - k % 8 & 1
            await Timer(self.half, "ps")
            found = found << 1 | int(dut.cipo.value)
            dut.sck.value = 1
            await Timer(self.half, "ps")
        dut.sck.value = self.polarity
        await Timer(self.half, "ps")
        dut.cs_n.value = 1
        await Timer(self.half, "ps")
        return (found >> bits % 8).to_bytes(bits // 8, "big")


@cocotb.test()
async def back_to_back(dut: Any) -> None:
    """Bursts of frames from controllers of several clocks, in both modes."""
    Spi(dut)
    await start(dut)
    for polarity, period in ((0, 1.0), (1, 1.003), (0, 1.37), (1, 5.3)):
        host = Host(dut, Spi(dut, period, polarity))
        for burst in bursts(host, len(SCENARIO["tasks"])):
            host.line.send(burst)
            await host.line.sent()
            await host.answered()
        await host.silence()
        assert host.broken == 0


@cocotb.test()
async def noise(dut: Any) -> None:
    """Edges and levels while the chip select is high mean nothing."""
    rng = random.Random(cocotb.RANDOM_SEED)
    line = Spi(dut)
    await start(dut)
    host = Host(dut, line)
    for _ in range(8):
        for _ in range(rng.randrange(30)):
            dut.sck.value = rng.randrange(2)
            dut.copi.value = rng.randrange(2)
            await Timer(rng.randrange(1, 200), "ns")
        dut.sck.value = 0
        await Timer(1, "us")
        line.send([host.frame()])
        await host.answered()
    await host.silence()
    assert host.broken == 0


@cocotb.test()
async def cut(dut: Any) -> None:
    """The chip select rises anywhere. A controller that goes on with the byte that was cut has lost
    nothing; one that begins its frame anew is told of a damaged one."""
    line = Spi(dut, 1.2)
    await start(dut)
    host = Host(dut, line)
    longest = max(len(task) // 2 for task in SCENARIO["tasks"])
    for bits in range(1, 8 * longest, 29):
        frame = host.frame()
        at = min(bits, 8 * len(frame) - 1)
        line._come += await line.transfer(frame, at)
        line.send([frame[at // 8 :]])
        await host.answered()
    assert host.broken == 0
    damaged = 0
    for bits in range(1, 8 * longest, 29):
        frame = host.frame()
        at = min(bits, 8 * len(frame) - 9)
        damaged += at // 8 > 1
        line._come += await line.transfer(frame, at)
        line.send([frame])
        await host.answered()
    await host.silence()
    assert host.broken == damaged > 2


@cocotb.test()
async def resets(dut: Any) -> None:
    """The button at any time: what follows is answered as after the first start."""
    line = Spi(dut)
    await start(dut)
    host = Host(dut, line)

    async def silent() -> None:
        await line.sent()

    await restarted(host, random.Random(cocotb.RANDOM_SEED), 4, silent)
    await host.silence()
