"""Lines of a few wires to a host: serial, and SPI.

A serial line, 8N1, has a start bit, eight bits from the lowest, a stop bit; idle is high. The baud
rate need not divide the clock: a bit lasts now one clock more, now one less, so that no edge is off
by more than a clock.

On SPI the host is the controller: it gives the clock, and a byte goes both ways at a time, its
highest bit first. Bytes in which either side has nothing to say are flags, which between two frames
mean nothing.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from .packets import FLAG

SPI_CLOCKS = 6  # clocks of the line in a period of SPI's clock, at least
LEAST_CLOCKS = 4  # clocks in a bit of a serial line, at least
RECEIVED = data.StructLayout({"byte": 8, "broken": 1})
"""A byte; ``broken``: its stop bit was not one."""


class _Pace:
    """``due`` once a bit, on the average: a phase grows by ``baud`` and wraps at ``clock``."""

    def __init__(self, clock: int, baud: int) -> None:
        if clock < LEAST_CLOCKS * baud:
            raise ValueError(f"a bit of {baud} baud has less than {LEAST_CLOCKS} clocks")
        self.clock, self.baud = clock, baud
        self.due = Signal()

    def add(self, m: Module, idle: Value, first: int) -> None:
        """Logic. After ``idle`` the phase begins at ``first``."""
        phase = Signal(range(self.clock))
        after = phase + self.baud
        m.d.comb += self.due.eq(after >= self.clock)
        m.d.sync += phase.eq(Mux(idle, first, Mux(self.due, after - self.clock, after)))


class UartReceiver(wiring.Component):
    """The line in; bytes out, each for one clock (``o.ready`` is not asked)."""

    def __init__(self, clock: int, baud: int) -> None:
        self._pace = _Pace(clock, baud)
        super().__init__({"rx": In(1, init=1), "o": Out(stream.Signature(RECEIVED))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        pace = self._pace
        line = Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.rx, line, init=1)
        bits = Signal(8, reset_less=True)
        left = Signal(range(11))  # bits to come, stop bit and start bit among them
        idle = left == 0
        pace.add(m, idle, pace.clock // 2)  # the middle of the bits
        m.d.sync += self.o.valid.eq(0)
        with m.If(idle):
            m.d.sync += left.eq(Mux(line, 0, 10))
        with m.Elif(pace.due):
            m.d.sync += left.eq(left - 1)
            with m.If((left == 10) & line):
                m.d.sync += left.eq(0)  # too short for a start bit: noise
            with m.Elif(left == 1):
                m.d.sync += [
                    self.o.valid.eq(1),
                    self.o.p.byte.eq(bits),
                    self.o.p.broken.eq(~line),
                ]
            with m.Elif(left != 10):
                m.d.sync += bits.eq(Cat(bits[1:], line))
        return m


class UartTransmitter(wiring.Component):
    """Bytes in; the line out, a register."""

    def __init__(self, clock: int, baud: int) -> None:
        self._pace = _Pace(clock, baud)
        super().__init__({"i": In(stream.Signature(8)), "tx": Out(1, init=1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        pace = self._pace
        bits = Signal(9, init=0x1FF, reset_less=True)
        left = Signal(range(11))
        idle = left == 0
        pace.add(m, idle, 0)
        m.d.comb += self.i.ready.eq(idle)
        with m.If(idle):
            m.d.sync += self.tx.eq(1)
            with m.If(self.i.valid):
                m.d.sync += [left.eq(10), self.tx.eq(0), bits.eq(Cat(self.i.payload, 1))]
        with m.Elif(pace.due):
            m.d.sync += [left.eq(left - 1), self.tx.eq(bits[0]), bits.eq(Cat(bits[1:], 1))]
        return m


class SerialLine(wiring.Component):
    """Both: what comes from a host, and what goes back to it. ``clock`` and ``baud`` in Hz."""

    def __init__(self, clock: int, baud: int) -> None:
        self._pace = clock, baud
        super().__init__(
            {
                "rx": In(1, init=1),
                "tx": Out(1, init=1),
                "o": Out(stream.Signature(RECEIVED, always_ready=True)),
                "i": In(stream.Signature(8)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.receiver = receiver = UartReceiver(*self._pace)
        m.submodules.transmitter = transmitter = UartTransmitter(*self._pace)
        wiring.connect(m, receiver.o, wiring.flipped(self.o))
        wiring.connect(m, wiring.flipped(self.i), transmitter.i)
        m.d.comb += [receiver.rx.eq(self.rx), self.tx.eq(transmitter.tx)]
        return m


class SpiLine(wiring.Component):
    """A peripheral of SPI, mode 0 or 3, whose wires are sampled: no edge of theirs is a clock.

    =============  ===  ====================================================================
    port                meaning
    =============  ===  ====================================================================
    ``sck``        in   the controller's clock, of at least `SPI_CLOCKS` clocks, half of them high
    ``cs_n``       in   low while it transfers; falls and rises a clock or more away from ``sck``
    ``copi``       in   taken when ``sck`` rises
    ``cipo``       out  four clocks after ``sck`` rose at the latest the next bit
    ``ready``      out  a whole frame waits to be read
    =============  ===  ====================================================================

    A byte has gone, either way, when its eighth bit was clocked. Where ``cs_n`` rises before that
    it has not: the next transfer begins with the same byte, and what came of the controller's is
    dropped. Frames may be parted among transfers, and a transfer may have several. A frame leaves
    when all of it is there, since no byte inside of one may be a flag; ``longest``: bytes of one.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        super().__init__(
            {
                "sck": In(1),
                "cs_n": In(1, init=1),
                "copi": In(1),
                "cipo": Out(1),
                "ready": Out(1),
                "o": Out(stream.Signature(RECEIVED, always_ready=True)),
                "i": In(stream.Signature(8)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        clock, before, copi, idle = Signal(), Signal(), Signal(), Signal(init=1)
        wires = {"sck": (self.sck, clock), "copi": (self.copi, copi), "cs_n": (self.cs_n, idle)}
        for name, (wire, own) in wires.items():
            m.submodules[f"synchronizer_{name}"] = FFSynchronizer(wire, own, init=own.init)
        m.d.sync += before.eq(clock)
        rises = Signal()
        m.d.comb += rises.eq(clock & ~before & ~idle)

        # Frames wait until they are whole: their second flag is there.
        m.submodules.room = room = SyncFIFOBuffered(width=8, depth=self._longest)
        opened, closing, left = Signal(), Signal(), Signal()
        whole = Signal(range(self._longest))  # how many frames are whole
        m.d.comb += [
            room.w_data.eq(self.i.payload),
            room.w_en.eq(self.i.valid),
            self.i.ready.eq(room.w_rdy),
            closing.eq(room.w_en & room.w_rdy & (room.w_data == FLAG) & opened),
            self.ready.eq(whole.any()),
        ]
        with m.If(room.w_en & room.w_rdy & (room.w_data == FLAG)):
            m.d.sync += opened.eq(~opened)

        # The first byte of a frame is a flag, too: it does not matter in the midst of which byte
        # a frame becomes whole.
        bit, bits, inside = Signal(3), Signal(7, reset_less=True), Signal()
        byte = Mux(whole.any(), room.r_data, FLAG)
        last = rises & (bit == 7)
        m.d.sync += self.cipo.eq(byte.bit_select(~bit, 1))
        m.d.comb += [
            room.r_en.eq(last & whole.any()),
            left.eq(room.r_en & (room.r_data == FLAG) & inside),
            self.o.valid.eq(last),
            self.o.p.byte.eq(Cat(copi, bits)),
        ]
        with m.If(idle):
            m.d.sync += bit.eq(0)
        with m.Elif(rises):
            m.d.sync += [bit.eq(bit + 1), bits.eq(Cat(copi, bits))]
        with m.If(room.r_en & (room.r_data == FLAG)):
            m.d.sync += inside.eq(~inside)
        m.d.sync += whole.eq(whole + closing - left)
        return m
