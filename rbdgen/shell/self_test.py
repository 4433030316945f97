"""Tasks in block RAM, run at the accelerator's own clock and compared with what they must give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from ..system.records import WORD_BITS
from .packed import WORD
from .packets import SELF_TEST

Packets = Sequence[Sequence[int]]
COUNT = 15  # bits of the tasks that are counted, and of wrong words
PATIENCE = 22  # bits of the clocks without a response, after which no other is waited for


@dataclass(frozen=True)
class Vectors:
    """Packets of tasks, words as the shell takes them, and of their responses.

    The tag of the k-th is k: they may be answered in another order.
    """

    tasks: Packets
    responses: Packets

    def __post_init__(self) -> None:
        assert len(self.tasks) == len(self.responses) < 1 << COUNT
        for packets in (self.tasks, self.responses):
            assert all(packet[0] >> 16 == k for k, packet in enumerate(packets))


class SelfTest(wiring.Component):
    """Stands between a host's packets and the shell, and lets them through, but for one function.

    After a reset, and when a packet of the function `SELF_TEST` comes, all that is on its way is
    waited for; then the vectors run, as fast as the shell takes them, and their responses are
    compared, word by word. The packet's response is how many tasks were answered, how many words
    were not as they should be, and the clocks from the first word of a task to the last of a
    response. ``failed``: that any was wrong or missing, the last time.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        word = stream.Signature(WORD)
        super().__init__(
            {
                "host_tasks": In(word),
                "host_results": Out(word),
                "tasks": Out(word),
                "results": In(word),
                "failed": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = len(self._vectors.tasks)
        sent, heard = Signal(range(count + 1)), Signal(range(count + 1))
        wrong, clocks = Signal(COUNT), Signal(WORD_BITS - 1)
        quiet, tag, asked = Signal(PATIENCE), Signal(16), Signal()
        inside = Signal(16)  # tasks of the host's in the shell
        first = Signal(init=1)  # the next beat of the host is a header
        begun = self.host_tasks.valid & first & (self.host_tasks.p.data[:8] == SELF_TEST)
        source = _Rom(m, "vectors", self._vectors.tasks)
        right = _Rom(m, "right", self._vectors.responses)

        taken = self.tasks.valid & self.tasks.ready & self.tasks.p.last
        given = self.results.valid & self.results.ready & self.results.p.last
        said = Signal(range(4))
        with m.FSM(init="start"):
            with m.State("host"):
                with m.If(~begun):
                    wiring.connect(m, wiring.flipped(self.host_tasks), wiring.flipped(self.tasks))
                wiring.connect(m, wiring.flipped(self.results), wiring.flipped(self.host_results))
                m.d.sync += inside.eq(inside + taken - given)
                with m.If(self.host_tasks.valid & self.host_tasks.ready):
                    m.d.sync += first.eq(self.host_tasks.p.last)
                with m.If(begun & (inside == 0)):
                    m.d.comb += self.host_tasks.ready.eq(1)
                    m.d.sync += [tag.eq(self.host_tasks.p.data[16:32]), asked.eq(1), first.eq(1)]
                    m.next = "start"
            with m.State("start"):
                m.d.comb += [source.restart.eq(1)]
                m.d.sync += [sent.eq(0), heard.eq(0), wrong.eq(0), clocks.eq(0), quiet.eq(0)]
                m.next = "run"
            with m.State("run"):
                self._send(m, source, sent)
                end = self._compare(m, right, wrong)
                m.d.sync += [clocks.eq(clocks + 1), quiet.eq(quiet + 1)]
                with m.If(end):
                    m.d.sync += [heard.eq(heard + 1), quiet.eq(0)]
                with m.If((heard == count) | quiet.all()):
                    m.d.sync += self.failed.eq((heard != count) | wrong.any())
                    m.d.sync += [said.eq(0), asked.eq(0)]
                    m.next = "host"
                    with m.If(asked):
                        m.next = "answer"
            with m.State("answer"):
                header = Cat(Const(SELF_TEST, 8), Const(0, 8), tag)
                words = (header, heard, wrong, clocks)
                with m.Switch(said):
                    for k, word in enumerate(words):
                        with m.Case(k):
                            m.d.comb += self.host_results.p.data.eq(word)
                m.d.comb += [
                    self.host_results.valid.eq(1),
                    self.host_results.p.last.eq(said == len(words) - 1),
                ]
                with m.If(self.host_results.ready):
                    m.d.sync += said.eq(said + 1)
                    with m.If(said == len(words) - 1):
                        m.next = "host"
        return m

    def _send(self, m: Module, source: _Rom, sent: Signal) -> None:
        """The words of all tasks, one a clock if the shell takes them."""
        m.d.comb += [
            self.tasks.valid.eq(sent != len(self._vectors.tasks)),
            self.tasks.p.data.eq(source.word),
            self.tasks.p.last.eq(source.last),
        ]
        with m.If(self.tasks.valid & self.tasks.ready):
            m.d.comb += source.move.eq(1)
            m.d.sync += sent.eq(sent + source.last)

    def _compare(self, m: Module, right: _Rom, wrong: Signal) -> Signal:
        """Each word beside the one that it must be; whether a response ends."""
        known = Signal()  # the word to compare with is there; it is that of the header's tag
        end = Signal()
        m.d.comb += right.chosen.eq(self.results.p.data[16:32])
        with m.If(~known):
            m.d.comb += right.restart.eq(1)
            m.d.sync += known.eq(self.results.valid)
        with m.Else():
            m.d.comb += self.results.ready.eq(1)
            with m.If(self.results.valid):
                m.d.comb += [right.move.eq(1), end.eq(self.results.p.last)]
                same = (self.results.p.data == right.word) & (self.results.p.last == right.last)
                with m.If(~same & ~wrong.all()):
                    m.d.sync += wrong.eq(wrong + 1)
                with m.If(self.results.p.last):
                    m.d.sync += known.eq(0)
        return end


class _Rom:
    """Packets, each from a multiple of a power of two on, read word by word.

    ``restart``: the next word is the first of packet ``chosen``; ``move``: it is the one after,
    which is the next packet's first if this was the last of its own.
    """

    def __init__(self, m: Module, name: str, packets: Packets) -> None:
        offset = (max(map(len, packets)) - 1).bit_length()
        number = max(len(packets) - 1, 1).bit_length()
        table = [0] * (1 << offset + number)
        for k, packet in enumerate(packets):
            for at, word in enumerate(packet):
                ends = at == len(packet) - 1
                table[k << offset | at] = word & (1 << WORD_BITS) - 1 | ends << WORD_BITS
        m.submodules[name] = rom = memory.Memory(
            shape=WORD_BITS + 1, depth=len(table), init=table, attrs={"ram_style": "block"}
        )
        port = rom.read_port()
        self.restart, self.move, self.chosen = Signal(), Signal(), Signal(number)
        self.word, self.last = port.data[:WORD_BITS], port.data[WORD_BITS]
        at, k = Signal(offset), Signal(number)
        after = Mux(self.last, Cat(Const(0, offset), (k + 1)[:number]), Cat((at + 1)[:offset], k))
        m.d.comb += port.addr.eq(
            Mux(self.restart, Cat(Const(0, offset), self.chosen), Mux(self.move, after, Cat(at, k)))
        )
        m.d.sync += Cat(at, k).eq(port.addr)
