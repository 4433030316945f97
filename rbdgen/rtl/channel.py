"""A channel between two regions: a FIFO whose words come and go each in their own cycle."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..schedule.channels import PUSHES_ON_THE_WAY, Channel
from ..schedule.fabric import ADDRESSED, capacity
from .counting import at_least, next_count
from .lut_ram import LutRam

# Tells rbdgen.synthesize to leave registers that are equal to others: those of a channel shall lie
# beside it, not feed every channel of a region.
NOT_SHARED = {"rbdgen_not_shared": 1}


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
        self.rams: list[LutRam] = []  # known once this has been elaborated

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
            self.rams.append(ram)
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
        self._last: dict[int, tuple[Signal, int, int]] = {}  # copy, its number, bits that it has

    def at(self, cycle: int, bits: int) -> Signal:
        """The address that steps with ``steps[cycle]``, for a memory of so many bits more."""
        pointer, number, used = self._last.get(cycle, (None, 0, 0))
        if pointer is None or used + bits > ADDRESSED:
            name = f"{self._name}_{cycle}" + (f"_{number}" if number else "")
            pointer = Signal(range(self._size), name=name, attrs=NOT_SHARED if number else {})
            number, used = number + 1, 0
            with self._m.If(self._steps[cycle]):
                self._m.d.sync += pointer.eq(next_count(pointer, self._size))
        self._last[cycle] = pointer, number, used + bits
        return pointer
