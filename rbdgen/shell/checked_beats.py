# amaranth: UnusedElaboratable=no
"""Beats of a link, each checked against the field that it carries."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Array, Cat, Module, Mux, Shape, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from .axi import Beat, beat_layout


def checked_layout(width: int) -> data.StructLayout:
    """The layout of a beat, with whether it is ``wrong``."""
    return data.StructLayout({**beat_layout(width).members, "wrong": 1})


class CheckedBeats(wiring.Component):
    """The beats of packets, a cycle later, and whether each is ``wrong``: not its fields, extended
    to the link's ``width``.

    Beats are always taken, and given in the next cycle; nothing is said of those that come after
    the last of a packet's ``beats`` and before TLAST.
    """

    def __init__(self, width: int, beats: Sequence[Beat]) -> None:
        self._beats = beats
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(width), always_ready=True)),
                "o": Out(stream.Signature(checked_layout(width), always_ready=True)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        i, o, shapes = self.i, self.o, [beat.shape for beat in self._beats]
        count = Signal(range(len(shapes)))
        fits = []
        for shape in dict.fromkeys(shapes):
            # a register, since a selection by the count would stand before the next decision
            here = Signal(
                init=shape == shapes[0], name=f"is_{'i' if shape.signed else 'u'}{shape.width}"
            )
            behind = Array(own == shape for own in [*shapes[1:], shapes[0]])
            with m.If(i.valid):
                m.d.sync += here.eq(Mux(i.p.last, shape == shapes[0], behind[count]))
            fits.append(here & _fits(i.p.data, shape))
        with m.If(i.valid):
            m.d.sync += count.eq(Mux(i.p.last | (count == len(shapes) - 1), 0, count + 1))
        m.d.sync += [
            o.valid.eq(i.valid),
            o.p.data.eq(i.p.data),
            o.p.last.eq(i.p.last),
            o.p.wrong.eq(~Cat(fits).any()),
        ]
        return m


def _fits(beat: Value, shape: Shape) -> Value:
    """Whether a beat is a word of a shape, extended to the link's width."""
    above = beat[shape.width - shape.signed :]
    return ~above.any() | (shape.signed & above.all())
