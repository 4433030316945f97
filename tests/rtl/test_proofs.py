"""Queues, buffers and links, proved: no input and no stall loses, doubles, swaps or changes a word.

Each is proved by induction, what it is proved of is seen to happen, and a part with one mistake is
refuted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data

from rbdgen.rtl.delay_line import LutRam
from rbdgen.rtl.queues import ChannelFifo, Skid, SlotQueue
from rbdgen.schedule.plan import Channel, ChannelWord
from rbdgen.shell.axi import Beat, Gather, Packet, Scatter, _union, fields_of, wide_packet
from tests.support.proofs import (
    Order,
    Proof,
    assume,
    earlier,
    happens,
    holds,
    implies,
    mutant,
    prove,
    refuted,
    stands,
)

pytestmark = pytest.mark.synthesis
BITS = 3  # of a word: what is done to one is done to all


class SkidProof(Proof):
    def build(self, m: Module) -> None:
        i, o = self.part.i, self.part.o
        m.d.comb += [
            i.valid.eq(self.any(1, "valid")),
            i.payload.eq(self.any(BITS, "payload")),
            o.ready.eq(self.any(1, "ready")),
        ]
        if hasattr(self.part, "stop"):
            m.d.comb += self.part.stop.eq(self.any(1, "stop"))
        order = Order(m, self, BITS, 8)
        enters, leaves = i.valid & i.ready, o.valid & o.ready
        order.counted(enters, leaves)
        assume(m, implies(enters, order.is_right(order.came, i.payload)))
        holds(m, implies(leaves, order.is_right(order.went, o.payload)))
        stands(m, o)
        full, kept = self.look("full", 1), self.look("kept", BITS)
        holds(m, order.inside == full)
        holds(m, implies(full, order.is_right(order.went, kept)))
        holds(m, implies(full, ~i.ready))
        happens(m, leaves & (order.went == 5) & full)


class SlotQueueProof(Proof):
    @property
    def rams(self) -> list[LutRam]:
        return [self.part.ram]

    def build(self, m: Module) -> None:
        queue, o, depth = self.part, self.part.o, self.part.ram.depth
        m.d.comb += [
            queue.push.eq(self.any(1, "push")),
            queue.data.eq(self.any(BITS, "data")),
            o.ready.eq(self.any(1, "ready")),
        ]
        order = Order(m, self, BITS, 4 * depth)
        leaves = o.valid & o.ready
        order.counted(queue.push, leaves)
        assume(m, implies(queue.push, order.is_right(order.came, queue.data)))
        assume(m, implies(queue.push, order.inside <= depth))
        holds(m, implies(o.valid, order.is_right(order.went, o.payload)))
        holds(m, order.inside <= depth + 1)
        stands(m, o)
        bits = (depth - 1).bit_length()
        waiting = self.look("waiting", range(depth + 1))
        write, read = self.look("ram.write_address", bits), self.look("ram.read_address", bits)
        words = self.words("ram", queue.ram)
        holds(m, order.inside == waiting + o.valid)
        holds(m, write == order.came[:bits])
        oldest = order.plus(order.went, o.valid)  # that is in the memory
        holds(m, read == oldest[:bits])
        for k in range(depth):
            at = order.plus(oldest, k)
            holds(m, implies(k < waiting, order.is_right(at, words[at[:bits]])))
        happens(m, leaves & (order.went == depth + 1) & (waiting == depth))


class ChannelProof(Proof):
    """Tokens whose words come and go each in their own cycle: (written, read) from push and pop."""

    def build(self, m: Module) -> None:
        fifo, channel, size = self.part, self.part.channel, self.part.size
        m.d.comb += [fifo.push.eq(self.any(1, "push")), fifo.pop.eq(self.any(1, "pop"))]
        order = Order(m, self, BITS, 4 * size)
        order.counted(fifo.push, fifo.pop)
        longest = max(
            channel.delay, channel.hold + 1, *(max(w.written, w.read) for w in channel.words)
        )
        came, went = (earlier(m, count, longest) for count in (order.came, order.went))
        push, pop = (earlier(m, bit, longest) for bit in (fifo.push, fifo.pop))
        room = Signal()
        m.d.sync += room.eq(fifo.room)
        assume(m, implies(fifo.push, room))
        assume(m, implies(fifo.pop, fifo.valid))
        for k, word in enumerate(channel.words):
            m.d.comb += fifo.written[k].eq(self.any(BITS, f"written_{k}"))
            w, r = word.written, word.read
            assume(m, implies(push[w], order.is_right(came[w], fifo.written[k].as_unsigned())))
            holds(m, implies(pop[r], order.is_right(went[r], fifo.read[k].as_unsigned())))
        # Before the first token nothing is in the places of those that would have come before it.
        assume(m, order.number < order.turn - size)
        # how the counters go with what came and went
        freed = went[channel.hold + 1]
        holds(m, self.look("places", range(size + 1)) == size - order.minus(came[1], freed))
        holds(m, order.minus(came[0], freed) <= size)
        tokens = order.minus(came[channel.delay - 1], went[0])
        holds(m, fifo.valid == (tokens != 0))
        holds(m, tokens <= size)
        counted = order.minus(came[channel.delay], went[1])
        holds(m, self.look("counted", range(size + 1)) == counted)
        for ram, (w, r) in zip(
            fifo.placed, sorted({(x.written, x.read) for x in channel.words}), strict=True
        ):
            name = f"memory_{w}_{r}"
            address = range(size)
            holds(m, self.look(f"{name}.write_address", address) == came[w] % size)
            holds(m, self.look(f"{name}.read_address", address) == went[r] % size)
            kept = self.words(name, ram)[order.number % size]
            since = order.minus(came[w], order.number)
            is_there = (since >= 1) & (since <= size)
            members = ram.width // BITS
            holds(m, implies(is_there, kept == Cat([order.value] * members)))
        # nothing on its way, and a place free: it takes the next
        still = ~Cat(push).any() & ~Cat(pop).any() & (order.inside + 2 < size)
        holds(m, implies(still, fifo.room))
        happens(m, fifo.pop & (order.went == size + 1))


LAYOUT = data.StructLayout({"a": signed(3), "b": signed(4), "c": 1, "d": 1})
A, B, C, D = fields_of(LAYOUT)
PACKETS = {
    "wide": wide_packet(LAYOUT),
    "words": Packet(5, (Beat((A,)), Beat((B,)), Beat((C, D)))),
    "two": Packet(6, (Beat((A, C)), Beat((B,)))),
}


def expected(m: Module, packet: Packet, task: Value) -> list[Signal]:
    """The beats of a task, from the format's own words: fields side by side, a lone one signed."""
    beats = []
    for beat in packet.beats:
        bits = Cat(task[field.offset : field.offset + field.width] for field in beat.fields)
        beats.append(Signal(packet.width))
        alone = len(beat.fields) == 1 and beat.fields[0].signed
        m.d.comb += beats[-1].eq(bits.as_signed() if alone else bits)
    return beats


