"""Frames and their payloads, as `rbdgen.shell.packets` has them, in hardware."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.crc import Algorithm, Parameters
from amaranth.lib.wiring import In, Out

from .lines import RECEIVED
from .packets import BROKEN, BUFFER, CRC_BYTES, ESCAPE, FLAG, TURNED, PacketWidths, crc_of
from .task_packets import Status

BYTE = data.StructLayout({"byte": 8, "last": 1})
"""A byte of a payload; ``last``: no other follows."""
REFUSAL = data.StructLayout({"function": 8, "status": 8, "tag": 16})
"""A response without words."""


def crc_parameters(identity: str) -> Parameters:
    """CRC-32 of Ethernet, of what follows ``identity``; see `rbdgen.shell.packets`."""
    after = crc_of(identity) ^ 0xFFFFFFFF  # the register, its first bit the highest
    return Algorithm(
        crc_width=32,
        polynomial=0x04C11DB7,
        initial_crc=int(f"{after:032b}"[::-1], 2),
        reflect_input=True,
        reflect_output=True,
        xor_output=0xFFFFFFFF,
    )(data_width=8)


class Unframer(wiring.Component):
    """Bytes of a line in; whole payloads of tasks out, and what is to be answered to other frames.

    A payload waits in a buffer until its CRC has been seen, and leaves if it is right and as long
    as its function has it. Bytes of one for which the buffer has no room are those of a damaged
    frame. A refusal that the sink does not take before the next one is lost with its frame; the
    host asks again.
    """

    def __init__(self, layouts: Mapping[int, PacketWidths], identity: str) -> None:
        self._layouts = layouts
        self._crc = crc_parameters(identity)
        super().__init__(
            {
                "i": In(stream.Signature(RECEIVED, always_ready=True)),
                "o": Out(stream.Signature(BYTE)),
                "refusal": Out(stream.Signature(REFUSAL)),
                "good": Out(1),
                "bad": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.crc = crc = self._crc.create()
        m.submodules.buffer = buffer = memory.Memory(shape=BYTE, depth=BUFFER, init=[])
        write, read = buffer.write_port(), buffer.read_port()

        # Of the bytes of a frame the last ones wait: four will turn out to be the CRC, and the one
        # before them the payload's last.
        waiting = [Signal(8, name=f"waiting_{k}", reset_less=True) for k in range(CRC_BYTES + 1)]
        count = Signal(range(BUFFER + CRC_BYTES + 2))  # bytes of this frame; stays at the most
        header = [Signal(8, name=f"header_{k}", reset_less=True) for k in range(3)]
        escaped, broken = Signal(), Signal()
        start, at, taken = (Signal(range(BUFFER), name=n) for n in ("start", "at", "taken"))

        flag = self.i.valid & (self.i.p.byte == FLAG)
        escape = self.i.valid & (self.i.p.byte == ESCAPE)
        byte = self.i.p.byte ^ Mux(escaped, TURNED, 0)
        inside = Signal()
        m.d.comb += [
            inside.eq(self.i.valid & ~flag & ~escape),
            crc.data.eq(byte),
            crc.valid.eq(inside),
            crc.start.eq(flag),
        ]

        # What a frame of that function must have.
        function, due, known = header[0], Signal(range(BUFFER)), Signal()
        with m.Switch(function):
            for code, layout in self._layouts.items():
                with m.Case(code):
                    m.d.comb += [due.eq(layout.task_bytes + CRC_BYTES), known.eq(1)]
        whole = Signal()  # the frame that ends is what was sent
        fits = Signal()
        m.d.comb += [
            whole.eq(crc.match_detected & ~broken & ~escaped & (count > CRC_BYTES)),
            fits.eq(whole & known & (count == due)),
        ]

        full = (at + 1)[: len(at)] == taken
        m.d.comb += [write.addr.eq(at), write.data.byte.eq(waiting[-1]), write.data.last.eq(flag)]
        with m.If(self.i.valid & self.i.p.broken):
            m.d.sync += broken.eq(1)
        with m.If(inside):
            m.d.sync += [own.eq(new) for own, new in zip(waiting, [byte, *waiting], strict=False)]
            m.d.sync += [escaped.eq(0), count.eq(Mux(count == BUFFER, count, count + 1))]
            for k, own in enumerate(header):
                with m.If(count == k):
                    m.d.sync += own.eq(byte)
            with m.If(count > CRC_BYTES):
                m.d.comb += write.en.eq(~full)
                m.d.sync += at.eq(at + ~full)
                with m.If(full):
                    m.d.sync += broken.eq(1)
        with m.If(escape):
            m.d.sync += escaped.eq(1)
        with m.If(flag):
            m.d.sync += [count.eq(0), escaped.eq(0), broken.eq(0), at.eq(start)]
            with m.If(fits & ~full):
                m.d.comb += [write.en.eq(1), self.good.eq(1)]
                m.d.sync += [at.eq(at + 1), start.eq(at + 1)]
            with m.Elif((count > 0) | escaped | broken):
                m.d.comb += self.bad.eq(1)

        with m.If(self.refusal.ready):
            m.d.sync += self.refusal.valid.eq(0)
        short = Mux(count < due, Status.TOO_SHORT, Status.TOO_LONG)
        status = Mux(known, short, Status.UNKNOWN_FUNCTION)
        with m.If(self.bad & (~self.refusal.valid | self.refusal.ready)):
            named = whole & ~(known & (count == due)) & (count > CRC_BYTES + 2)
            m.d.sync += [
                self.refusal.valid.eq(1),
                self.refusal.p.function.eq(Mux(named, function, BROKEN)),
                self.refusal.p.status.eq(Mux(named, status, 0)),
                self.refusal.p.tag.eq(Mux(named, Cat(header[1], header[2]), 0)),
            ]

        # Out of the buffer: its port gives a byte the clock after it was asked for.
        m.d.comb += [
            read.addr.eq(taken),
            read.en.eq((taken != start) & (~self.o.valid | self.o.ready)),
            self.o.payload.eq(read.data),
        ]
        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(read.en):
            m.d.sync += [self.o.valid.eq(1), taken.eq(taken + 1)]
        return m


class Framer(wiring.Component):
    """Payloads in; bytes of their frames out. Refusals go between two payloads, and first."""

    def __init__(self, identity: str) -> None:
        self._crc = crc_parameters(identity)
        super().__init__(
            {
                "i": In(stream.Signature(BYTE)),
                "refusal": In(stream.Signature(REFUSAL)),
                "o": Out(stream.Signature(8)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.crc = crc = self._crc.create()
        sent = Signal()  # the byte at hand goes out, or the first half of an escape does
        byte = Signal(8)
        second = Signal()  # the other half is to come
        refusing = Signal()
        k = Signal(range(4))
        special = (byte == FLAG) | (byte == ESCAPE)
        done = Signal()  # a byte of payload or CRC has gone

        def send(value: Signal) -> None:
            m.d.comb += [byte.eq(value), self.o.valid.eq(1)]
            m.d.comb += self.o.payload.eq(Mux(second, byte ^ TURNED, Mux(special, ESCAPE, byte)))
            m.d.comb += done.eq(sent & (second | ~special))
            m.d.sync += second.eq(Mux(sent, ~second & special, second))

        m.d.comb += sent.eq(self.o.valid & self.o.ready)
        refusal = Array(self.refusal.payload.as_value().word_select(n, 8) for n in range(4))
        value = Array(crc.crc.word_select(n, 8) for n in range(CRC_BYTES))
        with m.FSM():
            with m.State("flag"):
                m.d.comb += [
                    self.o.valid.eq(self.refusal.valid | self.i.valid),
                    self.o.payload.eq(FLAG),
                    crc.start.eq(1),
                ]
                m.d.sync += [refusing.eq(self.refusal.valid), k.eq(0)]
                with m.If(sent):
                    m.next = "payload"
            with m.State("payload"):
                with m.If(refusing | self.i.valid):
                    send(Mux(refusing, refusal[k], self.i.p.byte))
                last = Mux(refusing, k == 3, self.i.p.last)
                m.d.comb += [
                    crc.data.eq(byte),
                    crc.valid.eq(done),
                    self.i.ready.eq(done & ~refusing),
                    self.refusal.ready.eq(done & refusing & (k == 3)),
                ]
                with m.If(done):
                    m.d.sync += k.eq(k + 1)
                    with m.If(last):
                        m.d.sync += k.eq(0)
                        m.next = "crc"
            with m.State("crc"):
                send(value[k])
                with m.If(done):
                    m.d.sync += k.eq(k + 1)
                    with m.If(k == CRC_BYTES - 1):
                        m.next = "end"
            with m.State("end"):
                m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(FLAG)]
                with m.If(sent):
                    m.next = "flag"
        return m
