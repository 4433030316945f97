"""Small counters and comparisons as LUTs: a carry chain for four bits is slower and larger."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Mux, Signal, Value


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
