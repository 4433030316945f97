"""Selection by an index as a tree of two-way multiplexers."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Mux, Value


def select(values: Sequence[Value], index: Value) -> Value:
    """``values[index]``; any of them if there is none.

    A tree takes about a LUT for each bit of each value. `amaranth.hdl.Array` becomes a comparison
    of the index with each position first, which takes twice that.
    """
    for bit in index:
        pairs = zip(values[::2], values[1::2], strict=False)
        odd = values[len(values) & ~1 :]
        values = [*(Mux(bit, above, below) for below, above in pairs), *odd]
    return values[0]