class LinkProof(Proof):
    """Of an end of a stream link, for tasks in packets of one format."""

    def __init__(self, part: Any, packet: Packet) -> None:
        super().__init__(part)
        self.packet = packet


class GatherProof(LinkProof):
    """Beats are kept by their number, in place of a chain, and tasks made of those."""

    def build(self, m: Module) -> None:
        i, o, n = self.part.i, self.part.o, len(self.packet.beats)
        m.d.comb += [
            i.valid.eq(self.any(1, "valid")),
            i.p.data.eq(self.any(self.packet.width, "data")),
            i.p.last.eq(self.any(1, "last")),
            o.ready.eq(self.any(1, "ready")),
        ]
        accept, at = i.valid & i.ready, Signal(range(n + 1))  # n: longer than a packet is
        own = [Signal(self.packet.width, name=f"own_{k}", reset_less=True) for k in range(n)]
        due, wrong = Signal(), Signal()
        right = accept & i.p.last & (at == n - 1)
        with m.If(o.ready):
            m.d.sync += due.eq(0)
        with m.If(accept):
            m.d.sync += [at.eq(Mux(i.p.last, 0, Mux(at == n, n, at + 1))), due.eq(right)]
            m.d.sync += wrong.eq(wrong | (i.p.last & ~right))
            for k in range(n):
                with m.If(at == k):
                    m.d.sync += own[k].eq(i.p.data)
        # one task for each packet of the right length, of its beats; none for any other
        holds(m, o.valid == due)
        task = Value.cast(o.payload)
        for beat, kept in zip(self.packet.beats, own, strict=True):
            for field, low in beat.placed():
                is_field = task[field.offset : field.offset + field.width]
                holds(m, implies(due, is_field == kept[low : low + field.width]))
        holds(m, self.part.framing_error == (wrong | (at == n)))
        stands(m, o)
        holds(m, i.ready | (o.valid & ~o.ready))  # it never waits but for whoever takes tasks
        # how the chain goes with that
        if n > 1:
            holds(m, self.look("count", range(n)) == Mux(at == n, 0, at))
        holds(m, self.look("skipping", 1) == (at == n))
        holds(m, at <= n)
        passing = [max(beat.shape.width for beat in self.packet.beats[: k + 1]) for k in range(n)]
        chain = [self.look(f"beat_{k}", passing[k]) for k in range(n)]
        for there in range(1, n):
            for k in range(there):
                link = chain[n - there + k]
                holds(m, implies(at == there, link == own[k][: len(link)]))
        for link, kept in zip(chain, own, strict=True):
            holds(m, implies(due, link == kept[: len(link)]))
        happens(m, due & wrong)


