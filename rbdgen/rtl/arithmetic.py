"""The sums of ``rbdgen.graph.fixed`` as single carry chains; and delays.

Selection by an index as a tree of two-way multiplexers.

Small counters and comparisons as LUTs: a carry chain for four bits is slower and larger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from ..graph.fixed import Format
from ..graph.node import Op

K = TypeVar("K")
T = TypeVar("T", bound=Value)
Copies = dict[K, tuple[T, int]]  # what it is a copy of → the latest one, and how many loads it has


def copy_for(copies: Copies[K, T], key: K, loads: int, most: float, make: Callable[[], T]) -> T:
    """The latest copy of ``key``, for so many loads more; a new one where that were over ``most``.

    No register has many ends then, however large the datapath is.
    """
    copy, used = copies.get(key, (None, 0))
    if copy is None or used + loads > most:
        copy, used = make(), 0
    copies[key] = copy, used + loads
    return copy


def truncated(value: Value, fraction: int, to: int) -> tuple[Value, int]:
    """``value`` with at most ``to`` fraction bits, the rest truncated; and how many it has."""
    if fraction <= to:
        return value, fraction
    # what has no bit left keeps its sign
    kept = value[min(fraction - to, len(value) - 1) :].as_signed()
    return kept, to


def aligned(value: Value, zeros: int) -> Value:
    """``value`` with so many zeros behind it."""
    return Cat(Const(0, zeros), value).as_signed() if zeros else value


def add_or_subtract(op: Op, a: Value, fa: int, b: Value, fb: int, out: Format) -> Value:
    """The sum or difference with ``out.fraction`` fraction bits, before it wraps to its width.

    A sum that keeps one bit below its last rounds it half up: (A + B + 1) >> 1. The one comes in
    as the carry out of a bit of its own below both operands, or, where only one operand has that
    bit, the bit itself is added twice. A difference needs the carry in for its own two's
    complement and is truncated: (A - B) >> 1.
    """
    f = out.fraction
    (a, fa), (b, fb) = truncated(a, fa, f + 1), truncated(b, fb, f + 1)
    guarded = [x == f + 1 for x in (fa, fb)]
    grid = max(fa, fb)
    if not any(guarded):
        a, b = aligned(a, grid - fa), aligned(b, grid - fb)
        total = a + b if op is Op.ADD else a - b
        return aligned(total, f - grid)
    if op is Op.SUB:
        if not guarded[1]:  # (A - 2b) >> 1 = (A >> 1) - b
            return truncated(a, fa, f)[0] - aligned(b, f - fb)
        return (aligned(a, grid - fa) - aligned(b, grid - fb))[1:].as_signed()
    if all(guarded):
        return (Cat(1, a).as_signed() + Cat(1, b).as_signed())[2:].as_signed()
    with_bit, other, fo = (a, b, fb) if guarded[0] else (b, a, fa)
    other = Cat(with_bit[0], aligned(other, f - fo)).as_signed()
    return (with_bit + other)[1:].as_signed()


def mirrored(word: Value, minus: Value) -> Value:
    """-``word`` where ``minus`` is 1; the most negative word becomes the most positive one."""
    lowest = word[-1] & ~word[:-1].any()
    # -x is ~x + 1
    return ((word ^ minus.replicate(len(word))) + (minus & ~lowest))[: len(word)].as_signed()


def later(
    m: Module, value: Value, cycles: int = 1, attrs: Mapping[str, int] | None = None
) -> Value:
    """``value`` after so many registers, with the same shape."""
    for _ in range(cycles):
        register = Signal(value.shape(), reset_less=True, attrs=dict(attrs or {}))
        m.d.sync += register.eq(value)
        value = register
    return value


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


def next_count(count: Signal, size: int) -> Value:
    """``count`` + 1, or 0 after ``size`` - 1."""
    toggled = Cat(bit ^ count[:k].all() for k, bit in enumerate(count))
    return toggled if size == 1 << len(count) else Mux(count == size - 1, 0, toggled)


def at_least(count: Signal, threshold: int) -> Value:
    """Whether ``count`` ≥ ``threshold``, for thresholds of 1 to 3."""
    if threshold == 1:
        return count.any()
    above = count[1:].any() if threshold == 2 else count[2:].any()
    return above if threshold == 2 else above | (count[:2] == Const(3, 2))
