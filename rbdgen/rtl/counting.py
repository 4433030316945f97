"""Small counters and comparisons as LUTs: a carry chain for four bits is slower and larger."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Mux, Signal, Value


def next_count(count: Signal, size: int) -> Value:
    """``count`` + 1, or 0 after ``size`` - 1."""
    toggled = Cat(bit ^ count[:k].all() for k, bit in enumerate(count))
    return toggled if size == 1 << len(count) else Mux(count == size - 1, 0, toggled)


def plus(count: Value, number: int) -> Value:
    """``count`` + ``number``, which may be negative, in as many bits as ``count`` has."""
    total: list[Value] = []
    carry: Value = Const(0, 1)
    for k, bit in enumerate(count):
        one = number >> k & 1
        total.append(bit ^ carry ^ one)
        carry = bit | carry if one else bit & carry
    return Cat(total)


def at_least(count: Signal, threshold: int) -> Value:
    """Whether ``count`` ≥ ``threshold``, for thresholds of 1 to 3."""
    if threshold == 1:
        return count.any()
    above = count[1:].any() if threshold == 2 else count[2:].any()
    return above if threshold == 2 else above | (count[:2] == Const(3, 2))
