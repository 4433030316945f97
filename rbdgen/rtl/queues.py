"""Queues of a round trip: channels between regions, skid buffers, queues that are never full.

A channel between two regions is a FIFO whose words come and go each in their own cycle. A skid
buffer breaks the combinational path against the data, at no cost in latency. A queue that is never
full has a place for everything that may ever wait in it.
"""

from __future__ import annotations

from collections import Counter

from amaranth.hdl import Cat, Module, Mux, ShapeLike, Signal, Value, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..schedule.channels import PUSHES_ON_THE_WAY
from ..schedule.difference_constraints import ADDRESSED, capacity
from ..schedule.plan import Channel
from .arithmetic import NOT_SHARED, Copies, at_least, copy_for, next_count
from .delay_line import LutRam


class ChannelFifo(wiring.Component):
    """Hardware of one channel.

    ``push``: the sender fires, ``pop``: the receiver fires (only where ``valid``).
    ``written[k]`` is sampled ``words[k].written`` cycles after a push; ``read[k]`` shows the word
    in the cycle ``words[k].read`` after a pop, straight from memory.

    ``valid`` is a register; a token is valid ``delay`` cycles after its push. What it will be in
    the next cycle is ``stays`` without a pop in this one and ``follows`` with one. ``room`` says
    that the channel will take a push in the next cycle, whatever is on its way there; a place is
    free again ``hold`` + 2 cycles after its pop. No path within a clock leads from a pop to the
    other side, none from a push but where ``delay`` is 1, and none of either through a counter.
    """

    def __init__(self, channel: Channel, size: int | None = None) -> None:
        self.channel = channel
        self.size = capacity(channel) if size is None else size
        words = range(len(channel.words))
        shapes = [signed(w.width) for w in channel.words]
        super().__init__(
            {"push": In(1), "pop": In(1), "room": Out(1)}
            | {"valid": Out(1), "stays": Out(1), "follows": Out(1)}
            | {f"written_{k}": In(shapes[k]) for k in words}
            | {f"read_{k}": Out(shapes[k]) for k in words}
        )
        self.written: list[Signal] = [getattr(self, f"written_{k}") for k in words]
        self.read: list[Signal] = [getattr(self, f"read_{k}") for k in words]
        self.placed: list[LutRam] = []  # known once this has been elaborated

    def elaborate(self, platform: object) -> Module:
        m = Module()
        channel, size = self.channel, self.size
        last_write = max(w.written for w in channel.words)
        last_read = max(w.read for w in channel.words)
        pushed = _delays(m, "pushed", self.push, max(last_write, channel.delay - 1, 1))
        popped = _delays(m, "popped", self.pop, max(last_read, channel.hold + 1))
        self._tokens(m, pushed[channel.delay - 1])
        # Places are counted late on both sides, which the schedule's depth allows for: a push of
        # the last two cycles and one of the next may be missing in the count.
        places = Signal(range(size + 1), init=size)
        m.d.sync += places.eq(places + popped[channel.hold + 1] - pushed[1])
        m.d.comb += self.room.eq(at_least(places, PUSHES_ON_THE_WAY + 1))

        groups: dict[tuple[int, int], list[int]] = {}
        for k, word in enumerate(channel.words):
            groups.setdefault((word.written, word.read), []).append(k)
        write_at = _Pointers(m, "write_address", pushed, size)
        read_at = _Pointers(m, "read_address", popped, size)
        for (written, read), members in sorted(groups.items()):
            width = sum(channel.words[k].width for k in members)
            ram = LutRam(width, size)
            m.submodules[f"memory_{written}_{read}"] = ram.instance(
                write=pushed[written],
                write_address=write_at.at(written, width),
                data=Cat(self.written[k] for k in members),
                read_address=read_at.at(read, width),
                q=Cat(self.read[k] for k in members),
            )
            self.placed.append(ram)
        return m

    def _tokens(self, m: Module, arrive: Value) -> None:
        """``valid``: there is a token. The counter lags a cycle, so a pop need not pass it."""
        counted = Signal(range(self.size + 1))
        came = Signal()
        went = Signal()
        m.d.sync += [came.eq(arrive), went.eq(self.pop), counted.eq(counted + came - went)]
        several = Signal()  # two tokens or more, now
        with m.If(came == went):
            m.d.comb += several.eq(at_least(counted, 2))
        with m.Elif(came):
            m.d.comb += several.eq(at_least(counted, 1))
        with m.Else():
            m.d.comb += several.eq(at_least(counted, 3))
        m.d.comb += [self.stays.eq(self.valid | arrive), self.follows.eq(several | arrive)]
        m.d.sync += self.valid.eq(Mux(self.pop, self.follows, self.stays))


