"""A small core of several functions, each with a latency of its own, for what stands around one."""

from __future__ import annotations

import random
from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from rbdgen.shell.task_packets import PacketFormat, Response, Status, TaskFunction

WIDTHS = (9, 18, 32, 5, 24, 1)
RESULT_WIDTH = 27
# The codes between are absent. "drop" answers with a header, "fill" asks with one.
FUNCTIONS = {
    0: TaskFunction("echo", 3, 3),
    1: TaskFunction("sum", 6, 1),
    5: TaskFunction("fill", 0, 11),
    9: TaskFunction("drop", 2, 0),
}
DELAYS = {0: 2, 1: 19, 5: 6, 9: 1}  # clocks in a function's pipeline
AFTER_DELAY = 3  # and then in its FIFO and the output register


def task_layout(widths: Sequence[int]) -> data.StructLayout:
    """What a core takes, with operands of so many bits."""
    words = data.StructLayout({f"x{k}": signed(width) for k, width in enumerate(widths)})
    return data.StructLayout({"function": 4, "tag": 16, "words": words})


def result_layout(width: int, count: int) -> data.StructLayout:
    """What a core gives, with so many words of so many bits."""
    words = data.ArrayLayout(signed(width), count)
    return data.StructLayout({"function": 4, "tag": 16, "overflow": 1, "words": words})


TASK, RESULT = task_layout(WIDTHS), result_layout(RESULT_WIDTH, 11)


class FunctionCore(wiring.Component):
    """A task a clock; results of different functions overtake each other.

    A task of an absent function is echoed, so that one is noticed where none may come.
    """

    def __init__(self) -> None:
        super().__init__({"i": In(stream.Signature(TASK)), "o": Out(stream.Signature(RESULT))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        x = [self.i.p.words[f"x{k}"] for k in range(len(WIDTHS))]
        total = sum(x[1:], x[0])
        results = {
            0: ([word + 1 for word in x[:3]], x[0] == 255),
            1: ([total], total < 0),
            5: ([self.i.p.tag + k for k in range(11)], self.i.p.tag[0]),
            9: ([], x[1] == x[0]),
        }
        free = Signal()  # the output register
        m.d.comb += free.eq(~self.o.valid | self.o.ready)
        with m.If(free):
            m.d.sync += self.o.valid.eq(0)
        waiting: list[Signal] = []  # results of the functions before, which go first
        for code, (words, overflow) in results.items():
            mine = self.i.p.function == code
            if code == 0:
                mine = ~self.i.p.function.matches(*(other for other in results if other))
            result = Signal(RESULT, name=f"result_{code}")
            m.d.comb += [
                result.function.eq(self.i.p.function),
                result.tag.eq(self.i.p.tag),
                result.overflow.eq(overflow),
                *(result.words[k].eq(word) for k, word in enumerate(words)),
            ]
            depth = DELAYS[code] + AFTER_DELAY + 2
            queue = fifo.SyncFIFOBuffered(width=RESULT.size, depth=depth)
            m.submodules[f"queue_{code}"] = queue
            credits = Signal(range(depth + 1), init=depth, name=f"credits_{code}")
            start = Signal(name=f"start_{code}")
            with m.If(mine):
                m.d.comb += self.i.ready.eq(credits != 0)
            m.d.comb += start.eq(self.i.valid & self.i.ready & mine)
            value, valid = result.as_value(), start
            for _ in range(DELAYS[code]):
                next_value, next_valid = Signal(RESULT.size, reset_less=True), Signal()
                m.d.sync += [next_value.eq(value), next_valid.eq(valid)]
                value, valid = next_value, next_valid
            m.d.comb += [
                queue.w_data.eq(value),
                queue.w_en.eq(valid),
                queue.r_en.eq(free & ~Cat(waiting).any()),
            ]
            with m.If(queue.r_rdy & queue.r_en):
                m.d.sync += [self.o.valid.eq(1), self.o.payload.eq(queue.r_data)]
            m.d.sync += credits.eq(credits - start + Mux(queue.r_en, queue.r_rdy, 0))
            waiting.append(queue.r_rdy)
        return m


def answer(packets: PacketFormat, code: int, tag: int, words: Sequence[int]) -> list[int]:
    """The beats of what the core responds."""
    computed = {
        0: ([word + 1 for word in words], words[:1] == [255]),
        1: ([sum(words)], sum(words) < 0),
        5: ([tag + k for k in range(11)], tag & 1 == 1),
        9: ([], len(words) == 2 and words[0] == words[1]),
    }
    results, overflow = computed[code]
    sign = 1 << RESULT_WIDTH - 1
    wrapped = tuple(((word + sign) & (2 * sign - 1)) - sign for word in results)
    status = Status.OVERFLOW if overflow else Status.OK
    return packets.encode_response(Response(code, status, tag, wrapped))


def random_words(code: int, rng: random.Random) -> list[int]:
    """Operands of a function; the extremes are where a sign extension goes wrong."""
    words = []
    for width in WIDTHS[: FUNCTIONS[code].words_in]:
        low, high = -(1 << width - 1), (1 << width - 1) - 1
        words.append(rng.choice((low, high, rng.randint(low, high))))
    return words
