"""A channel between two regions: a FIFO whose words come and go each in their own cycle."""

from __future__ import annotations

from amaranth.hdl import Cat, Elaboratable, Module, Signal, Value, signed
from amaranth.lib.memory import Memory

from ..schedule.channels import Channel

BANK = 16  # words of one LUT-RAM


def capacity(channel: Channel) -> int:
    """Tokens the channel has room for: what the schedule asks for, in whole LUT-RAMs."""
    return -(-channel.depth // BANK) * BANK


class ChannelFifo(Elaboratable):
    """Hardware of one channel.

    ``push``: the sender fires (only where ``ready``), ``pop``: the receiver fires (only where
    ``valid``). ``written[k]`` is sampled ``words[k].written`` cycles after a push; ``read[k]``
    shows the word in the cycle ``words[k].read`` after a pop, straight from memory.
    ``ready`` and ``valid`` come from registers; a token is valid ``delay`` cycles after its push,
    and its place is ready again ``hold`` + 1 cycles after its pop.
    """

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.push = Signal(name="push")
        self.pop = Signal(name="pop")
        self.ready = Signal(name="ready", init=1)
        self.valid = Signal(name="valid")
        self.written = [Signal(signed(w.width), name=f"written_{k}") for k, w in enumerate(channel.words)]
        self.read = [Signal(signed(w.width), name=f"read_{k}") for k, w in enumerate(channel.words)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        channel, size = self.channel, capacity(self.channel)
        pushed = _Delay(m, "push", self.push)
        popped = _Delay(m, "pop", self.pop)

        tokens = Signal(range(size + 1))
        arrive, leave = pushed[channel.delay - 1], self.pop
        m.d.sync += tokens.eq(tokens + arrive - leave)
        _track(m, tokens, arrive, leave, self.valid)

        room = Signal(range(size + 1), init=size)
        back, spend = popped[channel.hold], self.push
        m.d.sync += room.eq(room + back - spend)
        _track(m, room, back, spend, self.ready)

        groups: dict[tuple[int, int], list[int]] = {}
        for k, word in enumerate(channel.words):
            groups.setdefault((word.written, word.read), []).append(k)
        write_at = {at: _pointer(m, f"write_{at}", pushed[at], size) for at, _ in sorted(groups)}
        read_at = {at: _pointer(m, f"read_{at}", popped[at], size) for _, at in sorted(groups)}
        for (written, read), members in sorted(groups.items()):
            width = sum(channel.words[k].width for k in members)
            memory = Memory(shape=width, depth=size, init=[])
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


def _track(m: Module, count: Signal, up: Value, down: Value, some: Signal) -> None:
    """``some`` is a register that says whether ``count`` (which moves with up, down) is not 0."""
    with m.If(up & ~down):
        m.d.sync += some.eq(1)
    with m.Elif(down & ~up):
        m.d.sync += some.eq(count != 1)


def _pointer(m: Module, name: str, step: Value, size: int) -> Signal:
    """Counts the steps round a memory of ``size`` words."""
    pointer = Signal(range(size), name=name)
    with m.If(step):
        if size & (size - 1):
            m.d.sync += pointer.eq(pointer + 1)
            with m.If(pointer == size - 1):
                m.d.sync += pointer.eq(0)
        else:
            m.d.sync += pointer.eq(pointer + 1)
    return pointer
