"""A serial line, 8N1: a start bit, eight bits from the lowest, a stop bit; idle is high.

The baud rate need not divide the clock: a bit lasts now one clock more, now one less, so that no
edge is off by more than a clock.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

LEAST_CLOCKS = 4  # of a bit
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
