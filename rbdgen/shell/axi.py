"""AXI4-Stream shells: a core whose tasks are structures becomes a core whose tasks are packets.

A task travels as a *packet* of beats; TLAST marks the last beat of each, on both links. Two packet
formats are built in, and `Shell` takes any other:

`WideShell`   the whole task in one beat. ``tdata`` holds the fields from bit 0 up, in layout order
              and without gaps, and is padded to whole bytes. A task a clock.
`WordShell`   one 32-bit word a field, in layout order, sign-extended; the one-bit fields (flags)
              of the whole layout follow, 32 to a word, the first in bit 0. A word a clock.

The core is any `wiring.Component` with ``i: In(stream.Signature(layout))`` and
``o: Out(stream.Signature(layout))`` that honours back-pressure. Ports and contract: see `Shell`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from amaranth.hdl import Cat, Module, Shape, ShapeLike, Signal, Value, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..graph.word import spell
from ..rtl.core import FIRST, WORD, WRITE, connect_registers
from ..rtl.queues import Skid
from ..system.records import WORD_BITS, NamedWord


@dataclass(frozen=True, kw_only=True)
class Field(NamedWord):
    """A scalar of a layout by its dotted name; ``offset``: its lowest bit."""

    offset: int


@dataclass(frozen=True)
class Beat:
    """The fields that one beat carries, side by side, the first in the lowest bits.

    A beat of one signed field is sign-extended to the link's width; any other is zero-extended.
    """

    fields: tuple[Field, ...]

    def placed(self) -> Iterator[tuple[Field, int]]:
        """The fields, each with its lowest bit in ``tdata``."""
        low = 0
        for field in self.fields:
            yield field, low
            low += field.width

    @property
    def shape(self) -> Shape:
        """The shape of the fields before they are extended to the link's width."""
        width = sum(field.width for field in self.fields)
        alone = len(self.fields) == 1
        return signed(width) if alone and self.fields[0].signed else unsigned(width)


@dataclass(frozen=True)
class Packet:
    """The transfer of a task over a link: ``width`` bits of ``tdata``, ``beats`` in this order.

    `encode` and `decode` are the format in software, for hosts and test benches; the hardware
    agrees with them bit for bit.
    """

    width: int
    beats: tuple[Beat, ...]

    def encode(self, task: Mapping[str, int]) -> list[int]:
        """The beats of one task, as unsigned ``tdata``; ``task`` maps field names to values.

        Raises ValueError if a value does not fit its field, KeyError if one is missing.
        """
        return [self._encode_beat(beat, task) for beat in self.beats]

    def decode(self, beats: Sequence[int]) -> dict[str, int]:
        """The fields of one packet; the inverse of `encode`."""
        if len(beats) != len(self.beats):
            raise ValueError(f"a packet has {len(self.beats)} beats, not {len(beats)}")
        task = {}
        for beat, tdata in zip(self.beats, beats, strict=True):
            for field, low in beat.placed():
                value = tdata >> low & ((1 << field.width) - 1)
                negative = field.signed and value >> (field.width - 1)
                task[field.name] = value - (1 << field.width) if negative else value
        return task

    def _encode_beat(self, beat: Beat, task: Mapping[str, int]) -> int:
        tdata = 0
        for field, low in beat.placed():
            value = task[field.name]
            least, most = field.limits
            if not least <= value <= most:
                raise ValueError(f"{field.name} = {value} does not fit {field.width} bits")
            # A lone negative value keeps its sign bits; beside others they are dropped.
            bits = value if beat.shape.signed else value & ((1 << field.width) - 1)
            tdata |= bits << low
        return tdata & ((1 << self.width) - 1)


def fields_of(layout: ShapeLike) -> list[Field]:
    """The scalars of ``layout`` in order, structures and arrays opened: ``q[0]``, ``flag.a``."""
    return list(_walk(data.Layout.cast(layout), "", 0))


def _walk(layout: data.Layout, prefix: str, offset: int) -> Iterator[Field]:
    for key, member in layout:
        name = spell(prefix, key) if isinstance(key, int) else f"{prefix}.{key}".lstrip(".")
        if isinstance(member.shape, data.Layout):
            yield from _walk(member.shape, name, offset + member.offset)
        else:
            shape = Shape.cast(member.shape)
            yield Field(name, shape.width, shape.signed, offset=offset + member.offset)


