"""Integer algorithms as data: straight-line steps on words of known length.

Sine and cosine, reciprocal and scaling are written in these steps, once. ``graph.execute`` does
them in NumPy, which is the specification; ``rtl.pipeline`` makes hardware of the same steps.
Where hardware may keep results in registers is said by STAGE and MEET, which change no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


class Do(Enum):
    """The closed set of steps; every reader is one table keyed by it."""

    CONST = "const"  # the number `value`
    BITS = "bits"  # the result's bits, from bit `value` of args[0] up; a signed one goes on above
    JOIN = "join"  # args: low, high; the bits of both, low's behind
    CENTRE = "centre"  # unsigned x; x less half of what its bits can count
    LEFT = "left"  # x · 2^value
    RIGHT = "right"  # x · 2^-value, rounded down
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    TIMES = "times"  # x · value
    NOT = "not"  # of one bit, as the next two
    OR = "or"
    XOR = "xor"
    SELECT = "select"  # args: one bit, if it is 1, if it is 0
    NEGATE = "negate"  # args: x, one bit; -x where it is 1, in the same bits
    # x of n bits and a sign, if it has one, and at least `value`; what takes more than n - 1 bits
    # becomes the largest number that does not
    SATURATE = "saturate"
    LOOKUP = "lookup"  # the columns of the table's row args[0]
    # word; its bits below the sign, put first and shifted left until the first is 1, but
    # 2^value - 1 places at most; those places; the sign
    NORMALISE = "normalise"
    SHIFT = "shift"  # args: x, places; x · 2^-places, rounded down
    STAGE = "stage"  # a register for each
    MEET = "meet"  # each as late as the latest of them


@dataclass(frozen=True, eq=False, slots=True)
class Variable:
    """An integer of ``width`` bits, two's complement if it is ``signed``."""

    width: int
    signed: bool


@dataclass(frozen=True, eq=False, slots=True)
class UnitStep:
    """One step: ``results`` from ``args``. What ``value`` is, ``Do`` says."""

    do: Do
    args: tuple[Variable, ...]
    results: tuple[Variable, ...]
    value: int = 0
    table: NDArray[np.int64] | None = None  # of LOOKUP: (rows, results)


@dataclass(frozen=True, eq=False)
class Algorithm:
    """Steps in an order in which what they read is there; inputs and outputs by name."""

    inputs: dict[str, Variable]
    steps: tuple[UnitStep, ...]
    outputs: dict[str, Variable]

    @property
    def live(self) -> Algorithm:
        """The algorithm without the steps of which nothing is read."""
        needed, steps = set(self.outputs.values()), []
        for step in reversed(self.steps):
            if needed.intersection(step.results):
                steps.append(step)
                needed.update(step.args)
        return replace(self, steps=tuple(reversed(steps)))

    @cached_property
    def dropped(self) -> tuple[tuple[Variable, ...], ...]:
        """The variables that nothing reads after each step."""
        needed = set(self.outputs.values())
        found = []
        for step in reversed(self.steps):
            own = dict.fromkeys((*step.args, *step.results))
            found.append(tuple(x for x in own if x not in needed))
            needed.update(step.args)
        return tuple(reversed(found))


