"""The two links of a multifunction accelerator: packets to tasks, results and errors to packets.

The packets are those of `rbdgen.shell.task_packets`.
"""

from collections.abc import Iterator, Sequence

from amaranth.hdl import Module, Mux, ShapeLike, Signal, Value, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ..rtl.arithmetic import select
from ..rtl.core import fill
from ..rtl.queues import Skid
from ..system.records import WORD_BITS
from .axi import beat_layout
from .task_packets import PacketFormat, Status

HEADER = data.StructLayout({"function": 8, "detail": 8, "tag": 16})
"""Word 0 of a packet: ``detail`` is a task's options and a response's status."""


def sent_layout(lanes: int) -> data.StructLayout:
    """A beat of a response, and whose it is: ``function`` only says something of a result."""
    return data.StructLayout(
        {"data": unsigned(WORD_BITS * lanes), "last": 1, "error": 1, "function": 4}
    )


class TaskReader(wiring.Component):
    """Packets in; tasks out, or the headers of error responses.

    Each operand has a register, which opens in the beat that brings its word. Latency: the task, or
    the error, is valid in the cycle after the last beat of its packet. Throughput: one beat a
    clock, across packet borders too, as long as each task and error is taken as soon as it is
    valid; while one waits the input stalls. Malformed packets are swallowed up to their TLAST,
    however long they are.
    """

    def __init__(self, task: ShapeLike, packets: PacketFormat) -> None:
        self._packets = packets
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(WORD_BITS * packets.lanes))),
                "o": Out(stream.Signature(task)),
                "error": Out(stream.Signature(HEADER)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        packets = self._packets
        header = data.View(HEADER, self.i.p.data[:WORD_BITS])
        accept = Signal()
        m.d.comb += [
            self.i.ready.eq(~(self.o.valid & ~self.o.ready | self.error.valid & ~self.error.ready)),
            accept.eq(self.i.valid & self.i.ready),
        ]

        # One-hot: the beat of the packet that comes next; none in the excess of one too long.
        beats = 1 + len(packets.widths) // packets.lanes
        at = Signal(beats, init=1)
        first = at[0]
        with m.If(accept):
            m.d.sync += at.eq(Mux(self.i.p.last, 1, at << 1))

        known = Signal()
        due = Signal(range(beats))  # beats after the header's
        with m.Switch(header.function):
            for code in packets.functions:
                with m.Case(code):
                    m.d.comb += [known.eq(1), due.eq(packets.task_beats(code) - 1)]

        # What the header says stays for the beats that follow.
        function = Signal(8, reset_less=True)
        tag = Signal(16, reset_less=True)
        unknown_before = Signal(reset_less=True)
        options_before = Signal(reset_less=True)
        left = Signal(range(beats), reset_less=True)  # beats due; stays 0 in the excess
        with m.If(accept):
            with m.If(first):
                m.d.sync += [
                    function.eq(header.function),
                    tag.eq(header.tag),
                    unknown_before.eq(~known),
                    options_before.eq(header.detail.any()),
                    left.eq(due),
                ]
            with m.Elif(left.any()):
                m.d.sync += left.eq(left - 1)

        # The verdict, of use in the last beat.
        verdict = Signal(Status)
        with m.If(Mux(first, ~known, unknown_before)):
            m.d.comb += verdict.eq(Status.UNKNOWN_FUNCTION)
        with m.Elif(Mux(first, header.detail.any(), options_before)):
            m.d.comb += verdict.eq(Status.BAD_OPTIONS)
        with m.Elif(Mux(first, due.any(), left > 1)):
            m.d.comb += verdict.eq(Status.TOO_SHORT)
        with m.Elif(~first & ~left.any()):
            m.d.comb += verdict.eq(Status.TOO_LONG)

        status = Signal(Status, reset_less=True)
        with m.If(self.i.ready):
            ends = self.i.valid & self.i.p.last
            m.d.sync += [
                status.eq(verdict),
                self.o.valid.eq(ends & (verdict == Status.OK)),
                self.error.valid.eq(ends & (verdict != Status.OK)),
            ]
        m.d.comb += [
            self.o.p.function.eq(function),
            self.o.p.tag.eq(tag),
            self.error.p.function.eq(function),
            self.error.p.detail.eq(status),
            self.error.p.tag.eq(tag),
        ]

        operands: dict[str, Value | int] = {}
        for k, (name, _) in enumerate(self.o.p.words.shape()):
            beat, lane = divmod(1 + k, packets.lanes)
            operand = Signal(packets.widths[k], name=f"word_{k}", reset_less=True)
            with m.If(accept & at[beat]):
                m.d.sync += operand.eq(self.i.p.data.word_select(lane, WORD_BITS))
            operands[name] = operand
        fill(m, self.o.p.words, operands)
        return m


class ResponseWriter(wiring.Component):
    """Results and the headers of error responses in; packets out, every output a register.

    A result stands at the input until its last beat is on its way, and is selected from there in
    two registered steps: among the beats of a group, then among the groups. Latency: the first beat
    is valid two clocks after the result. Throughput: one beat a clock, across packet borders too.
    When both wait, results and errors take turns. ``i.ready`` and ``error.ready`` do not depend on
    ``o.ready`` of the same clock.
    """

    def __init__(self, result: ShapeLike, packets: PacketFormat) -> None:
        self._packets = packets
        super().__init__(
            {
                "i": In(stream.Signature(result)),
                "error": In(stream.Signature(HEADER)),
                "o": Out(stream.Signature(sent_layout(packets.lanes))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        packets, result = self._packets, self.i.p
        lanes = packets.lanes
        beats = max(packets.response_beats(code) for code in packets.functions)

        beat = Signal(range(beats))
        first = Signal(init=1)
        left = Signal(range(beats), reset_less=True)  # beats after this one, unless it is the first
        errors_turn = Signal()
        is_error = Signal()
        last = Signal()
        move = Signal()  # the first step of the selection takes a beat

        due = Signal(range(beats))
        last_lane = Signal(range(lanes))
        with m.Switch(result.function):
            for code, function in packets.functions.items():
                with m.Case(code):
                    m.d.comb += [
                        due.eq(packets.response_beats(code) - 1),
                        last_lane.eq(function.words_out % lanes),
                    ]
        m.d.comb += [
            # An error response is one beat, so a packet begun is a result.
            is_error.eq(first & self.error.valid & (errors_turn | ~self.i.valid)),
            last.eq(Mux(first, is_error | (due == 0), left == 1)),
            self.i.ready.eq(move & last & ~is_error),
            self.error.ready.eq(move & is_error),
        ]
        given = is_error | self.i.valid
        with m.If(move & given):
            m.d.sync += [
                first.eq(last),
                beat.eq(Mux(last, 0, beat + 1)),
                left.eq(Mux(first, due, left - 1)),
            ]
            with m.If(last):
                m.d.sync += errors_turn.eq(~is_error)

        header = Signal(HEADER)
        with m.If(is_error):
            m.d.comb += header.eq(self.error.payload)
        with m.Else():
            m.d.comb += [
                header.function.eq(result.function),
                header.detail.eq(Mux(result.overflow, Status.OVERFLOW, Status.OK)),
                header.tag.eq(result.tag),
            ]
        count = max(function.words_out for function in packets.functions.values())
        results = result.words  # once: a view looks at all of its fields
        words = [header.as_value().as_signed(), *(results[k] for k in range(count))]

        chosen_valid = Signal()
        chosen = Signal(self.o.p.shape(), reset_less=True)  # all of a beat but its data
        low, high = beat[: (len(beat) + 1) // 2], beat[(len(beat) + 1) // 2 :]
        chosen_high = Signal(len(high), reset_less=True)
        m.submodules.skid = skid = Skid(self.o.p.shape())
        m.d.comb += [
            move.eq(~chosen_valid | skid.i.ready),
            skid.i.valid.eq(chosen_valid),
            skid.i.p.last.eq(chosen.last),
            skid.i.p.error.eq(chosen.error),
            skid.i.p.function.eq(chosen.function),
        ]
        with m.If(move):
            m.d.sync += [
                chosen_valid.eq(given),
                chosen.last.eq(last),
                chosen.error.eq(is_error),
                chosen.function.eq(result.function),
                chosen_high.eq(high),
            ]
        for lane in range(lanes):
            groups = []
            for k, members in enumerate(_chunks(words[lane::lanes], 1 << len(low))):
                width = max(len(word) for word in members)
                group = Signal(signed(width), name=f"lane_{lane}_group_{k}", reset_less=True)
                with m.If(move):
                    m.d.sync += group.eq(select(members, low))
                groups.append(group)
            if not groups:
                continue  # no response is that long
            used = Signal(name=f"lane_{lane}_used", reset_less=True)
            with m.If(move):
                m.d.sync += used.eq((lane == 0) | ~is_error & (~last | (last_lane >= lane)))
            word = select(groups, chosen_high)
            m.d.comb += skid.i.p.data.word_select(lane, WORD_BITS).eq(Mux(used, word, 0))

        valid = Signal()
        sent = Signal(self.o.p.shape(), reset_less=True)
        m.d.comb += [
            skid.o.ready.eq(~valid | self.o.ready),
            self.o.valid.eq(valid),
            self.o.payload.eq(sent),
        ]
        with m.If(skid.o.ready):
            m.d.sync += [valid.eq(skid.o.valid), sent.eq(skid.o.payload)]
        return m


def _chunks(values: Sequence[Value], size: int) -> Iterator[Sequence[Value]]:
    for at in range(0, len(values), size):
        yield values[at : at + size]
