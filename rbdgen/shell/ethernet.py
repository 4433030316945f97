"""Datagrams of UDP, a byte a clock: what a gigabit Ethernet PHY brings and takes.

Answers ARP for its own address, takes datagrams to its own port, and sends what goes back to where
the last one came from. Nothing else is answered. Bytes of a datagram leave before its checksum is
seen: they are frames, which have a CRC of their own (`rbdgen.shell.packets`).
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.crc.catalog import CRC32_ETHERNET
from amaranth.lib.wiring import In, Out

from .lines import RECEIVED
from .packets import FLAG

HEADER = 42  # bytes of Ethernet, IP and UDP before a datagram's own; an ARP packet is as long
LEAST = 60  # bytes of a packet, zeros behind it if need be
GAP = 12  # bytes between two
LONGEST = 1472  # bytes of a datagram in one packet
ROOM = 2048
PREAMBLE, START = 0x55, 0xD5
PEER = data.StructLayout({"mac": 48, "ip": 32, "port": 16})
"""Who sent a datagram; each number as it is read, its first byte the highest."""


@dataclass(frozen=True)
class Address:
    """Where a board is on the network."""

    ip: str
    port: int
    mac: bytes  # 6 bytes

    def __post_init__(self) -> None:
        IPv4Address(self.ip)  # ValueError

    @property
    def ip_bytes(self) -> bytes:
        return IPv4Address(self.ip).packed


class UdpReceiver(wiring.Component):
    """``valid`` and ``byte``, as GMII has them; the bytes of datagrams out, each for one clock.

    ``peer``: who sent the last one; ``asked``: for a clock, who asked for the address is ``asker``.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        super().__init__(
            {
                "valid": In(1),
                "byte": In(8),
                "o": Out(stream.Signature(RECEIVED, always_ready=True)),
                "peer": Out(PEER),
                "asked": Out(1),
                "asker": Out(PEER),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.crc = crc = CRC32_ETHERNET(data_width=8).create()
        inside, at = Signal(), Signal(range(HEADER + 1))  # the byte at hand; stays at the most
        valid, byte = Signal(), Signal(8)
        m.d.sync += [valid.eq(self.valid), byte.eq(self.byte)]
        with m.If(~valid):
            m.d.sync += [inside.eq(0), at.eq(0)]
        with m.Elif(~inside):
            m.d.sync += inside.eq(byte == START)
        with m.Elif(at != HEADER):
            m.d.sync += at.eq(at + 1)
        taken = valid & inside
        m.d.comb += [crc.start.eq(~inside), crc.data.eq(byte), crc.valid.eq(taken)]

        ours = {name: Signal(name=f"is_{name}", init=1) for name in ("datagram", "request")}
        for kind, rules in (
            ("datagram", _of_datagram(self._address)),
            ("request", _of_request(self._address)),
        ):
            with m.If(~inside):
                m.d.sync += ours[kind].eq(1)
            with m.Elif(valid), m.Switch(at):
                for k, may_be in rules.items():
                    with m.Case(k):
                        fits = Cat(byte == value for value in sorted(may_be)).any()
                        m.d.sync += ours[kind].eq(ours[kind] & fits)
        # Where a sender's numbers are; of ARP behind those of IP, which it overwrites.
        found = Signal(PEER)
        length, left = Signal(16), Signal(16)
        for number, places in (
            (found.mac, range(6, 12)),
            (found.ip, range(26, 30)),
            (found.port, range(34, 36)),
            (length, range(38, 40)),
        ):
            with m.If(taken & (at >= places[0]) & (at <= places[-1])):
                m.d.sync += number.eq(Cat(byte, number)[: len(number)])
        asker_ip = Signal(32)
        with m.If(taken & (at >= 28) & (at < 32)):
            m.d.sync += asker_ip.eq(Cat(byte, asker_ip)[:32])
        with m.If(at != HEADER):
            m.d.sync += left.eq(length - 8)
        with m.Elif(taken & (left != 0)):
            m.d.sync += left.eq(left - 1)
        m.d.comb += [
            self.o.valid.eq(taken & (at == HEADER) & ours["datagram"] & (left != 0)),
            self.o.p.byte.eq(byte),
        ]
        good = inside & ~valid & (at == HEADER) & crc.match_detected
        m.d.comb += [
            self.asked.eq(good & ours["request"]),
            self.asker.mac.eq(found.mac),
            self.asker.ip.eq(asker_ip),
        ]
        with m.If(good & ours["datagram"]):
            m.d.sync += self.peer.eq(found)
        return m


class UdpTransmitter(wiring.Component):
    """Frames in, see `rbdgen.shell.packets`; each leaves in a datagram of its own to ``peer``.

    ``asked``: an answer to ``asker`` goes first. ``valid`` and ``byte`` are as GMII has them.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        super().__init__(
            {
                "i": In(stream.Signature(8)),
                "peer": In(PEER),
                "asked": In(1),
                "asker": In(PEER),
                "valid": Out(1),
                "byte": Out(8),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.crc = crc = CRC32_ETHERNET(data_width=8).create()
        m.submodules.room = room = memory.Memory(shape=8, depth=ROOM, init=[])
        write, read = room.write_port(), room.read_port()
        length, opened, whole = Signal(range(ROOM)), Signal(), Signal()
        answering, to_answer, asker = Signal(), Signal(), Signal(PEER)
        sent = Signal()

        # A frame comes in: it ends with its second flag.
        m.d.comb += [
            self.i.ready.eq(~whole),
            write.addr.eq(length),
            write.data.eq(self.i.payload),
            write.en.eq(self.i.valid & ~whole),
        ]
        with m.If(self.i.valid & ~whole):
            m.d.sync += length.eq(length + 1)
            with m.If(self.i.payload == FLAG):
                m.d.sync += [opened.eq(~opened), whole.eq(opened)]
        with m.If(sent):
            with m.If(answering):
                m.d.sync += to_answer.eq(0)
            with m.Else():
                m.d.sync += [whole.eq(0), length.eq(0)]
        with m.If(self.asked):
            m.d.sync += [to_answer.eq(1), asker.eq(self.asker)]

        # It goes out, or an answer to who asks for the address.
        header, k = Signal(8 * HEADER), Signal(range(ROOM))
        checksum = _checksum(m, self._address, length, self.peer)
        answer, datagram = (
            _answer(self._address, asker),
            _datagram(self._address, self.peer, length, checksum),
        )
        out, fed = Signal(8), Signal()
        m.d.comb += [crc.data.eq(out), crc.valid.eq(fed), read.addr.eq(k)]
        m.d.sync += [self.valid.eq(0), self.byte.eq(out), k.eq(k + 1)]
        with m.FSM():
            with m.State("idle"):
                m.d.comb += crc.start.eq(1)
                m.d.sync += [k.eq(0), answering.eq(to_answer)]
                with m.If(to_answer | whole):
                    m.next = "check"
            with m.State("check"):  # the checksum of what has come takes some clocks
                m.d.comb += crc.start.eq(1)
                with m.If(k == 7):
                    m.d.sync += [k.eq(0), header.eq(Mux(answering, answer, datagram))]
                    m.next = "preamble"
            with m.State("preamble"):
                m.d.comb += [crc.start.eq(1), out.eq(Mux(k == 7, START, PREAMBLE))]
                m.d.sync += self.valid.eq(1)
                with m.If(k == 7):
                    m.d.sync += k.eq(0)
                    m.next = "header"
            with m.State("header"):
                m.d.comb += [out.eq(header[:8]), fed.eq(1)]
                m.d.sync += [self.valid.eq(1), header.eq(header[8:])]
                with m.If(k == HEADER - 1):
                    m.d.comb += read.addr.eq(0)
                    m.d.sync += k.eq(1)
                    m.next = "own"
            with m.State("own"):  # k is one ahead, as the memory's port is one behind
                more = ~answering & (k <= length)
                m.d.comb += [out.eq(Mux(more, read.data, 0)), fed.eq(1)]
                m.d.sync += self.valid.eq(1)
                with m.If((k >= LEAST - HEADER) & (answering | (k >= length))):
                    m.d.sync += k.eq(0)
                    m.next = "crc"
            with m.State("crc"):
                m.d.comb += out.eq(crc.crc.word_select(k[:2], 8))
                m.d.sync += self.valid.eq(1)
                with m.If(k == 3):
                    m.d.sync += k.eq(0)
                    m.d.comb += sent.eq(1)
                    m.next = "gap"
            with m.State("gap"), m.If(k == GAP):
                m.next = "idle"
        return m


class UdpLine(wiring.Component):
    """Both: what comes from a host, and what goes back to it."""

    def __init__(self, address: Address) -> None:
        self._address = address
        super().__init__(
            {
                "rx_valid": In(1),
                "rx_byte": In(8),
                "tx_valid": Out(1),
                "tx_byte": Out(8),
                "o": Out(stream.Signature(RECEIVED, always_ready=True)),
                "i": In(stream.Signature(8)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.receiver = receiver = UdpReceiver(self._address)
        m.submodules.transmitter = transmitter = UdpTransmitter(self._address)
        wiring.connect(m, receiver.o, wiring.flipped(self.o))
        wiring.connect(m, wiring.flipped(self.i), transmitter.i)
        m.d.comb += [
            receiver.valid.eq(self.rx_valid),
            receiver.byte.eq(self.rx_byte),
            self.tx_valid.eq(transmitter.valid),
            self.tx_byte.eq(transmitter.byte),
            transmitter.peer.eq(receiver.peer),
            transmitter.asked.eq(receiver.asked),
            transmitter.asker.eq(receiver.asker),
        ]
        return m


def _at(place: int, values: bytes) -> dict[int, set[int]]:
    return {place + k: {value} for k, value in enumerate(values)}


def _of_datagram(own: Address) -> dict[int, set[int]]:
    """The allowed bytes of a datagram to the board; RFC 768, RFC 791, no options, no fragments."""
    return {
        **_at(0, own.mac),
        **_at(12, bytes([0x08, 0x00, 0x45])),
        20: {0x00, 0x40},  # may be parted, or not; is not
        21: {0},
        23: {17},
        **_at(30, own.ip_bytes),
        **_at(36, own.port.to_bytes(2, "big")),
    }


def _of_request(own: Address) -> dict[int, set[int]]:
    """The allowed bytes of an ARP request for the board, broadcast or addressed to it; RFC 826."""
    to = {k: {0xFF, value} for k, value in enumerate(own.mac)}
    fixed = bytes([0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1])
    return {**to, **_at(12, fixed), **_at(38, own.ip_bytes)}


def _sent(*fields: bytes | Value) -> Value:
    """Bytes and numbers as they go out, the first lowest; a number's highest byte goes first."""
    out: list[Value] = []
    for own in fields:
        if isinstance(own, bytes):
            out.append(Const(int.from_bytes(own, "little"), 8 * len(own)))
        else:
            out += [own.word_select(k, 8) for k in reversed(range(len(own) // 8))]
    return Cat(out)


def _answer(own: Address, asker: Value) -> Value:
    """A reply of ARP."""
    kind = bytes([0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 2])
    return _sent(asker.mac, own.mac, kind, own.mac, own.ip_bytes, asker.mac, asker.ip)


def _datagram(own: Address, peer: Value, length: Value, checksum: Value) -> Value:
    """The headers of a datagram without a checksum of its own, which IPv4 allows."""
    total, udp = ((length + more | Const(0, 16))[:16] for more in (28, 8))
    before, between = bytes([0x08, 0x00, 0x45, 0]), bytes([0, 0, 0x40, 0, 64, 17])
    ports = own.port.to_bytes(2, "big")
    ip = (before, total, between, checksum, own.ip_bytes, peer.ip)
    return _sent(peer.mac, own.mac, *ip, ports, peer.port, udp, bytes(2))


def _checksum(m: Module, own: Address, length: Value, peer: Value) -> Value:
    """The checksum of IP, some clocks after its inputs; RFC 1071."""
    fixed = 0x4500 + 28 + 0x4000 + (64 << 8 | 17)
    fixed += int.from_bytes(own.ip_bytes[:2], "big") + int.from_bytes(own.ip_bytes[2:], "big")
    while fixed >> 16:
        fixed = (fixed & 0xFFFF) + (fixed >> 16)
    near, far, both, folded = Signal(17), Signal(17), Signal(18), Signal(17)
    m.d.sync += [
        near.eq(length + fixed),
        far.eq(peer.ip[:16] + peer.ip[16:]),
        both.eq(near + far),
        folded.eq(both[:16] + both[16:]),
    ]
    return ~(folded[:16] + folded[16])[:16]
