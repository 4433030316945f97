"""A skid buffer: breaks the combinational path against the data, at no cost in latency."""

from amaranth.hdl import Module, Mux, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out


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
