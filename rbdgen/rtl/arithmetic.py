"""Logic of datapaths: sums as single carry chains, delays, selection, phases, small counters.

Sums are those of ``rbdgen.graph.fixed``. Selection by an index is a tree of two-way multiplexers.
The phase of a folded datapath is one-hot, each bit with few loads. Small counters and comparisons
are LUTs: a carry chain for four bits is slower and larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

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


class Phases:
    """Counts 0 to ``interval`` - 1, over and over, from 0 in the first cycle after reset.

    What users get are copies, registers behind relays, which are registers that follow one ring of
    master bits: no net has many ends, however large the datapath is. Those that can rest (`rest`)
    stand still then: no copy is set, and the phases go on later as if no time had passed.
    """

    def __init__(self, m: Module, interval: int, rests: bool = False) -> None:
        self.m, self.interval = m, interval
        self._awake = Signal(init=1, name="awake") if rests else None
        self._ring = Signal(interval, init=1, name="phases", attrs=NOT_SHARED)
        with m.If(Const(1) if self._awake is None else self._awake):
            m.d.sync += self._ring.eq(self._ring.rotate_left(1))
        self._relays: Copies[int, Signal] = {}  # by the phase in which they are set
        self._copies: Copies[int, Value] = {}
        self.made = 0

    def copy(self, phases: Iterable[int]) -> Value:
        """A register of the caller's own, set in these phases; 1 where each cycle is one of them,
        and there is no rest."""
        if self.interval == 1 and self._awake is None:
            return Const(1)
        among = {p % self.interval for p in phases}
        before = Cat(self._relay((p - 1) % self.interval) for p in sorted(among))
        return self._register(f"phase_copy_{self.made}", 0 in among, before.any())

    def _relay(self, phase: int) -> Signal:
        """A register set in ``phase``, for one more copy."""
        before: Value = self._ring[(phase - 1) % self.interval]
        if self._awake is not None:
            before = before & self._awake

        def relay() -> Signal:
            return self._register(f"phase_relay_{self.made}", phase == 0, before)

        return copy_for(self._relays, phase, 1, COPIES, relay)

    def _register(self, name: str, init: bool, value: Value) -> Signal:
        self.made += 1
        register = Signal(init=int(init), name=name, attrs=NOT_SHARED)
        self.m.d.sync += register.eq(value)
        return register

    def rest(
        self, last: Value, pause: Value, fire: Value, wanted: Value, rounds: int, settling: int = 1
    ) -> Value:
        """Rest when no task was taken (``fire``) so many times, ``rounds``, that one could have
        been, until one is ``wanted``.

        ``last``: set in the cycle before each in which a task can be taken. Returns the same, but
        not where the phases stood still in one of ``settling`` + 1 cycles before, or will in the
        next. ``pause``: a copy set `schedule.fold.WAKING` cycles before phase 0, or earlier. When
        it is set they may stop, and two cycles later no copy is set; those that stopped go on
        three cycles after a task is wanted, with the third phase behind that of ``pause``.
        """
        m, awake = self.m, self._awake
        assert awake is not None
        since = Signal(range(rounds + 1), name="rounds_without_task")
        was_awake = Signal(settling, name="was_awake", init=-1)
        idle, stays = Signal(name="idle"), Signal()
        with m.If(fire):
            m.d.sync += [since.eq(0), idle.eq(0)]
        with m.Elif(last & ~idle):
            m.d.sync += [since.eq(since + 1), idle.eq(since == rounds)]
        m.d.comb += stays.eq(~idle | wanted)
        m.d.sync += [
            awake.eq(Mux(awake, ~pause | stays, wanted)),
            was_awake.eq(Cat(awake, was_awake[:-1])),
        ]
        return last & stays & awake & was_awake.all()

    def bit(self, phase: int, loads: int) -> Value:
        """A register set in ``phase``, shared by users with so many loads each."""
        phase %= self.interval
        return copy_for(self._copies, phase, loads, LOADS, lambda: self.copy([phase]))

    def enable(self, m: Module, phase: int, register: Signal, value: Value) -> None:
        """``register`` takes ``value`` at the end of every cycle of ``phase``."""
        self.load(m, self.loading(phase, len(register)), register, value)

    def loading(self, phase: int, loads: int) -> Value | None:
        """The enable of a register of so many bits that takes a value in ``phase``; None: none."""
        return self.bit(phase, loads) if self.interval > 1 else None

    @staticmethod
    def load(m: Module, enable: Value | None, register: Signal, value: Value) -> None:
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