class ScatterProof(LinkProof):
    """A task is kept whole, and beats are what the format makes of it."""

    def build(self, m: Module) -> None:
        i, o, n = self.part.i, self.part.o, len(self.packet.beats)
        m.d.comb += [
            i.valid.eq(self.any(1, "valid")),
            Value.cast(i.payload).eq(self.any(LAYOUT.size, "task")),
            o.ready.eq(self.any(1, "ready")),
        ]
        task, busy, at = Signal(LAYOUT.size, reset_less=True), Signal(), Signal(range(n))
        taken, leaves = i.valid & i.ready, o.valid & o.ready
        with m.If(leaves):
            m.d.sync += [at.eq(Mux(at == n - 1, 0, at + 1)), busy.eq(at != n - 1)]
        with m.If(taken):
            m.d.sync += [task.eq(Value.cast(i.payload)), busy.eq(1)]
        beats = expected(m, self.packet, task)
        holds(m, (o.valid == busy) & (at < n))
        holds(m, implies(taken, ~busy | (leaves & (at == n - 1))))
        for k, own in enumerate(beats):
            here = busy & (at == k)
            holds(m, implies(here, (o.p.data == own) & (o.p.last == (k == n - 1))))
            for ahead, later in enumerate(beats[k:]):
                link = self.look(f"beat_{ahead}", _union(self.packet.beats[ahead:]).width)
                holds(m, implies(here, link == later[: len(link)]))
            if n > 1:
                holds(m, implies(here, self.look("count", range(n)) == k))
        holds(m, implies(~busy, (at == 0) & i.ready))
        stands(m, o)
        happens(m, leaves & o.p.last & taken)


@pytest.mark.parametrize("stoppable", [False, True])
def test_skid(stoppable: bool, tmp_path: Path) -> None:
    proof = SkidProof(Skid(BITS, stoppable=stoppable))
    prove(proof, 4, tmp_path)


@pytest.mark.slow
def test_skid_is_no_empty_proof(tmp_path: Path) -> None:
    prove(SkidProof(Skid(BITS)), 12, tmp_path, "cover")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("m.If(~full)", "m.If(full)"),
        ("ready.eq(~held)", "ready.eq(1)"),
        ("full.eq(stalled)", "full.eq(0)"),
    ],
)
def test_a_skid_with_a_mistake_is_refuted(old: str, new: str, tmp_path: Path) -> None:
    assert refuted(SkidProof(mutant(Skid, old, new)(BITS)), 8, tmp_path)


@pytest.mark.parametrize("depth", [2, 4, 8])
def test_slot_queue(depth: int, tmp_path: Path) -> None:
    queue = SlotQueue(BITS, depth)
    prove(SlotQueueProof(queue), 3, tmp_path)


