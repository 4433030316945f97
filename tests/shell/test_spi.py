"""SPI: bytes and frames at the wires, the driver and a microcontroller's C on a simulated board."""

from __future__ import annotations

import ctypes
import fcntl
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from amaranth.sim import Simulator, SimulatorContext

from rbdgen import api
from rbdgen.shell.lines import SPI_CLOCKS, SpiLine
from rbdgen.shell.packets import FLAG
from rbdgen.shell.simulation import SimulatedSpiBoard
from rbdgen_host.driver import Dynamics
from rbdgen_host.driver.checking import check_board
from rbdgen_host.driver.ports import SpiPort, opened
from tests.support.host import COMPILER, WARNINGS

BOARD = "ulx3s-85f"
CROSS = shutil.which("arm-none-eabi-gcc")
AWAY = 3  # clocks between an edge of the chip select and one of the clock
IDLE = bytes([FLAG])


class Bus:
    """A controller's wires, and the line's side of its bytes.

    ``heard``: bytes that came in; ``ready``: its levels, each with the bytes that had come when it
    changed. ``period``: clocks of SPI's clock. ``polarity``: its level while
    nothing is transferred, of mode 0 or 3.
    """

    def __init__(self, period: int, polarity: int = 0, longest: int = 64) -> None:
        self.dut, self.period, self.polarity = SpiLine(longest), period, polarity
        self.heard = bytearray()
        self.ready: list[tuple[int, int]] = []

    def run(self, *steps: tuple[str, bytes] | tuple[str, bytes, int]) -> list[bytes]:
        """The bytes that came back in each transfer: of ("send", bytes), of ("cut", bytes, bits);
        between them ("frame", bytes) gives the line a frame to send."""
        back: list[bytes] = []
        simulator = Simulator(self.dut)
        simulator.add_clock(1e-8)
        dut = self.dut

        async def control(ctx: SimulatorContext) -> None:
            ctx.set(dut.cs_n, 1)
            ctx.set(dut.sck, self.polarity)
            await ctx.tick().repeat(AWAY + 5)
            for kind, data, *cut in steps:
                if kind == "frame":
                    for byte in data:
                        ctx.set(dut.i.payload, byte)
                        ctx.set(dut.i.valid, 1)
                        await ctx.tick().until(dut.i.ready)
                    ctx.set(dut.i.valid, 0)
                    await ctx.tick().repeat(4)
                    continue
                (bits,) = cut or [8 * len(data)]
                back.append(await transfer(ctx, data, bits))
            await ctx.tick().repeat(8)

        async def transfer(ctx: SimulatorContext, data: bytes, bits: int) -> bytes:
            high = self.period // 2
            found = 0
            ctx.set(dut.cs_n, 0)
            await ctx.tick().repeat(AWAY)
            for k in range(bits):
                ctx.set(dut.sck, 0)
                ctx.set(dut.copi, data[k // 8] >> 7 - k % 8 & 1)
                await ctx.tick().repeat(self.period - high)
                found = found << 1 | ctx.get(dut.cipo)
                ctx.set(dut.sck, 1)
                await ctx.tick().repeat(high)
            ctx.set(dut.sck, self.polarity)
            await ctx.tick().repeat(AWAY)
            ctx.set(dut.cs_n, 1)
            await ctx.tick().repeat(AWAY)
            return (found >> bits % 8).to_bytes(bits // 8, "big")

        async def hear(ctx: SimulatorContext) -> None:
            watched = dut.o.valid, dut.o.p.byte, dut.ready
            async for _, _, valid, byte, ready in ctx.tick().sample(*watched):
                if not self.ready or self.ready[-1][0] != ready:
                    self.ready.append((ready, len(self.heard)))
                if valid:
                    self.heard.append(byte)

        simulator.add_testbench(control)
        simulator.add_testbench(hear, background=True)
        simulator.run()
        return back


FRAME = bytes([FLAG, 1, 0x80, 0xFF, 0, 0x55, FLAG])


@pytest.mark.parametrize("polarity", [0, 1])
@pytest.mark.parametrize("period", [SPI_CLOCKS, 7, 16])
def test_bytes_go_both_ways(period: int, polarity: int) -> None:
    """Flags where there is nothing to say, and a frame once all of it is there."""
    rng = random.Random(period)
    data, more = rng.randbytes(9), rng.randbytes(len(FRAME) + 2)
    bus = Bus(period, polarity)
    back = bus.run(("send", data), ("frame", FRAME[:-1]), ("send", data), ("frame", FRAME[-1:]),
                   ("frame", FRAME), ("send", more), ("send", more))  # fmt: skip
    assert back[:2] == [IDLE * len(data)] * 2
    assert back[2:] == [FRAME + FRAME[:2], FRAME[2:] + IDLE * 4]
    assert bytes(bus.heard) == data + data + more + more


@pytest.mark.parametrize("bits", range(1, 3 * 8, 3))
def test_a_transfer_that_is_cut(bits: int) -> None:
    """A byte has gone after its eighth bit, either way, or it goes with the next transfer."""
    data = bytes([0xA5, 0x3C, 0x99])
    bus = Bus(SPI_CLOCKS)
    back = bus.run(("frame", FRAME), ("cut", data, bits), ("send", bytes(len(FRAME))))
    whole = bits // 8
    assert back == [FRAME[:whole], FRAME[whole:] + IDLE * whole]
    assert bytes(bus.heard) == data[:whole] + bytes(len(FRAME))


def test_ready_says_that_a_frame_waits() -> None:
    """From its last byte until that has been read."""
    bus = Bus(SPI_CLOCKS)
    part = bytes(len(FRAME) - 1)
    bus.run(("frame", FRAME), ("frame", FRAME), ("send", part), ("send", part), ("send", bytes(3)))
    assert bus.ready == [(0, 0), (1, 0), (0, 2 * len(FRAME))]


@pytest.fixture(scope="module", params=[SPI_CLOCKS, 17])
def board(folder: Path, request: pytest.FixtureRequest) -> Iterator[SimulatedSpiBoard]:
    pytest.importorskip("serial", reason="pyserial is not installed")
    pytest.importorskip("amaranth_boards", reason="amaranth-boards is not installed")
    with api.simulated_board(BOARD, folder, link="spi", period=request.param) as running:
        assert isinstance(running, SimulatedSpiBoard)
        yield running


def test_every_bit_over_spi(folder: Path, board: SimulatedSpiBoard) -> None:
    assert check_board(folder, opened(board.port), 30) == 60


# A bus for a program of the tests: the simulated controller's terminal, of which a transfer gets as
# many bytes as it sends.
TRANSFER = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static int transfers;

int spi_transfer(void *context, const uint8_t *out, uint8_t *in, size_t count)
{
    static int file = -1;
    size_t k = 0;

    (void)context;
    transfers++;
    if (file < 0) {
        struct termios how;
        file = open(getenv("SPI"), O_RDWR | O_NOCTTY);
        tcgetattr(file, &how);
        cfmakeraw(&how);
        how.c_cc[VMIN] = 1;
        tcsetattr(file, TCSANOW, &how);
    }
    if (file < 0 || write(file, out, count) != (ssize_t)count) return -1;
    while (k < count) {
        const ssize_t got = read(file, in + k, count - k);
        if (got <= 0) return -1;
        k += (size_t)got;
    }
    return 0;
}
"""
TICKS = r"""
int main(void)
{
    double q[2], qd[2], qdd[2], tau[2];

    while (scanf("%lf%lf%lf%lf%lf%lf", q, q + 1, qd, qd + 1, qdd, qdd + 1) == 6) {
        const int status = NAME_tick(q, qd, qdd, tau);
        printf("%d %.17g %.17g %d\n", status, tau[0], tau[1], transfers);
    }
    return 0;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_a_microcontrollers_loop(folder: Path, board: SimulatedSpiBoard, tmp_path: Path) -> None:
    """The C beside the bitstream, tick by tick: every bit is the integer model's."""
    place, name = folder / f"board-{BOARD}-spi-simulated", api.read_manifest(folder)["name"]
    source, program = tmp_path / "loop.c", tmp_path / "loop"
    own = f'#include "{place}/{name}_example.c"\n'
    source.write_text(own + TRANSFER + TICKS.replace("NAME", name))
    assert COMPILER is not None
    command = [COMPILER, "-std=gnu99", *WARNINGS, f"-I{folder}", source, "-o", program, "-lm"]
    subprocess.run(command, check=True)
    states = np.random.default_rng(3).uniform(-1, 1, (40, 3, 2))
    states[7, 2] = 1e9  # which no word has
    text = "\n".join(" ".join(map(repr, own.ravel().tolist())) for own in states)
    environment = {"SPI": board.port.removeprefix("spi:")}
    done = subprocess.run(
        [program], input=text, capture_output=True, text=True, check=True, env=environment
    )
    found = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    others = np.arange(len(states)) != 7
    expected = Dynamics(folder, "integer").rnea(*states[others].swapaxes(0, 1))
    assert (found[others, 1:3] == expected).all()
    assert found[-1, 3] == len(states)  # one transfer has a task and its answer
    assert found[7, 0] == 1 and not found[others, 0].any()


@pytest.mark.skipif(CROSS is None, reason="no arm-none-eabi-gcc")
@pytest.mark.parametrize("defined", ["-DSPI_STM32F4", "-DPOLLS=7"])
def test_it_compiles_for_a_microcontroller(
    folder: Path, board: SimulatedSpiBoard, tmp_path: Path, defined: str
) -> None:
    place, name = folder / f"board-{BOARD}-spi-simulated", api.read_manifest(folder)["name"]
    assert CROSS is not None
    core = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
    command = [CROSS, "-std=c99", "-O2", *core, *WARNINGS, defined, f"-I{folder}", "-c"]
    subprocess.run([*command, place / f"{name}_example.c", "-o", tmp_path / "own.o"], check=True)


def test_a_bus_without_a_board(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(api.InputError, match=r"port: spi:.*nothing: .*No such file"):
        SpiPort(f"spi:{tmp_path}/nothing")
    with pytest.raises(api.InputError, match=r"port: spi:.*@fast: invalid literal"):
        SpiPort(f"spi:{tmp_path}/nothing@fast")


def test_linuxs_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's struct spi_ioc_transfer, as its header has it, over a loop from out to in."""
    asked: list[tuple[int, int]] = []

    def ioctl(_: int, request: int, message: bytes) -> None:
        out, into, count, hertz, delay, bits, *others = struct.unpack("=QQIIHBBBBBB", message)
        asked.append((count, hertz))
        assert request == 1 << 30 | len(message) << 16 | ord("k") << 8  # _IOW('k', 0, …)
        assert len(message) == 32 and (delay, bits) == (0, 8) and not any(others)
        ctypes.memmove(into, out, count)

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    (tmp_path / "spidev0.0").write_bytes(b"")
    port = SpiPort(f"spi:{tmp_path}/spidev0.0@8000000")
    data = random.Random(1).randbytes(5000)
    port.write(data)
    assert port.read(1.0).startswith(data)
    port.close()
    assert asked[:2] == [(4096, 8_000_000), (5000 - 4096, 8_000_000)]