def _delays(m: Module, name: str, bit: Signal, cycles: int) -> Value:
    """[k]: the bit as it was k cycles ago, to ``cycles``."""
    earlier = Signal(cycles, name=name, attrs=NOT_SHARED)
    now_and_earlier = Cat(bit, earlier)
    m.d.sync += earlier.eq(now_and_earlier)
    return now_and_earlier


class _Pointers:
    """Addresses by when they step, each with copies for so many bits of memory."""

    def __init__(self, m: Module, name: str, steps: Value, size: int) -> None:
        self._m, self._name, self._steps, self._size = m, name, steps, size
        self._copies: Copies[int, Signal] = {}
        self._made: Counter[int] = Counter()

    def at(self, cycle: int, bits: int) -> Signal:
        """The address that steps with ``steps[cycle]``, for a memory of so many bits more."""
        return copy_for(self._copies, cycle, bits, ADDRESSED, lambda: self._new(cycle))

    def _new(self, cycle: int) -> Signal:
        number = self._made[cycle]
        self._made[cycle] += 1
        name = f"{self._name}_{cycle}" + (f"_{number}" if number else "")
        pointer = Signal(range(self._size), name=name, attrs=NOT_SHARED if number else {})
        with self._m.If(self._steps[cycle]):
            self._m.d.sync += pointer.eq(next_count(pointer, self._size))
        return pointer


class Skid(wiring.Component):
    """Stream in, stream out; ``i.ready`` is a register.

    Width: one copy of ``shape`` is stored. Latency: none while the sink is ready, for the payload
    then passes straight through; the one beat that arrives in the cycle the sink stalls is kept
    here. Throughput: one beat a clock. ``i.ready`` is low during reset and in the cycle after it,
    so that a source that is not reset itself loses nothing while the design is.

    A ``stoppable`` one has an input ``stop``: ``i.ready`` is low in the cycle after it was set.
    """

    def __init__(self, shape: ShapeLike, *, stoppable: bool = False) -> None:
        self._shape = shape
        self._stoppable = stoppable
        ports = {"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))}
        super().__init__(ports | ({"stop": In(1)} if stoppable else {}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        kept = Signal(self._shape, reset_less=True)
        full = Signal()
        stalled = Signal()
        ready = Signal()

        m.d.comb += [
            self.i.ready.eq(ready),
            self.o.valid.eq(full | (self.i.valid & ready)),
            self.o.payload.eq(Mux(full, kept, self.i.payload)),
            stalled.eq(self.o.valid & ~self.o.ready),
        ]
        held = stalled | self.stop if self._stoppable else stalled
        m.d.sync += [full.eq(stalled), ready.eq(~held)]
        with m.If(~full):
            m.d.sync += kept.eq(self.i.payload)
        return m


class SlotQueue(wiring.Component):
    """``data`` enters whenever ``push`` is set, and leaves by the stream ``o``, in order.

    Room: ``depth`` entries in LUT-RAM and one in the register that ``o`` is; whoever pushes has
    no more than that under way. Latency: two cycles. Throughput: one entry a clock.
    """

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        super().__init__({"push": In(1), "data": In(shape), "o": Out(stream.Signature(shape))})
        self.ram = LutRam(len(Value.cast(self.data)), max(depth, 2))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth = self.ram.depth
        write_address, read_address = Signal(range(depth)), Signal(range(depth))
        waiting = Signal(range(depth + 1))
        head = Signal.like(Value.cast(self.data))
        m.submodules.ram = self.ram.instance(
            write=self.push,
            write_address=write_address,
            data=Value.cast(self.data),
            read_address=read_address,
            q=head,
        )
        moves = Signal()
        m.d.comb += moves.eq((waiting != 0) & (~self.o.valid | self.o.ready))
        m.d.sync += [
            write_address.eq(write_address + self.push),
            read_address.eq(read_address + moves),
            waiting.eq(waiting + self.push - moves),
        ]
        with m.If(~self.o.valid | self.o.ready):
            m.d.sync += [self.o.valid.eq(moves), Value.cast(self.o.payload).eq(head)]
        return m