@pytest.mark.slow
def test_slot_queue_is_no_empty_proof(tmp_path: Path) -> None:
    queue = SlotQueue(BITS, 2)
    prove(SlotQueueProof(queue), 12, tmp_path, "cover")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+ self.push - moves", "+ self.push"),
        ("read_address + moves", "read_address + 1"),
        ("(~self.o.valid | self.o.ready))", "1)"),
    ],
)
def test_a_slot_queue_with_a_mistake_is_refuted(old: str, new: str, tmp_path: Path) -> None:
    queue = mutant(SlotQueue, old, new)(BITS, 2)
    assert refuted(SlotQueueProof(queue), 8, tmp_path)


SHORT = (3, ((0, 0),))
# (written, read) of each word: at once; late writers; late readers; two words that share both
CHANNELS = [
    SHORT,
    pytest.param(4, ((2, 0), (3, 1), (0, 0)), marks=pytest.mark.slow),
    pytest.param(5, ((0, 3), (1, 4), (0, 0), (1, 4)), marks=pytest.mark.slow),
]


def channel_of(of: type, size: int, words: tuple[tuple[int, int], ...]) -> tuple[Proof, int]:
    """The proof, and how many cycles its induction takes: all that is on its way comes to rest."""
    made = tuple(ChannelWord(None, BITS, written, read) for written, read in words)
    channel = Channel(("forward", 0), ("forward", 1), made, 0)
    longest = max(channel.delay, channel.hold, *(max(w) for w in words))
    return ChannelProof(of(channel, size)), longest + 4


@pytest.mark.parametrize(("size", "words"), CHANNELS)
def test_channel(size: int, words: tuple[tuple[int, int], ...], tmp_path: Path) -> None:
    proof, depth = channel_of(ChannelFifo, size, words)
    prove(proof, depth, tmp_path)


@pytest.mark.slow
def test_channel_is_no_empty_proof(tmp_path: Path) -> None:
    proof, _ = channel_of(ChannelFifo, *SHORT)
    prove(proof, 24, tmp_path, "cover")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("PUSHES_ON_THE_WAY + 1)", "PUSHES_ON_THE_WAY)"),
        ("popped[channel.hold + 1] -", "popped[0] -"),
        ("at_least(counted, 3)", "at_least(counted, 2)"),
    ],
)
def test_a_channel_with_a_mistake_is_refuted(old: str, new: str, tmp_path: Path) -> None:
    proof, _ = channel_of(mutant(ChannelFifo, old, new), *SHORT)
    assert refuted(proof, 14, tmp_path)


@pytest.mark.parametrize("packet", PACKETS.values(), ids=PACKETS)
def test_gather(packet: Packet, tmp_path: Path) -> None:
    prove(GatherProof(Gather(LAYOUT, packet), packet), 3, tmp_path)


@pytest.mark.parametrize("packet", PACKETS.values(), ids=PACKETS)
def test_scatter(packet: Packet, tmp_path: Path) -> None:
    prove(ScatterProof(Scatter(LAYOUT, packet), packet), 3, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("of", "proof"), [(Gather, GatherProof), (Scatter, ScatterProof)])
def test_links_are_no_empty_proofs(of: type, proof: type, tmp_path: Path) -> None:
    prove(proof(of(LAYOUT, PACKETS["two"]), PACKETS["two"]), 12, tmp_path, "cover")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "proof", "name", "old", "new"),
    [
        (Gather, GatherProof, "wide", " & ~skipping", ""),
        (Gather, GatherProof, "words", ".eq(~self.o.valid | self.o.ready)", ".eq(1)"),
        (Gather, GatherProof, "words", "skipping.eq(~self.i.p.last)", "skipping.eq(0)"),
        (Scatter, ScatterProof, "words", "~valid | (last & self.o.ready)", "~valid | self.o.ready"),
        (Scatter, ScatterProof, "words", "count == len(beats) - 2", "count == len(beats) - 1"),
    ],
)
def test_a_link_with_a_mistake_is_refuted(
    of: type, proof: type, name: str, old: str, new: str, tmp_path: Path
) -> None:
    packet = PACKETS[name]
    assert refuted(proof(mutant(of, old, new)(LAYOUT, packet), packet), 12, tmp_path)
