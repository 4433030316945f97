"""All fields of a structure at once."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Cat, Const, Module, Value
from amaranth.lib import data


def fill(
    m: Module, structure: data.View[data.StructLayout], values: Mapping[str, Value | int]
) -> None:
    """``structure`` is these values, by the names of its fields; fields without one stay 0.

    Amaranth makes the same of an assignment for each field; but for each of those it looks at
    every bit of the whole, which takes minutes where fields are thousands.
    """
    whole, places = structure.as_value(), {name: structure.shape()[name] for name in values}
    fields = Cat(whole[at.offset : at.offset + at.width] for at in places.values())
    m.d.comb += fields.eq(Cat(fitted(values[name], at.width) for name, at in places.items()))


def fitted(value: Value | int, width: int) -> Value:
    """The lowest ``width`` bits, extended by the sign where there are fewer."""
    if isinstance(value, int):
        return Const(value, width)
    value = Value.cast(value)
    if len(value) >= width:
        return value[:width]
    above = value[-1] if value.shape().signed else Const(0)
    return Cat(value, above.replicate(width - len(value)))
