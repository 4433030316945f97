"""A queue that is never full: it has a place for everything that may ever wait in it."""

from __future__ import annotations

from amaranth.hdl import Module, ShapeLike, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .lut_ram import LutRam


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
