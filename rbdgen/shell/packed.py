"""Converters between payloads, whose words are packed, and packets of 32-bit words, bit by bit.

A bit a clock is faster than any serial line, and takes a fraction of the shifters of a byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from ..system.records import WORD_BITS
from .axi import beat_layout
from .frames import BYTE
from .packets import PacketWidths

WORD = beat_layout(WORD_BITS)
HEADER_BITS = 24  # function and tag; a packet has options between them


class Unpacker(wiring.Component):
    """Payloads of tasks in, of the right length; packets of words out, sign-extended."""

    def __init__(self, layouts: Mapping[int, PacketWidths]) -> None:
        self._layouts = layouts
        super().__init__({"i": In(stream.Signature(BYTE)), "o": Out(stream.Signature(WORD))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        longest = max((own.operands for own in self._layouts.values()), key=len)
        widths = _Widths(m, [HEADER_BITS, *longest])
        bits = Signal(WORD_BITS, reset_less=True)  # of a word, from the top
        byte = Signal(8, reset_less=True)
        left = Signal(range(9))  # bits of the byte that are left
        shifted = Signal(range(WORD_BITS + 1))
        header = Signal()  # the word is the first
        words = Signal(range(len(longest) + 1))  # to come after this one
        function, tag = bits[8:16], bits[16:]  # once the header's bits are in
        with m.FSM():
            with m.State("start"):
                m.d.comb += widths.restart.eq(1)
                m.d.sync += [header.eq(1), shifted.eq(0), left.eq(0)]
                with m.If(self.i.valid):
                    m.next = "shift"
            with m.State("shift"):
                with m.If(header & (shifted == HEADER_BITS)):
                    with m.Switch(function):
                        for code, layout in self._layouts.items():
                            with m.Case(code):
                                m.d.sync += words.eq(len(layout.operands))
                    m.d.sync += bits.eq(Cat(function, C(0, 8), tag))
                    m.next = "word"
                with m.Elif(shifted == WORD_BITS):
                    m.next = "word"
                with m.Elif(shifted >= widths.value):  # sign-extended
                    m.d.sync += [bits.eq(Cat(bits[1:], bits[-1])), shifted.eq(shifted + 1)]
                with m.Elif(left != 0):
                    m.d.sync += [bits.eq(Cat(bits[1:], byte[0])), shifted.eq(shifted + 1)]
                    m.d.sync += [byte.eq(byte[1:]), left.eq(left - 1)]
                with m.Else():
                    m.d.comb += self.i.ready.eq(1)
                    with m.If(self.i.valid):
                        m.d.sync += [byte.eq(self.i.p.byte), left.eq(8)]
            with m.State("word"):
                m.d.comb += [
                    self.o.valid.eq(1),
                    self.o.p.data.eq(bits),
                    self.o.p.last.eq(words == 0),
                    widths.move.eq(self.o.ready),
                ]
                with m.If(self.o.ready):
                    m.d.sync += [words.eq(words - 1), header.eq(0), shifted.eq(0)]
                    m.next = "shift"
                    with m.If(words == 0):
                        m.next = "start"
        return m


class Packer(wiring.Component):
    """Packets of words in, responses of the shell; their payloads out."""

    def __init__(self, layouts: Mapping[int, PacketWidths]) -> None:
        self._layouts = layouts
        super().__init__({"i": In(stream.Signature(WORD)), "o": Out(stream.Signature(BYTE))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        table: list[int] = []
        first: dict[int, int] = {}
        for code, layout in self._layouts.items():
            first[code] = len(table)
            table += [*layout.results] or [1]
        widths = _Widths(m, table)
        bits = Signal(WORD_BITS, reset_less=True)
        left = Signal(range(WORD_BITS + 1))  # bits of the word that are left
        byte = Signal(8, reset_less=True)
        count = Signal(range(9))  # bits of the byte
        header, last = Signal(init=1), Signal(reset_less=True)
        with m.Switch(self.i.p.data[:8]):
            for code, place in first.items():
                with m.Case(code):
                    m.d.comb += widths.first.eq(place)
        with m.FSM():
            with m.State("word"):
                m.d.comb += self.i.ready.eq(1)
                m.d.sync += [
                    bits.eq(self.i.p.data),
                    last.eq(self.i.p.last),
                    left.eq(Mux(header, WORD_BITS, widths.value)),
                ]
                with m.If(self.i.valid):
                    m.d.comb += [widths.restart.eq(header), widths.move.eq(~header)]
                    m.d.sync += header.eq(self.i.p.last)
                    m.next = "shift"
            with m.State("shift"):
                with m.If(count == 8):
                    m.d.comb += [
                        self.o.valid.eq(1),
                        self.o.p.byte.eq(byte),
                        self.o.p.last.eq(last & (left == 0)),
                    ]
                    with m.If(self.o.ready):
                        m.d.sync += count.eq(0)
                with m.Elif(left != 0):
                    m.d.sync += [byte.eq(Cat(byte[1:], bits[0])), bits.eq(bits[1:])]
                    m.d.sync += [left.eq(left - 1), count.eq(count + 1)]
                with m.Elif(last & (count != 0)):  # zeros up to a whole byte
                    m.d.sync += [byte.eq(Cat(byte[1:], 0)), count.eq(count + 1)]
                with m.Else():
                    m.next = "word"
        return m


class _Widths:
    """A table of widths, read one after another: ``value`` is that of the word at hand."""

    def __init__(self, m: Module, table: Sequence[int]) -> None:
        m.submodules.widths = rom = memory.Memory(
            shape=range(WORD_BITS + 1), depth=len(table), init=table
        )
        port = rom.read_port()
        self.first = Signal(range(len(table)))
        self.restart, self.move = Signal(), Signal()
        self.value = port.data
        at = Signal(range(len(table) + 1))
        m.d.comb += port.addr.eq(Mux(self.restart, self.first, at + self.move))
        m.d.sync += at.eq(port.addr)