class Draft:
    """Makes the steps of an algorithm, each by the method of its name."""

    def __init__(self) -> None:
        self._inputs: dict[str, Variable] = {}
        self._steps: list[UnitStep] = []

    def finish(self, **outputs: Variable) -> Algorithm:
        """The algorithm of all steps so far."""
        return Algorithm(self._inputs, tuple(self._steps), outputs)

    def input(self, name: str, width: int) -> Variable:
        """A signed word, of which no more than ``width`` bits are read."""
        self._inputs[name] = Variable(width, True)
        return self._inputs[name]

    def const(self, value: int, width: int | None = None) -> Variable:
        """``width``: that of its bits where they are joined to others."""
        least = (max(value, ~value)).bit_length() + (value < 0)
        return self._add(Do.CONST, (), least if width is None else width, value < 0, value)

    def bits(self, x: Variable, low: int, width: int, signed: bool = False) -> Variable:
        """Bits ``low`` to ``low + width - 1``."""
        return self._add(Do.BITS, (x,), width, signed, low)

    def word(self, x: Variable, width: int) -> Variable:
        """The last ``width`` bits as a signed word."""
        return self.bits(x, 0, width, signed=True)

    def join(self, low: Variable, high: Variable, signed: bool | None = None) -> Variable:
        """Signed as ``high`` is, unless said."""
        signed = high.signed if signed is None else signed
        return self._add(Do.JOIN, (low, high), low.width + high.width, signed)

    def centre(self, x: Variable) -> Variable:
        return self._add(Do.CENTRE, (x,), x.width, True)

    def left(self, x: Variable, places: int) -> Variable:
        return self._add(Do.LEFT, (x,), x.width + places, x.signed, places)

    def right(self, x: Variable, places: int) -> Variable:
        return self._add(Do.RIGHT, (x,), max(x.width - places, 1), x.signed, places)

    def add(self, a: Variable, b: Variable) -> Variable:
        signed = a.signed or b.signed
        return self._add(Do.ADD, (a, b), 1 + max(_as(signed, a), _as(signed, b)), signed)

    def sub(self, a: Variable, b: Variable) -> Variable:
        signed = a.signed or b.signed
        return self._add(Do.SUB, (a, b), 1 + max(_as(signed, a), _as(signed, b)), True)

    def mul(self, a: Variable, b: Variable) -> Variable:
        """The product of two words, each taken as signed."""
        return self._add(Do.MUL, (a, b), _as(True, a) + _as(True, b), True)

    def times(self, x: Variable, value: int) -> Variable:
        return self._add(Do.TIMES, (x,), x.width + value.bit_length(), x.signed, value)

    def invert(self, x: Variable) -> Variable:
        return self._add(Do.NOT, (x,), 1, False)

    def either(self, a: Variable, b: Variable) -> Variable:
        return self._add(Do.OR, (a, b), 1, False)

    def differ(self, a: Variable, b: Variable) -> Variable:
        return self._add(Do.XOR, (a, b), 1, False)

    def select(self, bit: Variable, one: Variable, zero: Variable) -> Variable:
        return self._add(Do.SELECT, (bit, one, zero), one.width, one.signed)

    def negate(self, x: Variable, minus: Variable) -> Variable:
        return self._add(Do.NEGATE, (x, minus), x.width, x.signed)

    def saturate(self, x: Variable, least: int) -> Variable:
        """``x`` is known not to be less than ``least``, 0 or -1."""
        return self._add(Do.SATURATE, (x,), x.width - x.signed, True, least)

    def lookup(
        self, row: Variable, table: NDArray[np.int64], widths: Sequence[int]
    ) -> tuple[Variable, ...]:
        columns = tuple(Variable(width, False) for width in widths)
        return self._append(UnitStep(Do.LOOKUP, (row,), columns, table=table))

    def normalise(self, word: Variable, window: int, steps: int) -> tuple[Variable, ...]:
        """(The word's bits in ``window`` bits, places, sign)."""
        results = Variable(window, False), Variable(steps, False), Variable(1, False)
        return self._append(UnitStep(Do.NORMALISE, (word,), results, steps))

    def shift(self, x: Variable, places: Variable) -> Variable:
        return self._add(Do.SHIFT, (x, places), x.width, x.signed)

    def stage(self, *values: Variable) -> tuple[Variable, ...]:
        return self._append(UnitStep(Do.STAGE, values, _copies(values)))

    def meet(self, *values: Variable) -> tuple[Variable, ...]:
        return self._append(UnitStep(Do.MEET, values, _copies(values)))

    def _add(
        self, do: Do, args: tuple[Variable, ...], width: int, signed: bool, value: int = 0
    ) -> Variable:
        return self._append(UnitStep(do, args, (Variable(width, signed),), value))[0]

    def _append(self, step: UnitStep) -> tuple[Variable, ...]:
        self._steps.append(step)
        return step.results


def _as(signed: bool, x: Variable) -> int:
    """The bits of ``x`` in a sum that is signed."""
    return x.width + (signed and not x.signed)


def _copies(values: Sequence[Variable]) -> tuple[Variable, ...]:
    return tuple(Variable(x.width, x.signed) for x in values)
