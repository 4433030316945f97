"""A channel between two regions: a FIFO whose words come and go each in their own cycle."""

from __future__ import annotations

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value, signed
from amaranth.lib.memory import Memory

from ..schedule.channels import PUSHES_ON_THE_WAY, Channel
from .counting import LUT_RAM, at_least, next_count

BANK = 16  # words of one LUT-RAM


def capacity(channel: Channel) -> int:
    """Tokens the channel has room for: what the schedule asks for, in whole LUT-RAMs."""
    return -(-channel.depth // BANK) * BANK


class ChannelFifo(Elaboratable):
    """Hardware of one channel.

    ``push``: the sender fires, ``pop``: the receiver fires (only where ``valid``).
    ``written[k]`` is sampled ``words[k].written`` cycles after a push; ``read[k]`` shows the word
    in the cycle ``words[k].read`` after a pop, straight from memory.

    ``valid`` is a register; a token is valid ``delay`` cycles after its push. ``room`` says, from
    registers, that the channel will take a push in the next cycle, whatever is on its way there;
    a place is free again ``hold`` + 2 cycles after its pop. So no path within a clock leads from
    one side to the other, and none from a push or pop through a counter.
    """

    def __init__(self, channel: Channel, size: int | None = None) -> None:
        self.channel = channel
        self.size = capacity(channel) if size is None else size
        self.push = Signal(name="push")
        self.pop = Signal(name="pop")
        self.room = Signal(name="room")
        self.valid = Signal(name="valid")
        self.written = [
            Signal(signed(w.width), name=f"written_{k}") for k, w in enumerate(channel.words)
        ]
        self.read = [Signal(signed(w.width), name=f"read_{k}") for k, w in enumerate(channel.words)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        channel, size = self.channel, self.size
        pushed = _Delay(m, "push", self.push)
        popped = _Delay(m, "pop", self.pop)
        self._tokens(m, pushed[channel.delay - 1])
        # Places are counted late on both sides, which the schedule's depth allows for: a push of
        # the last two cycles and one of the next may be missing in the count.
        places = Signal(range(size + 1), init=size)
        m.d.sync += places.eq(places + popped[channel.hold + 1] - pushed[1])
        m.d.comb += self.room.eq(at_least(places, PUSHES_ON_THE_WAY + 1))

        groups: dict[tuple[int, int], list[int]] = {}
        for k, word in enumerate(channel.words):
            groups.setdefault((word.written, word.read), []).append(k)
        writes, reads = (sorted(set(offsets)) for offsets in zip(*groups, strict=True))
        write_at = {at: _pointer(m, f"write_{at}", pushed[at], size) for at in writes}
        read_at = {at: _pointer(m, f"read_{at}", popped[at], size) for at in reads}
        for (written, read), members in sorted(groups.items()):
            width = sum(channel.words[k].width for k in members)
            memory = Memory(shape=width, depth=size, init=[], attrs=LUT_RAM)
            m.submodules[f"memory_{written}_{read}"] = memory
            write_port, read_port = memory.write_port(), memory.read_port(domain="comb")
            m.d.comb += [
                write_port.en.eq(pushed[written]),
                write_port.addr.eq(write_at[written]),
                write_port.data.eq(Cat(self.written[k] for k in members)),
                read_port.addr.eq(read_at[read]),
            ]
            start = 0
            for k in members:
                end = start + channel.words[k].width
                m.d.comb += self.read[k].eq(read_port.data[start:end])
                start = end
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
        m.d.sync += self.valid.eq(arrive | Mux(self.pop, several, self.valid))


class _Delay:
    """``delay[k]`` is a bit as it was k cycles ago."""

    def __init__(self, m: Module, name: str, bit: Signal) -> None:
        self.m, self.name, self.taps = m, name, [bit]

    def __getitem__(self, k: int) -> Signal:
        while len(self.taps) <= k:
            tap = Signal(name=f"{self.name}_{len(self.taps)}")
            self.m.d.sync += tap.eq(self.taps[-1])
            self.taps.append(tap)
        return self.taps[k]


def _pointer(m: Module, name: str, step: Value, size: int) -> Signal:
    """Counts the steps round a memory of ``size`` words."""
    pointer = Signal(range(size), name=name)
    with m.If(step):
        m.d.sync += pointer.eq(next_count(pointer, size))
    return pointer
