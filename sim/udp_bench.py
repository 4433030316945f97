"""The bench of a board with Ethernet: its whole top behind the pins of RGMII.

The PHY is cocotbext-eth's; packets are made and read by scapy. On ``rx`` a wire changes right after
the edge before the one that takes it, as of a PHY that delays its clock by 2 ns, where the board's
clock takes 2 ns from its pin to the registers.
"""

import logging
import random
from collections.abc import Sequence
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge, Timer, with_timeout
from cocotbext.eth import GmiiFrame, RgmiiPhy
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw

from .board_bench import SCENARIO, Host, bursts, restarted, start

MAC, ADDRESS, PORT = (SCENARIO[key] for key in ("mac", "ip", "port"))
HOST_MAC, HOST_ADDRESS, HOST_PORT = "12:34:56:78:9a:bc", "192.168.1.7", 5555
OTHER_MAC, OTHER_ADDRESS = "12:34:56:78:9a:bd", "192.168.1.51"
PREAMBLE = 8
LEAST = 60
HEADER = 42


def to_board(own: Packet) -> Packet:
    return Ether(src=HOST_MAC, dst=MAC) / IP(src=HOST_ADDRESS, dst=ADDRESS) / own


def datagram(payload: bytes) -> Packet:
    return to_board(UDP(sport=HOST_PORT, dport=PORT, chksum=0) / Raw(payload))


def request(address: str = ADDRESS) -> Packet:
    ask = ARP(op="who-has", hwsrc=HOST_MAC, psrc=HOST_ADDRESS, pdst=address)
    return Ether(src=HOST_MAC, dst="ff:ff:ff:ff:ff:ff") / ask


def on_wire(packet: Packet) -> GmiiFrame:
    """With preamble, padding and checksum."""
    return GmiiFrame.from_payload(bytes(packet))


class Ethernet:
    """`sim.board_bench.Line`: each frame in a datagram of its own, or ``together`` in one."""

    def __init__(self, dut: Any) -> None:
        self.phy = RgmiiPhy(
            dut.tx_data, dut.tx_ctl, dut.tx_clk, dut.rx_data, dut.rx_ctl, dut.rx_clk
        )
        for side in (self.phy.rx, self.phy.tx):
            side.log.setLevel(logging.WARNING)
        self.together = False

    def send(self, frames: Sequence[bytes]) -> None:
        for own in [b"".join(frames)] if self.together else frames:
            self.phy.rx.send_nowait(on_wire(datagram(own)))

    async def sent(self) -> None:
        await self.phy.rx.wait()

    async def receive(self) -> bytes:
        packet = await self.packet()
        assert packet.haslayer(UDP), packet.summary()
        ip, udp = packet[IP], packet[UDP]
        assert (packet.src, packet.dst) == (MAC, HOST_MAC)
        assert (ip.src, ip.dst) == (ADDRESS, HOST_ADDRESS)
        assert (udp.sport, udp.dport) == (PORT, HOST_PORT)
        assert ip.len == udp.len + 20
        said = ip.chksum
        del ip.chksum
        assert IP(bytes(ip)).chksum == said
        return bytes(udp.payload)[: udp.len - 8]

    def heard(self) -> bool:
        return not self.phy.tx.empty()

    async def packet(self) -> Packet:
        """The next one of the board's; every byte of it is valid."""
        frame = await with_timeout(self.phy.tx.recv(), 2000, "us")
        assert frame.data[:PREAMBLE] == b"\x55" * 7 + b"\xd5"
        assert frame.check_fcs() and frame.error is None
        inside = bytes(frame.get_payload())
        assert len(inside) >= LEAST
        return Ether(inside)


async def started(dut: Any) -> tuple[Ethernet, Host]:
    """The clocks run, and the PHY's reset has ended."""
    line = Ethernet(dut)
    await start(dut)
    if not dut.eth_rst.value:
        await with_timeout(RisingEdge(dut.eth_rst), 100, "us")
    return line, Host(dut, line)


