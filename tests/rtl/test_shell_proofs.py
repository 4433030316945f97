"""An accelerator's shell, proved: packets are read, judged, answered and sent as the format says.

Each link by itself, for every packet, stall and result; then the whole shell, around any core that
keeps to its contract: as many answers as packets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rbdgen.shell.axi_lite import axi_lite_ports
from rbdgen.shell.task_links import HEADER, ResponseWriter, TaskReader
from rbdgen.shell.task_packets import PacketFormat, Status, TaskFunction
from rbdgen.shell.task_registers import ADDRESS_WIDTH
from rbdgen.shell.task_shell import TaskShell
from rbdgen.system.records import WORD_BITS
from tests.support.function_core import result_layout, task_layout
from tests.support.proofs import (
    Order,
    Proof,
    assume,
    happens,
    holds,
    implies,
    mutant,
    prove,
    refuted,
    stands,
)

pytestmark = pytest.mark.synthesis

LINKS = "connect_links(m, self, skid.i, writer.o)"
FUNCTIONS = {
    0: TaskFunction("none", 0, 0),
    5: TaskFunction("some", 3, 2),
    9: TaskFunction("much", 2, 4),
}
WIDTHS = (3, 1, 4)
FORMATS = {lanes: PacketFormat(FUNCTIONS, WIDTHS, lanes) for lanes in (1, 2)}
TASK, RESULT = task_layout(WIDTHS), result_layout(3, 4)


def any_of(conditions: Any) -> Value:
    return reduce(or_, conditions)


def by_function(function: Value, numbers: dict[int, int], otherwise: int) -> Value:
    """The number of a function, by the table."""
    found: Value = Const(otherwise, 8)
    for code, number in numbers.items():
        found = Mux(function == code, Const(number, 8), found)
    return found


def offered(m: Module, proof: Proof, link: Any, name: str) -> None:
    """A stream that comes in with anything, and stands until it is taken."""
    valid = proof.any(1, f"{name}_valid")
    payload = proof.any(len(Value.cast(link.payload)), f"{name}_payload")
    m.d.comb += [link.valid.eq(valid), Value.cast(link.payload).eq(payload)]
    waits, word = Signal(), Signal(len(payload), reset_less=True)
    m.d.sync += [waits.eq(valid & ~link.ready), word.eq(payload)]
    assume(m, implies(waits, valid & (payload == word)))


class EndProof(Proof):
    """Of an end of a link, for packets of one format."""

    def __init__(self, part: Any, packets: PacketFormat) -> None:
        super().__init__(part)
        self.packets = packets


class ReaderProof(EndProof):
    """Beats are kept by their number; the packet is judged, as a whole, when its last one comes."""

    def build(self, m: Module) -> None:
        i, o, error, packets = self.part.i, self.part.o, self.part.error, self.packets
        n = 1 + len(packets.widths) // packets.lanes
        m.d.comb += [
            i.valid.eq(self.any(1, "valid")),
            i.p.data.eq(self.any(WORD_BITS * packets.lanes, "data")),
            i.p.last.eq(self.any(1, "last")),
            o.ready.eq(self.any(1, "ready")),
            error.ready.eq(self.any(1, "error_ready")),
        ]
        accept, at = i.valid & i.ready, Signal(range(n + 1))  # n: longer than any packet is
        own = [
            Signal(WORD_BITS * packets.lanes, name=f"own_{k}", reset_less=True) for k in range(n)
        ]
        head = data.View(HEADER, Mux(at == 0, i.p.data, own[0])[:WORD_BITS])
        known = any_of(head.function == code for code in packets.functions)
        beats = {code: packets.task_beats(code) for code in packets.functions}
        wanted = by_function(head.function, beats, 1)
        verdict = Signal(Status)
        with m.If(~known):
            m.d.comb += verdict.eq(Status.UNKNOWN_FUNCTION)
        with m.Elif(head.detail != 0):
            m.d.comb += verdict.eq(Status.BAD_OPTIONS)
        with m.Elif(at + 1 != wanted):
            m.d.comb += verdict.eq(Mux(at + 1 < wanted, Status.TOO_SHORT, Status.TOO_LONG))
        due, refused, status = Signal(), Signal(), Signal(Status, reset_less=True)
        with m.If(o.ready):
            m.d.sync += due.eq(0)
        with m.If(error.ready):
            m.d.sync += refused.eq(0)
        with m.If(accept):
            m.d.sync += at.eq(Mux(i.p.last, 0, Mux(at == n, n, at + 1)))
            m.d.sync += status.eq(verdict)
            m.d.sync += due.eq(i.p.last & (verdict == Status.OK))
            m.d.sync += refused.eq(i.p.last & (verdict != Status.OK))
            for k in range(n):
                with m.If(at == k):
                    m.d.sync += own[k].eq(i.p.data)
        # one task or one refusal for each packet, at once, and no other
        holds(m, (o.valid == due) & (error.valid == refused) & ~(due & refused))
        kept = data.View(HEADER, own[0][:WORD_BITS])
        holds(m, implies(due, (o.p.function == kept.function) & (o.p.tag == kept.tag)))
        same = (error.p.function == kept.function) & (error.p.tag == kept.tag)
        holds(m, implies(refused, same & (error.p.detail == status)))
        words: list[Value] = []
        for k, width in enumerate(packets.widths):
            beat, lane = divmod(1 + k, packets.lanes)
            words.append(own[beat].word_select(lane, WORD_BITS)[:width])
            comes = any_of(
                [kept.function == code for code, f in packets.functions.items() if k < f.words_in]
            )
            operand = Value.cast(o.p.words[f"x{k}"])
            holds(m, implies(due & comes, operand.as_unsigned() == words[-1]))
        stands(m, o)
        stands(m, error)
        waits = (due & ~o.ready) | (refused & ~error.ready)
        holds(m, i.ready == ~waits)
        # how its registers go with that
        holds(m, at <= n)
        holds(m, implies(due | refused, at == 0))
        holds(m, self.look("at", n) == Mux(at == n, 0, Const(1, n) << at)[:n])
        there = (at != 0) | due | refused
        for name in ("function", "tag"):
            field = getattr(kept, name)
            holds(m, implies(there, self.look(name, len(field)) == field))
        inside = at != 0
        holds(m, implies(inside, self.look("unknown_before", 1) == ~known))
        holds(m, implies(inside, self.look("options_before", 1) == (kept.detail != 0)))
        left = Mux(wanted > at, (wanted - at)[:8], 0)
        holds(m, implies(inside, self.look("left", range(n)) == left))
        for k, word in enumerate(words):
            beat = (1 + k) // packets.lanes
            whole = due & (by_function(kept.function, beats, 1) > beat)
            held = self.look(f"word_{k}", packets.widths[k]) == word
            holds(m, implies((at > beat) | whole, held))
        happens(m, due & (kept.function == 5) & o.ready)
        happens(m, refused & (status == Status.TOO_LONG))


class WriterProof(EndProof):
    """Beats enter one after another, are what the format makes of result or error, and leave so."""

    def build(self, m: Module) -> None:
        i, o, error, packets = self.part.i, self.part.o, self.part.error, self.packets
        offered(m, self, i, "result")
        offered(m, self, error, "error")
        m.d.comb += o.ready.eq(self.any(1, "ready"))
        assume(m, any_of(i.p.function == code for code in packets.functions))
        responses = {code: packets.response_beats(code) for code in packets.functions}
        lengths = by_function(i.p.function, responses, 1)
        most = max(responses.values())
        at, move = Signal(range(most)), self.look("move", 1)
        refuses = error.valid & error.ready
        sends = move & i.valid & ~refuses
        last = at + 1 == lengths
        with m.If(sends):
            m.d.sync += at.eq(Mux(last, 0, at + 1))
        holds(m, (i.valid & i.ready) == (sends & last))
        holds(m, implies(refuses, move & (at == 0)))  # within no result

        # the beat that enters, word by word
        overflow = Mux(i.p.overflow, Status.OVERFLOW, Status.OK)
        head = Cat(Value.cast(i.p.function), Const(0, 4), overflow, Const(0, 8))[:16]
        words = [Cat(head, i.p.tag), *(Value.cast(i.p.words[k]) for k in range(4))]
        count = by_function(i.p.function, {c: f.words_out for c, f in FUNCTIONS.items()}, 0)
        beat = Signal(WORD_BITS * packets.lanes)
        for lane in range(packets.lanes):
            for k, word in list(enumerate(words))[lane :: packets.lanes]:
                with m.If(~refuses & (at == k // packets.lanes) & (k <= count)):
                    m.d.comb += beat.word_select(lane, WORD_BITS).eq(word)
        with m.If(refuses):
            m.d.comb += beat.eq(Value.cast(error.payload))
        entering = Cat(beat, refuses | last, refuses, Mux(refuses, 0, i.p.function))

        def whole(sent: Any) -> Value:
            """A beat; of an error's, whose function is that of no result, without it."""
            view = data.View(self.part.o.p.shape(), Value.cast(sent))
            return Cat(view.data, view.last, view.error, Mux(view.error, 0, view.function))

        size = len(Value.cast(o.payload))
        order = Order(m, self, size, 8)
        enters, leaves = refuses | sends, o.valid & o.ready
        order.counted(enters, leaves)
        assume(m, implies(enters, order.is_right(order.came, entering)))
        holds(m, implies(leaves, order.is_right(order.went, whole(o.payload))))
        stands(m, o)
        # nothing waits but behind three beats
        begun = Signal()
        m.d.sync += begun.eq(1)
        holds(m, implies(begun & (i.valid | error.valid) & ~enters, order.inside == 3))
        # neither waits for two of the other
        passed, refusals = Signal(2), Signal(2)
        with m.If(~error.valid | refuses):
            m.d.sync += passed.eq(0)
        with m.Elif(sends & (at == 0)):
            m.d.sync += passed.eq(passed + 1)
        with m.If(~i.valid | sends):
            m.d.sync += refusals.eq(0)
        with m.Elif(refuses):
            m.d.sync += refusals.eq(refusals + 1)
        holds(m, (passed <= 1) & (refusals <= 1))
        # how its registers go with that
        holds(m, implies(at != 0, i.valid & (at < lengths)))
        holds(m, self.look("beat", range(most)) == at)
        holds(m, self.look("first", 1) == (at == 0))
        rest = (lengths - at)[: (most - 1).bit_length()]
        holds(m, implies(at != 0, self.look("left", range(most)) == rest))
        turn = self.look("errors_turn", 1)
        holds(m, implies((passed == 1) & (at == 0), turn))
        holds(m, implies(refusals == 1, ~turn))
        chosen, full = self.look("chosen_valid", 1), self.look("skid.full", 1)
        holds(m, order.inside == chosen + full + o.valid)
        holds(m, implies(full, o.valid))
        holds(m, implies(begun, self.look("skid.ready", 1) == ~full))
        holds(m, implies(o.valid, order.is_right(order.went, whole(o.payload))))
        second = order.plus(order.went, o.valid)
        holds(m, implies(full, order.is_right(second, whole(self.look("skid.kept", size)))))
        newest = order.minus(order.came, 1)
        coming = whole(self.look("skid.i__payload", size))
        holds(m, implies(chosen, order.is_right(newest, coming)))
        happens(m, leaves & o.p.error & (order.went == 4))


