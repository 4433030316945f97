"""What the benches of boards share: tasks sent in frames, answers that must come, and no other.

They know nothing of the core. The environment variable RBDGEN_SCENARIO names a JSON file:

    identity   the design's, of frames
    tasks      payloads in hexadecimal digits, with the tag 0
    answers    their responses, in the same order and form
    clock      Hz of the board's clock
    reset      name of the port of its button, and its level when pressed
    baud       of a serial line
    spi_ps     picoseconds of SPI's clock, at the least
    mac, ip, port   of a board with Ethernet

The payloads are those of `rbdgen.shell.packets`.
"""

import json
import os
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import SimTimeoutError, Timer, with_timeout

from rbdgen.shell.packets import BROKEN, Unframed, framed

SCENARIO = json.loads(Path(os.environ["RBDGEN_SCENARIO"]).read_text("utf-8"))
IDENTITY = SCENARIO["identity"]
OFFERED = 512  # bytes of frames under way: the board's buffer is never full
SETTLED_US = 60  # after which nothing is on its way
PATIENCE_US = 2000


class Line(Protocol):
    """A way to the board."""

    def send(self, frames: Sequence[bytes]) -> None:
        """Queue them, as close to one another as the line has them."""

    async def sent(self) -> None:
        """All is out."""

    async def receive(self) -> bytes:
        """Some bytes of what the board sends."""

    def heard(self) -> bool:
        """Whether there are any."""


class Host:
    """Asks tasks over a line, and takes every answer: right, once, or it says so.

    ``broken``: how often the board said that a frame was damaged.
    """

    def __init__(self, dut: Any, line: Line) -> None:
        self.dut, self.line = dut, line
        self.broken = 0
        self._due: dict[int, bytes] = {}
        self._next = 0
        self._unframed = Unframed(IDENTITY)

    def frame(self) -> bytes:
        """The next task's; its answer is due."""
        k, tag = self._next % len(SCENARIO["tasks"]), self._next
        self._next += 1
        task, answer = (bytearray.fromhex(SCENARIO[kind][k]) for kind in ("tasks", "answers"))
        task[1:3] = answer[2:4] = tag.to_bytes(2, "little")
        self._due[tag] = bytes(answer)
        return framed(IDENTITY, bytes(task))

    def forget(self) -> None:
        """Nobody knows what of the tasks so far is answered."""
        self._due.clear()
        self._unframed = Unframed(IDENTITY)

    async def answered(self, forgotten: bool = False) -> None:
        """All that is due has come, and nothing else but words of damaged frames.

        ``forgotten``: answers to forgotten tasks may come as well.
        """
        while self._due:
            try:
                data = await with_timeout(self.line.receive(), PATIENCE_US, "us")
            except SimTimeoutError:
                tags = ", ".join(map(str, self._due))
                raise AssertionError(
                    f"no answer to {tags}; {self.broken} frames were damaged on their way there, "
                    f"{self._unframed.damaged} back"
                ) from None
            self._take(data, forgotten)

    async def silence(self) -> None:
        """Nothing is left on its way."""
        await Timer(SETTLED_US, "us")
        while self.line.heard():
            self._take(await self.line.receive())
        assert not self._due, f"{len(self._due)} tasks have no answer"

    def _take(self, data: bytes, forgotten: bool = False) -> None:
        for payload in self._unframed.feed(data):
            if payload[0] == BROKEN:
                self.broken += 1
                continue
            due = self._due.pop(int.from_bytes(payload[2:4], "little"), None)
            assert payload == due or (forgotten and due is None), f"answer {payload.hex()}"


def bursts(host: Host, count: int) -> Iterable[list[bytes]]:
    """That many tasks' frames, as many at a time as the board has room for."""
    left = count
    while left:
        burst: list[bytes] = []
        while left and sum(map(len, burst)) < OFFERED:
            burst.append(host.frame())
            left -= 1
        yield burst


async def start(dut: Any) -> None:
    """The board's clock; its button is not pressed."""
    period = round(1e12 / SCENARIO["clock"])
    cocotb.start_soon(Clock(dut.clock, period // 2 * 2, unit="ps").start())
    press(dut, False)
    await Timer(10, "us")  # the PLL locks; the self-test has begun


def press(dut: Any, down: bool) -> None:
    """The reset button."""
    port, pressed = SCENARIO["reset"]
    getattr(dut, port).value = pressed if down else 1 - pressed


async def restarted(
    host: Host, rng: random.Random, times: int, silent: Callable[[], Awaitable[None]]
) -> None:
    """The button pressed somewhere in a burst, held for a while, ``silent`` awaited; then tasks."""
    for _ in range(times):
        for burst in bursts(host, 8):
            host.line.send(burst)
        await Timer(rng.randrange(1, 40_000), "ns")
        press(host.dut, True)
        await Timer(rng.randrange(100, 2000), "ns")
        await silent()
        host.forget()
        press(host.dut, False)
        await Timer(10, "us")
        for burst in bursts(host, 5):
            host.line.send(burst)
            await host.answered(forgotten=True)
