"""Rows of products as carry chains of an ECP5's cells, CCU2C."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from amaranth.hdl import Cat, Const, Instance, Module, Signal, Value, signed

ZERO, ONE = Const(0, 1), Const(1, 1)
Half = tuple[int, tuple[Value, Value, Value, Value]]  # INIT and the inputs A, B, C, D


def merge_ecp5(m: Module, low: Value, high: Value) -> Value:
    half = _half(lambda x, y, *_: x ^ y, lambda x, _: x)
    return _carry_chain(m, [(half, (_bit(low, n), high[n], ZERO, ONE)) for n in range(len(high))])


def first_rows_ecp5(m: Module, a: Value, b0: Value, b1: Value, subtract: bool) -> Value:
    """``a b0 ± 2 a b1``, two bits wider than ``a``: both rows are made inside the chain's LUTs.

    Bit 0 has nothing to add.
    """
    sign = int(subtract)
    half = _half(lambda y, b1, x, b0: x & b0 ^ y & b1 ^ sign, lambda y, b1: y & b1 ^ sign)
    bits = [(half, (_bit(a, n), b1, _bit(a, n + 1), b0)) for n in range(len(a) + 1)]
    return Cat(a[0] & b0, _carry_chain(m, bits, carry=subtract)).as_signed()


def add_row_ecp5(m: Module, total: Value, a: Value, b: Value, subtract: bool) -> Value:
    """``total ± a b`` for ``total`` no wider than ``a``, one bit wider than ``a``."""
    sign = int(subtract)
    half = _half(lambda t, x, b, _: t ^ x & b ^ sign, lambda t, _: t)
    bits = [(half, (_bit(total, n), _bit(a, n), b, ONE)) for n in range(len(a) + 1)]
    return _carry_chain(m, bits, carry=subtract)


def _bit(value: Value, n: int) -> Value:
    """Bit ``n`` of a signed value, its sign beyond the end."""
    return value[min(n, len(value) - 1)]


def _half(propagate: Callable[..., int], generate: Callable[[int, int], int]) -> int:
    """INIT of half a CCU2C: with P = propagate(A, B, C, D), its sum is P ^ carry and its carry out
    is P ? carry : generate(A, B).

    The cell reads ``generate`` from the entries for C = D = 0, so it must agree with ``propagate``
    there; or else D is tied to 1, and ``propagate`` counts for D = 1 alone.
    """
    table = [propagate(i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3) for i in range(16)]
    table[:4] = [generate(i & 1, i >> 1) for i in range(4)]
    return sum(bit << i for i, bit in enumerate(table))


def _carry_chain(m: Module, halves: Sequence[Half], carry: bool = False) -> Value:
    """The sum bits of a chain of CCU2C, signed, with the carry into bit 0 given.

    The chain starts with half a cell that makes this carry, with CIN left open and no COUT at the
    end: nextpnr spends a whole CCU2C on a constant CIN, and another on a COUT that nothing reads.
    """
    start: Half = (_half(lambda *_: 0, lambda *_: int(carry)), (ZERO, ZERO, ZERO, ONE))
    idle: Half = (0, (ZERO, ZERO, ZERO, ZERO))
    chain = [start, *halves] + [idle] * (1 - len(halves) % 2)
    total = Signal(signed(len(chain)))
    link = None
    for n in range(0, len(chain), 2):
        cell: dict[str, object] = {"p_INJECT1_0": "NO", "p_INJECT1_1": "NO"}
        for k, (init, inputs) in enumerate(chain[n : n + 2]):
            cell[f"p_INIT{k}"] = Const(init, 16)
            cell |= {f"i_{pin}{k}": value for pin, value in zip("ABCD", inputs, strict=True)}
            cell[f"o_S{k}"] = total[n + k]
        if link is not None:
            cell["i_CIN"] = link
        if n + 2 < len(chain):
            link = cell["o_COUT"] = Signal()
        m.submodules += Instance("CCU2C", **cell)
    return total[1 : 1 + len(halves)].as_signed()