def wide_packet(layout: ShapeLike) -> Packet:
    """One beat, padded to whole bytes."""
    beat = Beat(tuple(fields_of(layout)))
    return Packet(-(-beat.shape.width // 8) * 8, (beat,))


def word_packet(layout: ShapeLike) -> Packet:
    """A 32-bit word a field, then the one-bit fields, 32 to a word.

    Raises ValueError if a field is wider than a word.
    """
    fields = fields_of(layout)
    for field in fields:
        if field.width > WORD_BITS:
            raise ValueError(
                f"{field.name} has {field.width} bits and does not fit a word of {WORD_BITS}: "
                "use the wide shell or a smaller width"
            )
    flags = [field for field in fields if field.width == 1]
    words = [Beat((field,)) for field in fields if field.width > 1]
    packed = [Beat(tuple(flags[k : k + WORD_BITS])) for k in range(0, len(flags), WORD_BITS)]
    return Packet(WORD_BITS, (*words, *packed))


def beat_layout(width: int) -> data.StructLayout:
    """The layout of what an AXI4-Stream link of ``width`` bits of TDATA hands over in a clock."""
    return data.StructLayout({"data": unsigned(width), "last": 1})


def link_ports(width_in: int, width_out: int) -> dict[str, wiring.Member]:
    """The ports of a shell's links: tasks come over ``s_axis``, results leave over ``m_axis``."""
    return {
        "s_axis_tdata": In(width_in),
        "s_axis_tvalid": In(1),
        "s_axis_tready": Out(1),
        "s_axis_tlast": In(1),
        "m_axis_tdata": Out(width_out),
        "m_axis_tvalid": Out(1),
        "m_axis_tready": In(1),
        "m_axis_tlast": Out(1),
    }


def connect_links(m: Module, shell: Any, tasks: Any, results: Any) -> None:
    """Connect the `link_ports` of ``shell`` to a stream of beats in and one of beats out."""
    m.d.comb += [
        tasks.valid.eq(shell.s_axis_tvalid),
        tasks.p.data.eq(shell.s_axis_tdata),
        tasks.p.last.eq(shell.s_axis_tlast),
        shell.s_axis_tready.eq(tasks.ready),
        shell.m_axis_tvalid.eq(results.valid),
        shell.m_axis_tdata.eq(results.p.data),
        shell.m_axis_tlast.eq(results.p.last),
        results.ready.eq(shell.m_axis_tready),
    ]


class Gather(wiring.Component):
    """Packets in, tasks out.

    The beats shift through a chain of registers as wide as the fields that pass there, so there is
    no address decoder. Latency: the task is valid in the cycle after its last beat. Throughput: one
    beat a clock, across packet borders too, as long as each task is taken as soon as it is valid.

    A packet of another length than the format's is dropped up to and with its TLAST, and
    ``framing_error`` rises and stays up until reset; the packet after it is processed as usual.
    Bits above a beat's fields are ignored. ``beat``: of beats that say whether they are ``wrong``;
    a packet with one is dropped, too.
    """

    def __init__(
        self, layout: ShapeLike, packet: Packet, beat: data.StructLayout | None = None
    ) -> None:
        self._layout = data.Layout.cast(layout)
        self._packet = packet
        beat = beat or beat_layout(packet.width)
        self._checked = "wrong" in beat.members
        super().__init__(
            {
                "i": In(stream.Signature(beat)),
                "o": Out(stream.Signature(self._layout)),
                "framing_error": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        beats = self._packet.beats
        passing = [max(beat.shape.width for beat in beats[: k + 1]) for k in range(len(beats))]
        chain = [
            Signal(width, name=f"beat_{k}", reset_less=True) for k, width in enumerate(passing)
        ]
        count = Signal(range(len(beats)))
        skipping = Signal()  # past the end of a packet that is too long
        complete = count == len(beats) - 1
        accept = Signal()

        task = self.o.payload.as_value()
        for beat, register in zip(beats, chain, strict=True):
            for field, low in beat.placed():
                bits = register[low : low + field.width]
                m.d.comb += task[field.offset : field.offset + field.width].eq(bits)
        m.d.comb += [
            self.i.ready.eq(~self.o.valid | self.o.ready),
            accept.eq(self.i.valid & self.i.ready),
        ]
        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(accept):
            above = [*chain[1:], self.i.p.data]
            m.d.sync += [register.eq(value) for register, value in zip(chain, above, strict=True)]
            m.d.sync += count.eq(count + 1)
            whole = complete & self.i.p.last
            ends = complete | self.i.p.last | skipping
            if self._checked:
                whole, ends = whole & ~self.i.p.wrong, ends | self.i.p.wrong
            with m.If(ends):
                m.d.sync += [
                    count.eq(0),
                    skipping.eq(~self.i.p.last),
                    self.o.valid.eq(whole & ~skipping),
                ]
                with m.If(~whole):
                    m.d.sync += self.framing_error.eq(1)
        return m


class Scatter(wiring.Component):
    """Tasks in, packets out.

    A task is loaded at once and shifts out; every output is a register. Latency: the first beat is
    valid in the cycle after the task was taken. Throughput: one beat a clock, across packet
    borders too.
    """

    def __init__(self, layout: ShapeLike, packet: Packet) -> None:
        self._layout = data.Layout.cast(layout)
        self._packet = packet
        super().__init__(
            {
                "i": In(stream.Signature(self._layout)),
                "o": Out(stream.Signature(beat_layout(packet.width))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        beats = self._packet.beats
        chain = [
            Signal(_union(beats[k:]), name=f"beat_{k}", reset_less=True) for k in range(len(beats))
        ]
        count = Signal(range(len(beats)))
        last = Signal()
        valid = Signal()
        load = ~valid | last  # else shift

        m.d.comb += [
            self.o.valid.eq(valid),
            self.o.p.last.eq(last),
            self.o.p.data.eq(chain[0]),
            self.i.ready.eq(~valid | (last & self.o.ready)),
        ]
        with m.If(~valid | self.o.ready):
            with m.If(load):
                m.d.sync += [
                    register.eq(_join(beat, self.i.payload.as_value()))
                    for beat, register in zip(beats, chain, strict=True)
                ]
                m.d.sync += [valid.eq(self.i.valid), count.eq(0), last.eq(len(beats) == 1)]
            with m.Else():
                m.d.sync += [register.eq(above) for register, above in pairwise(chain)]
                m.d.sync += [count.eq(count + 1), last.eq(count == len(beats) - 2)]
        return m


def _union(beats: Sequence[Beat]) -> Shape:
    """The shape that holds each of the beats, with its sign."""
    is_signed = any(beat.shape.signed for beat in beats)
    width = max(beat.shape.width + (is_signed and not beat.shape.signed) for beat in beats)
    return Shape(width, is_signed)


def _join(beat: Beat, task: Value) -> Value:
    """A beat out of the bits of a task."""
    bits = Cat(task[field.offset : field.offset + field.width] for field in beat.fields)
    return bits.as_signed() if beat.shape.signed else bits


class Shell(wiring.Component):
    """``core`` behind two AXI4-Stream links, in the packet formats given.

    =================  ===  ====================  ==================================================
    port                    width                 meaning
    =================  ===  ====================  ==================================================
    ``clk``            in   1                     all signals are synchronous to its rising edge
    ``rst``            in   1                     synchronous, active high: AXI's ARESETn inverted
    ``s_axis_tdata``   in   ``packet_in.width``   a beat of a task
    ``s_axis_tvalid``  in   1
    ``s_axis_tready``  out  1                     a register
    ``s_axis_tlast``   in   1                     on the last beat of each packet
    ``m_axis_tdata``   out  ``packet_out.width``  a beat of a result; a register
    ``m_axis_tvalid``  out  1                     a register; stands until ``m_axis_tready``
    ``m_axis_tready``  in   1
    ``m_axis_tlast``   out  1                     on the last beat of each packet; a register
    ``framing_error``  out  1                     a packet of a wrong length came and was dropped;
                                                  stays up until reset
    =================  ===  ====================  ==================================================

    Bits of ``s_axis_tdata`` above a field are ignored. Results leave in the order in which their
    tasks came. No combinational path leads from an input to an output. A core's registers for many
    tasks are written through the shell: ``parameter_word`` and so on are its ports, too.

    Latency, from the last beat of a task taken to the first beat of its result offered: that of the
    core and two clocks. Throughput: a beat a clock on each link; `clocks_per_task` is the rate.
    """

    def __init__(self, core: Any, packet_in: Packet, packet_out: Packet) -> None:
        self.core = core
        self.packet_in = packet_in
        self.packet_out = packet_out
        members = core.signature.members
        self._held = {name: members[name] for name in (WORD, WRITE, FIRST) if name in members}
        super().__init__(
            self._held | link_ports(packet_in.width, packet_out.width) | {"framing_error": Out(1)}
        )

    def clocks_per_task(self, interval: int = 1, takes_every: int = 1, resumes: int = 1) -> int:
        """The initiation interval through the links, for a core of that ``interval``.

        ``takes_every``: n of a core that takes tasks in every n-th cycle alone. A task that comes
        between two of them waits for the next, and holds up the link; results wait in the core.
        ``resumes``: cycles from a result that waited to the next, at most.
        """
        taken = -(-max(len(self.packet_in.beats), interval) // takes_every) * takes_every
        given = len(self.packet_out.beats)
        return max(given, resumes) if given > taken else taken

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.core = core = self.core
        if self._held:
            connect_registers(m, self, core)
        m.submodules.skid = skid = Skid(beat_layout(self.packet_in.width))
        m.submodules.gather = gather = Gather(core.i.payload.shape(), self.packet_in)
        m.submodules.scatter = scatter = Scatter(core.o.payload.shape(), self.packet_out)
        wiring.connect(m, skid.o, gather.i)
        wiring.connect(m, gather.o, core.i)
        wiring.connect(m, core.o, scatter.i)
        connect_links(m, self, skid.i, scatter.o)
        m.d.comb += self.framing_error.eq(gather.framing_error)
        return m


class WideShell(Shell):
    """``core`` with a whole task in each beat: `wide_packet` on both links."""

    def __init__(self, core: Any) -> None:
        super().__init__(
            core, wide_packet(core.i.payload.shape()), wide_packet(core.o.payload.shape())
        )


class WordShell(Shell):
    """``core`` with 32-bit words: `word_packet` on both links; ValueError for wider fields."""

    def __init__(self, core: Any) -> None:
        super().__init__(
            core, word_packet(core.i.payload.shape()), word_packet(core.o.payload.shape())
        )