class AnyCore(wiring.Component):
    """A core that keeps to its contract: a result for each task, that stands until it is taken.

    Up to three tasks are ``inside``. What else it does say its free signals.
    """

    def __init__(self) -> None:
        self.takes, self.gives = Signal(), Signal()
        self.result = Signal(RESULT.size)
        super().__init__({"i": In(stream.Signature(TASK)), "o": Out(stream.Signature(RESULT))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        inside = Signal(2)
        waits = Signal()
        word = Signal(RESULT.size, reset_less=True)
        m.d.comb += [
            self.i.ready.eq(self.takes & (inside != 3)),
            self.o.valid.eq(waits | (self.gives & (inside != 0))),
            Value.cast(self.o.payload).eq(Mux(waits, word, self.result)),
        ]
        came, went = self.i.valid & self.i.ready, self.o.valid & self.o.ready
        m.d.sync += [
            waits.eq(self.o.valid & ~self.o.ready),
            word.eq(Value.cast(self.o.payload)),
            inside.eq(inside + came - went),
        ]
        return m


class ShellProof(Proof):
    """As many packets come out as went in, less those that are seen to be inside."""

    def build(self, m: Module) -> None:
        part = self.part
        m.d.comb += [
            part.s_axis_tvalid.eq(self.any(1, "valid")),
            part.s_axis_tdata.eq(self.any(WORD_BITS, "data")),
            part.s_axis_tlast.eq(self.any(1, "last")),
            part.m_axis_tready.eq(self.any(1, "ready")),
            part.core.takes.eq(self.any(1, "takes")),
            part.core.gives.eq(self.any(1, "gives")),
            part.core.result.eq(self.any(RESULT.size, "result")),
        ]
        for name, member in axi_lite_ports(ADDRESS_WIDTH, "s_axil_").items():
            if member.flow is In:
                port = getattr(part, name)
                m.d.comb += port.eq(self.any(len(port), name))
        assume(m, any_of(part.core.result[:4] == code for code in FUNCTIONS))
        accept = part.s_axis_tvalid & part.s_axis_tready
        leaves = part.m_axis_tvalid & part.m_axis_tready
        came, went, inside = Signal(4), Signal(4), Signal()
        m.d.sync += [
            came.eq(came + (accept & part.s_axis_tlast)),
            went.eq(went + (leaves & part.m_axis_tlast)),
        ]
        with m.If(accept):
            m.d.sync += inside.eq(~part.s_axis_tlast)
        full, sending = self.look("skid.full", 1), self.look("writer.skid.full", 1)
        task, error = self.look("reader.o__valid", 1), self.look("reader.error__valid", 1)
        in_core = self.look("core.inside", 2)
        kept = [
            full & self.look("skid.kept.last", 1),
            task,
            error,
            in_core,
            self.look("writer.chosen_valid", 1) & self.look("writer.chosen.last", 1),
            sending & self.look("writer.skid.kept.last", 1),
            part.m_axis_tvalid & part.m_axis_tlast,
        ]
        holds(m, (came - went)[:4] == sum(kept))
        holds(m, implies(full, ~part.s_axis_tready) & ~(task & error))
        holds(m, implies(sending, ~self.look("writer.skid.ready", 1)))
        holds(m, implies(self.look("core.waits", 1), in_core != 0))
        # Disabled, it takes no beat of a packet that has not begun.
        disabled = Signal()
        m.d.sync += disabled.eq(~self.look("registers.enable", 1))
        holds(m, implies(disabled & ~inside, ~part.s_axis_tready))
        holds(m, self.look("inside", 1) == inside)
        happens(m, (went == 2) & disabled)


@pytest.mark.parametrize("lanes", FORMATS)
def test_reader(lanes: int, tmp_path: Path) -> None:
    prove(ReaderProof(TaskReader(TASK, FORMATS[lanes]), FORMATS[lanes]), 3, tmp_path)


@pytest.mark.parametrize("lanes", FORMATS)
def test_writer(lanes: int, tmp_path: Path) -> None:
    prove(WriterProof(ResponseWriter(RESULT, FORMATS[lanes]), FORMATS[lanes]), 3, tmp_path)


def test_shell(tmp_path: Path) -> None:
    prove(ShellProof(TaskShell(AnyCore(), FUNCTIONS, identity=1)), 3, tmp_path)


def reader(of: type = TaskReader) -> Proof:
    return ReaderProof(of(TASK, FORMATS[1]), FORMATS[1])


def writer(of: type = ResponseWriter) -> Proof:
    return WriterProof(of(RESULT, FORMATS[2]), FORMATS[2])


def shell(of: type = TaskShell) -> Proof:
    return ShellProof(of(AnyCore(), FUNCTIONS, identity=1))


@pytest.mark.slow
@pytest.mark.parametrize("made", [reader, writer, shell])
def test_no_empty_proof(made: Callable[[], Proof], tmp_path: Path) -> None:
    prove(made(), 20, tmp_path, "cover")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "made", "old", "new"),
    [
        (TaskReader, reader, "left.eq(left - 1)", "left.eq(left)"),
        (TaskReader, reader, "at << 1", "at"),
        (TaskReader, reader, "with m.If(self.i.ready)", "with m.If(self.i.valid)"),
        (TaskReader, reader, "unknown_before.eq(~known)", "unknown_before.eq(0)"),
        (ResponseWriter, writer, "move & last & ~is_error", "move & last"),
        (ResponseWriter, writer, "errors_turn.eq(~is_error)", "errors_turn.eq(1)"),
        (ResponseWriter, writer, "skid.o.ready.eq(~valid | self.o.ready)", "skid.o.ready.eq(1)"),
        (ResponseWriter, writer, "(~last | (last_lane >= lane))", "1"),
        (TaskShell, shell, "~registers.enable & ~inside_next", "0"),
        (TaskShell, shell, "~self.s_axis_tlast, inside)", "1, inside)"),
        (TaskShell, shell, LINKS, f"{LINKS}; m.d.comb += self.m_axis_tlast.eq(1)"),
    ],
)
def test_a_shell_with_a_mistake_is_refuted(
    of: type, made: Callable[[type], Proof], old: str, new: str, tmp_path: Path
) -> None:
    assert refuted(made(mutant(of, old, new)), 12, tmp_path)