@cocotb.test()
async def back_to_back(dut: Any) -> None:
    """An answer to a request for the address; then packets with the shortest gap, frames one by
    one and several in a packet."""
    assert not dut.eth_rst.value, "the PHY is held in reset at first"
    line, host = await started(dut)
    line.phy.rx.send_nowait(on_wire(request()))
    reply = await line.packet()
    assert reply.dst == HOST_MAC and reply[ARP].op == 2
    assert (reply[ARP].hwsrc, reply[ARP].psrc) == (MAC, ADDRESS)
    assert (reply[ARP].hwdst, reply[ARP].pdst) == (HOST_MAC, HOST_ADDRESS)
    for line.together in (False, True):
        for burst in bursts(host, len(SCENARIO["tasks"])):
            line.send(burst)
            await host.answered()
    await host.silence()
    assert host.broken == 0


def others(rng: random.Random) -> list[GmiiFrame]:
    """What is on a network besides, and what is on a wire where nothing should be."""
    own = bytes(datagram(rng.randbytes(40)))
    padded = Raw(rng.randbytes(rng.randrange(1, 60)))
    found = [
        on_wire(request(OTHER_ADDRESS)),
        on_wire(to_board(ICMP())),
        on_wire(to_board(TCP(dport=PORT) / padded)),
        on_wire(to_board(UDP(dport=PORT + 1) / padded)),
        on_wire(Ether(src=HOST_MAC, dst=OTHER_MAC) / IP(dst=ADDRESS) / UDP(dport=PORT) / padded),
        on_wire(Ether(src=HOST_MAC, dst=MAC) / IP(dst=OTHER_ADDRESS) / UDP(dport=PORT) / padded),
        on_wire(Ether(src=HOST_MAC, dst=MAC, type=0x86DD) / padded),
        GmiiFrame(bytearray(rng.randbytes(rng.randrange(1, 80)))),  # no preamble
        GmiiFrame(bytearray(b"\x55" * rng.randrange(1, 30))),  # nothing else
        GmiiFrame(bytearray(b"\x55\xd5" + own[: rng.randrange(1, 40)])),  # too short for any
    ]
    rng.shuffle(found)
    return found[: rng.randrange(1, len(found))]


@cocotb.test()
async def noise(dut: Any) -> None:
    """Packets of others, bits turned anywhere, bytes that are not valid: what was not touched is
    answered."""
    rng = random.Random(cocotb.RANDOM_SEED)
    line, host = await started(dut)
    for _ in range(16):
        for own in others(rng):
            line.phy.rx.send_nowait(own)
        damaged = on_wire(datagram(host.frame()))
        host.forget()
        for _ in range(rng.randrange(1, 4)):
            damaged.data[rng.randrange(len(damaged.data))] ^= 1 << rng.randrange(8)
        line.phy.rx.send_nowait(damaged)
        line.phy.rx.send_nowait(on_wire(datagram(b"\x7e" + host.frame())))
        await host.answered(forgotten=True)
    await host.silence()
    assert host.broken


@cocotb.test()
async def cut(dut: Any) -> None:
    """Packets that end anywhere, the next one right behind."""
    line, host = await started(dut)
    damaged = 0
    for length in range(1, PREAMBLE + HEADER + 60, 3):
        frame = host.frame()
        own = on_wire(datagram(frame))
        own.data = own.data[:length]
        # One flag is no frame, and where but the last one is cut the next task's ends the frame.
        damaged += 1 < length - PREAMBLE - HEADER < len(frame) - 1
        host.forget()
        line.phy.rx.send_nowait(own)
        line.send([host.frame()])
        await host.answered(forgotten=True)
    await host.silence()
    assert host.broken == damaged > 2


@cocotb.test()
async def resets(dut: Any) -> None:
    """The button at any time: what follows is answered as after the first start."""
    line, host = await started(dut)

    async def silent() -> None:
        await line.sent()
        await Timer(1, "us")
        line.phy.tx.clear()

    await restarted(host, random.Random(cocotb.RANDOM_SEED), 5, silent)
    await host.silence()
