"""UDP over Ethernet: packets as a PHY sees them, and the driver over a local socket."""

from __future__ import annotations

import random
import subprocess
import zlib
from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path

import numpy as np
import pytest
from amaranth.sim import Simulator, SimulatorContext

from rbdgen import api
from rbdgen.api.folder import InputError
from rbdgen.shell.ethernet import Address, UdpLine
from rbdgen.shell.packets import FLAG
from rbdgen.shell.simulation import SimulatedUdpBoard
from rbdgen_benchmarks.bench.board import asked_of
from rbdgen_host.driver import Dynamics
from rbdgen_host.driver.checking import check_board
from rbdgen_host.driver.links import TaskLink, UdpPort
from tests.support.host import COMPILER, example

pytest.importorskip("amaranth_boards", reason="amaranth-boards is not installed")
BOARD = "ecpix5-85f"
OWN = Address("192.168.1.50", 10_000, bytes([2, 0, 0, 1, 2, 3]))
HOST_MAC, HOST_IP, HOST_PORT = bytes(range(16, 22)), IPv4Address("192.168.1.7").packed, 5555
START = b"\x55" * 7 + b"\xd5"


def whole(packet: bytes) -> bytes:
    """Zeros up to the least length, and the checksum."""
    packet = packet.ljust(60, b"\0")
    return packet + zlib.crc32(packet).to_bytes(4, "little")


def request(ip: bytes = OWN.ip_bytes) -> bytes:
    kind = bytes([8, 6, 0, 1, 8, 0, 6, 4, 0, 1])
    return whole(b"\xff" * 6 + HOST_MAC + kind + HOST_MAC + HOST_IP + bytes(6) + ip)


def datagram(own: bytes, port: int = OWN.port, host: int = HOST_PORT) -> bytes:
    ip = (
        bytes([0x45, 0]) + (28 + len(own)).to_bytes(2, "big") + bytes([0, 1, 0x40, 0, 64, 17, 0, 0])
    )
    udp = host.to_bytes(2, "big") + port.to_bytes(2, "big") + (8 + len(own)).to_bytes(2, "big")
    to = OWN.mac + HOST_MAC + b"\x08\0"
    return whole(to + ip + HOST_IP + OWN.ip_bytes + udp + b"\0\0" + own)


def talk(packets: list[bytes], frames: list[bytes]) -> tuple[bytes, list[bytes]]:
    """Bytes of datagrams that come out of packets, and packets that go out for frames."""
    dut, payload, sent = UdpLine(OWN), bytearray(), []

    async def come(ctx: SimulatorContext) -> None:
        for packet in packets:
            for byte in START + packet:
                ctx.set(dut.rx_valid, 1)
                ctx.set(dut.rx_byte, byte)
                await ctx.tick()
            ctx.set(dut.rx_valid, 0)
            await ctx.tick().repeat(12)

    async def go(ctx: SimulatorContext) -> None:
        await ctx.tick().repeat(sum(len(own) + 20 for own in packets))
        for byte in b"".join(frames):
            ctx.set(dut.i.valid, 1)
            ctx.set(dut.i.payload, byte)
            await ctx.tick().until(dut.i.ready)
        ctx.set(dut.i.valid, 0)

    async def watch(ctx: SimulatorContext) -> None:
        packet = b""
        clocks = sum(len(own) + 20 for own in packets) + sum(2 * len(own) + 140 for own in frames)
        pins = dut.tx_valid, dut.tx_byte, dut.o.valid, dut.o.p.byte
        async for _, _, valid, byte, given, own in ctx.tick().sample(*pins):
            if given:
                payload.append(own)
            if valid:
                packet += bytes([byte])
            elif packet:
                sent.append(packet)
                packet = b""
            clocks -= 1
            if clocks + 200 == 0:
                return

    simulator = Simulator(dut)
    simulator.add_clock(8e-9)
    for bench in (come, go, watch):
        simulator.add_testbench(bench)
    simulator.run()
    assert all(own.startswith(START) for own in sent)
    return bytes(payload), [own[len(START) :] for own in sent]


