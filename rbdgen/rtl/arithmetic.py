"""The sums of ``rbdgen.graph.fixed`` as single carry chains; and delays.

Selection by an index as a tree of two-way multiplexers.

The phase that a folded datapath is in, as one-hot bits with few loads each.

Small counters and comparisons as LUTs: a carry chain for four bits is slower and larger.

Rows of products as carry chains of the cells of an ECP5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from amaranth.hdl import Cat, Const, Instance, Module, Mux, Signal, Value, signed

from ..graph.fixed import Format
from ..graph.node import Op
from ..schedule.difference_constraints import LOADS

K = TypeVar("K")
T = TypeVar("T", bound=Value)
# Tells rbdgen.tools to leave registers that are equal to others: those of a channel shall lie
# beside it, not feed every channel of a region.
NOT_SHARED = {"rbdgen_not_shared": 1}
COPIES = 24  # registers that follow one relay, at most
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


ZERO, ONE = Const(0, 1), Const(1, 1)
Half = tuple[int, tuple[Value, Value, Value, Value]]  # INIT and the inputs A, B, C, D


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


class Phases:
    """Counts 0 to ``interval`` - 1, over and over, from 0 in the first cycle after reset.

    What users get are copies, registers behind relays, which are registers that follow one ring of
    master bits: no net has many ends, however large the datapath is.
    """

    def __init__(self, m: Module, interval: int) -> None:
        self.m, self.interval = m, interval
        self._ring = Signal(interval, init=1, name="phases", attrs=NOT_SHARED)
        m.d.sync += self._ring.eq(self._ring.rotate_left(1))
        self._relays: Copies[int, Signal] = {}  # by the phase in which they are set
        self._copies: Copies[int, Signal] = {}
        self.made = 0

    def copy(self, phases: Iterable[int]) -> Signal:
        """A register of the caller's own: set in these phases."""
        among = {p % self.interval for p in phases}
        before = Cat(self._relay((p - 1) % self.interval) for p in sorted(among))
        return self._register(f"phase_copy_{self.made}", 0 in among, before.any())

    def _relay(self, phase: int) -> Signal:
        """A register set in ``phase``, for one more copy."""
        before = self._ring[(phase - 1) % self.interval]

        def relay() -> Signal:
            return self._register(f"phase_relay_{self.made}", phase == 0, before)

        return copy_for(self._relays, phase, 1, COPIES, relay)

    def _register(self, name: str, init: bool, value: Value) -> Signal:
        self.made += 1
        register = Signal(init=int(init), name=name, attrs=NOT_SHARED)
        self.m.d.sync += register.eq(value)
        return register

    def bit(self, phase: int, loads: int) -> Signal:
        """A register set in ``phase``, shared by users with so many loads each."""
        phase %= self.interval
        return copy_for(self._copies, phase, loads, LOADS, lambda: self.copy([phase]))

    def enable(self, m: Module, phase: int, register: Signal, value: Value) -> None:
        """``register`` takes ``value`` at the end of every cycle of ``phase``."""
        self.load(m, self.loading(phase, len(register)), register, value)

    def loading(self, phase: int, loads: int) -> Signal | None:
        """The enable of a register of so many bits that takes a value in ``phase``; None: none."""
        return self.bit(phase, loads) if self.interval > 1 else None

    @staticmethod
    def load(m: Module, enable: Signal | None, register: Signal, value: Value) -> None:
        """``register`` takes ``value`` at the end of every cycle in which ``enable`` is set."""
        if enable is None:
            m.d.sync += register.eq(value)
            return
        with m.If(enable):
            m.d.sync += register.eq(value)

    def select(self, choices: Mapping[int, tuple[Any, Value]], width: int) -> Value:
        """(``width``,) the value of the phase that it is; ``choices``: phase → its name, itself.

        AND-OR of one-hot bits: two values fill a LUT, with no decoding between. In phases without
        a choice it is any.
        """
        values: dict[Any, tuple[Value, list[int]]] = {}
        for phase, (name, value) in choices.items():
            values.setdefault(name, (value, []))[1].append(phase)
        wide = [Cat(v, v[-1].replicate(width - len(v))) for v, _ in values.values()]
        if len(values) == 1:
            return wide[0].as_signed()
        total: Value | None = None
        for bits, (_, phases) in zip(wide, values.values(), strict=True):
            term = bits & self.copy(phases).replicate(width)
            total = term if total is None else total | term
        assert total is not None
        return total.as_signed()
