"""Scaling by a power of two that varies: ``rbdgen.graph.reciprocal.Scale`` as a pipeline."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from ..graph.reciprocal import Scale
from ..schedule.binding import shifting


def shifted(m: Module, spec: Scale, x: Value, k: Value, name: str) -> Value:
    """``x`` · 2^-``k`` before it is wrapped to its width: a sum, for the caller to register.

    ``x``: signed, ``spec.operand`` bits. ``k``: a signed exponent. A register stands behind each
    cycle of ``shifting(spec)``; what comes out is the rounding adder behind the last one.
    """
    # one bit below the result's last is kept at the smallest exponent
    bits = [*Const(0, spec.zeros), *x]
    bits = bits[min(spec.cut, len(bits) - 1) :]
    value: Value = Cat(*bits, *bits[-1:] * (2 - len(bits))).as_signed()
    places: Value = (k - spec.lowest)[: spec.steps]
    for cycle, steps in enumerate(shifting(spec), 1):
        for step, place in zip(steps, places, strict=False):
            value = Mux(place, value >> (1 << step), value)
        places = places[len(steps) :]
        value = _register(m, value, f"{name}_{cycle}")
        places = _register(m, places, f"{name}_places_{cycle}")
    return value[1:].as_signed() + value[0]


def _register(m: Module, value: Value, name: str) -> Value:
    if not len(value):
        return value
    register = Signal(value.shape(), name=name, reset_less=True)
    m.d.sync += register.eq(value)
    return register