def test_packets() -> None:
    """Datagrams to the board's address and port, whole requests for it, and nothing else."""
    long = bytes(range(256))
    damaged = bytearray(request())
    damaged[50] ^= 1
    others = [datagram(b"no", 9), request(bytes([192, 168, 1, 51])), bytes(damaged)]
    frames = [bytes([FLAG, *b"abc", FLAG]), bytes([FLAG, *range(100), FLAG])]
    payload, sent = talk([request(), *others, datagram(b"hello"), datagram(long)], frames)
    assert payload == b"hello" + long
    answer, *back = sent
    reply = bytes([8, 6, 0, 1, 8, 0, 6, 4, 0, 2])
    assert answer == whole(HOST_MAC + OWN.mac + reply + OWN.mac + OWN.ip_bytes + HOST_MAC + HOST_IP)
    assert len(back) == 2
    for packet, frame in zip(back, frames, strict=True):
        assert whole(packet[:-4]) == packet
        assert packet[:14] == HOST_MAC + OWN.mac + b"\x08\0"
        header = packet[14:34]
        total = sum(int.from_bytes(header[k : k + 2], "big") for k in range(0, 20, 2))
        assert (total & 0xFFFF) + (total >> 16) == 0xFFFF
        assert header[12:] == OWN.ip_bytes + HOST_IP
        assert int.from_bytes(header[2:4], "big") == 28 + len(frame)
        assert int.from_bytes(packet[34:36], "big") == OWN.port
        assert int.from_bytes(packet[36:38], "big") == HOST_PORT
        assert int.from_bytes(packet[38:40], "big") == 8 + len(frame)
        assert packet[42 : 42 + len(frame)] == frame


@pytest.fixture(scope="module")
def board(folder: Path) -> Iterator[SimulatedUdpBoard]:
    with api.simulated_board(BOARD, folder, link="udp") as running:
        assert isinstance(running, SimulatedUdpBoard)
        yield running


def test_every_bit_over_a_socket(folder: Path, board: SimulatedUdpBoard) -> None:
    assert check_board(folder, board.port, 500) == 1000


class Lossy(UdpPort):
    """Datagrams are lost, come twice, or with a bit turned; some in a hundred, both ways."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._rng = random.Random(8)
        self.harmed = 0

    def write(self, data: bytes) -> None:
        super().write(self._harmed(data))

    def read(self, timeout: float) -> bytes:
        return self._harmed(super().read(timeout))

    def _harmed(self, data: bytes) -> bytes:
        if not data or self._rng.random() > 0.1:
            return data
        self.harmed += 1
        turned = bytearray(data)
        turned[self._rng.randrange(len(data))] ^= 1 << self._rng.randrange(8)
        return self._rng.choice([b"", data + data, bytes(turned)])


def test_datagrams_are_lost(folder: Path, board: SimulatedUdpBoard) -> None:
    line = Lossy(board.port)
    asked = asked_of(folder, 1)
    link = TaskLink(line, asked.layouts, asked.identity, "pendulum", patience=0.2, endurance=120.0)
    found = link.ask(asked.tasks)
    assert [own.words for own in found] == [own.words for own in asked.answers]
    assert line.harmed > 3
    line.close()


def test_a_restart(folder: Path, board: SimulatedUdpBoard) -> None:
    here, there = Dynamics(folder, "integer"), Dynamics(folder, "board", port=board.port)
    q = np.random.default_rng(2).uniform(-1, 1, (20, 2))
    board.restart()
    assert (there.crba(q) == here.crba(q)).all()


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_a_host_in_c(folder: Path, board: SimulatedUdpBoard, tmp_path: Path) -> None:
    """The example that is written beside the bitstream, over the same socket."""
    place = folder / f"board-{BOARD}-udp-simulated"
    program = example(folder, place, tmp_path)
    number = board.port.rpartition(":")[2]
    command = [program, "127.0.0.1", number]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    expected = Dynamics(folder, "integer").rnea([0, 0], [0, 0], [0, 0])
    found = [float(line.partition(" = ")[2]) for line in done.stdout.splitlines()]
    assert found == pytest.approx(expected, rel=1e-8)


def test_what_is_refused(folder: Path) -> None:
    for url in ("udp:", "udp://", "udp://127.0.0.1:99999999", "udp://127.0.0.1/board"):
        with pytest.raises(InputError, match="port: udp:"):
            Dynamics(folder, "board", port=url)
    with pytest.raises(api.UsageError, match=r"ip: .*300"):
        api.board(BOARD, folder, link="udp", ip="192.168.1.300")
    with pytest.raises(
        ValueError, match="no pins are known there for --link udp; --link uart or spi"
    ):
        api.board("ulx3s-85f", folder, link="udp")


@pytest.mark.slow
def test_a_bitstream_with_ethernet(folder: Path) -> None:
    report = api.board(BOARD, folder, link="udp")
    made = folder / f"board-{BOARD}-udp"
    assert b"Part: LFE5UM5G-85F" in (made / report["bitstream"]).read_bytes()[:300]
    (reached,) = report["reached"].values()
    assert min(mhz for clock, mhz in reached.items() if "rx_clk" in clock) >= 125
    assert report["line"] == "udp://192.168.1.50:10000"
