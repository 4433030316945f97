"""The meaning of each step of an integer algorithm, over any algebra of integers.

The integers of an algebra are numbers, as NumPy's (`NumPyIntegers`, the specification), or
expressions of a language, as those of C and of C++ (``codegen``). ``STEPS`` here and ``INTEGER``
(``fixed``) are written once, in the methods of ``Algebra``, and mean the same in each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .algorithm import Algorithm, Do, UnitStep, Variable

if TYPE_CHECKING:
    from .node import Node


T = TypeVar("T")


class Spec(Protocol):
    """A unit that is described by an algorithm; equal ones are one."""

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm that it computes."""


class Algebra(ABC, Generic[T]):
    """Integers ``T`` without overflow, and the operations on them. A bit is 0 or 1."""

    @abstractmethod
    def constant(self, value: int) -> T:
        """A number."""

    @abstractmethod
    def plus(self, a: T, b: T) -> T:
        """a + b"""

    @abstractmethod
    def minus(self, a: T, b: T) -> T:
        """a - b"""

    @abstractmethod
    def negative(self, a: T) -> T:
        """-a"""

    @abstractmethod
    def times(self, a: T, b: T) -> T:
        """a · b"""

    @abstractmethod
    def multiple(self, a: T, by: int) -> T:
        """a · by, of a positive number: no multiplier is spent on it."""

    @abstractmethod
    def left(self, a: T, places: int) -> T:
        """a · 2^places"""

    @abstractmethod
    def right(self, a: T, places: int) -> T:
        """a · 2^-places, rounded down."""

    @abstractmethod
    def shifted(self, a: T, places: T) -> T:
        """The same by places that vary."""

    @abstractmethod
    def wrapped(self, a: T, width: int, signed: bool = True) -> T:
        """The last ``width`` bits, in two's complement or as they are."""

    @abstractmethod
    def least(self, a: T, most: int) -> T:
        """The smaller of a and a number."""

    @abstractmethod
    def is_negative(self, a: T) -> T:
        """The bit that says a < 0."""

    @abstractmethod
    def is_zero(self, a: T) -> T:
        """The bit that says a = 0."""

    @abstractmethod
    def either(self, a: T, b: T) -> T:
        """Whether one of two bits is 1, or both."""

    @abstractmethod
    def differ(self, a: T, b: T) -> T:
        """Whether one of two bits is 1 alone."""

    @abstractmethod
    def chosen(self, bit: T, one: T, zero: T) -> T:
        """``one`` where the bit is 1, else ``zero``."""

    @abstractmethod
    def lookup(self, table: NDArray[np.int64], row: T) -> tuple[T, ...]:
        """The columns of a row of a table (rows, columns)."""

    def named(self, a: T) -> T:
        """The same, as something that may be read more than once."""
        return a

    def normalised(self, word: T, width: int, window: int, steps: int) -> tuple[T, T, T]:
        """NORMALISE of a word of ``width`` bits: its window, places and sign."""
        below = self.wrapped(word, width - 1, False)
        x, places = self.named(self.left(below, window - width + 1)), self.constant(0)
        for j in reversed(range(steps)):
            empty = self.named(self.is_zero(self.right(x, window - (1 << j))))
            moved = self.wrapped(self.left(x, 1 << j), window, False)
            x = self.named(self.chosen(empty, moved, x))
            places = self.plus(places, self.left(empty, j))
        return x, places, self.is_negative(word)


class WithUnits(Algebra[T]):
    """An algebra in which the operations of a graph are computed, some of them by units."""

    @abstractmethod
    def unit(self, kind: str, spec: Spec, node: Node, *args: T) -> dict[str, T]:
        """All outputs of a unit, for the operands of a node."""


def _bits(own: Algebra[T], step: UnitStep, x: T) -> T:
    (source,), (to,) = step.args, step.results
    kept = own.right(x, step.value)
    # All bits of a word of its kind need no wrapping; but int64 takes the first of 64 for a sign.
    fits = source.signed == to.signed and source.width - step.value <= to.width
    return kept if fits and source.width < 64 else own.wrapped(kept, to.width, to.signed)


def _join(own: Algebra[T], step: UnitStep, low: T, high: T) -> T:
    (behind, front), (to,) = step.args, step.results
    joined = own.plus(own.left(high, behind.width), own.wrapped(low, behind.width, False))
    return joined if to.signed == front.signed else own.wrapped(joined, to.width, to.signed)


def _negate(own: Algebra[T], step: UnitStep, x: T, minus: T) -> T:
    (to,) = step.results
    return own.wrapped(own.chosen(minus, own.negative(x), x), to.width, to.signed)


def _saturate(own: Algebra[T], step: UnitStep, x: T) -> T:
    return own.least(x, (1 << (step.results[0].width - 1)) - 1)


def _lookup(own: Algebra[T], step: UnitStep, row: T) -> tuple[T, ...]:
    assert step.table is not None
    return own.lookup(step.table, row)


def _normalise(own: Algebra[T], step: UnitStep, word: T) -> tuple[T, T, T]:
    return own.normalised(word, step.args[0].width, step.results[0].width, step.value)


# Step → what it makes of its operands, in an algebra.
STEPS: dict[Do, Callable[..., Any]] = {
    Do.CONST: lambda own, step: own.constant(step.value),
    Do.BITS: _bits,
    Do.JOIN: _join,
    Do.CENTRE: lambda own, step, x: own.minus(x, own.constant(1 << (step.args[0].width - 1))),
    Do.LEFT: lambda own, step, x: own.left(x, step.value),
    Do.RIGHT: lambda own, step, x: own.right(x, step.value),
    Do.ADD: lambda own, step, a, b: own.plus(a, b),
    Do.SUB: lambda own, step, a, b: own.minus(a, b),
    Do.MUL: lambda own, step, a, b: own.times(a, b),
    Do.TIMES: lambda own, step, x: own.multiple(x, step.value),
    Do.NOT: lambda own, step, x: own.is_zero(x),
    Do.OR: lambda own, step, a, b: own.either(a, b),
    Do.XOR: lambda own, step, a, b: own.differ(a, b),
    Do.SELECT: lambda own, step, bit, one, zero: own.chosen(bit, one, zero),
    Do.NEGATE: _negate,
    Do.SATURATE: _saturate,
    Do.LOOKUP: _lookup,
    Do.NORMALISE: _normalise,
    Do.SHIFT: lambda own, step, x, places: own.shifted(x, places),
    Do.STAGE: lambda own, step, *values: values,
    Do.MEET: lambda own, step, *values: values,
}


def computed(
    own: Algebra[T],
    algorithm: Algorithm,
    inputs: dict[str, T],
    watch: Callable[[Variable, T], None] | None = None,
) -> dict[str, T]:
    """The outputs of an algorithm in an algebra. ``watch`` sees every result."""
    values = {x: inputs[name] for name, x in algorithm.inputs.items()}
    for step, dropped in zip(algorithm.steps, algorithm.dropped, strict=True):
        found = STEPS[step.do](own, step, *(values[x] for x in step.args))
        results = found if isinstance(found, tuple) else (found,)
        for x, value in zip(step.results, results, strict=True):
            values[x] = own.named(value)
            if watch is not None:
                watch(x, values[x])
        for x in dropped:
            del values[x]
    return {name: values[x] for name, x in algorithm.outputs.items()}


class NumPyIntegers(WithUnits[Any]):
    """Arrays (N,) of int64, or Python integers."""

    def constant(self, value: int) -> Any:
        return value

    def plus(self, a: Any, b: Any) -> Any:
        return a + b

    def minus(self, a: Any, b: Any) -> Any:
        return a - b

    def negative(self, a: Any) -> Any:
        return -a

    def times(self, a: Any, b: Any) -> Any:
        return a * b

    def multiple(self, a: Any, by: int) -> Any:
        return a * by

    def left(self, a: Any, places: int) -> Any:
        return a << places if places else a

    def right(self, a: Any, places: int) -> Any:
        return a >> places if places else a

    def shifted(self, a: Any, places: Any) -> Any:
        return a >> places

    def wrapped(self, a: Any, width: int, signed: bool = True) -> Any:
        if width > 63 and not signed:
            return a  # all bits that int64 has, the first of which it takes for a sign
        mask = (1 << width) - 1
        if not signed:
            return a & mask
        half = 1 << (width - 1)
        return ((a + half) & mask) - half

    def least(self, a: Any, most: int) -> Any:
        return np.minimum(a, most)

    def is_negative(self, a: Any) -> Any:
        return np.asarray(a < 0).astype(np.int64)

    def is_zero(self, a: Any) -> Any:
        return np.asarray(a == 0).astype(np.int64)

    def either(self, a: Any, b: Any) -> Any:
        return a | b

    def differ(self, a: Any, b: Any) -> Any:
        return a ^ b

    def chosen(self, bit: Any, one: Any, zero: Any) -> Any:
        return np.where(bit, one, zero)

    def lookup(self, table: NDArray[np.int64], row: Any) -> tuple[Any, ...]:
        return tuple(table[row, k] for k in range(table.shape[1]))

    def unit(self, kind: str, spec: Spec, node: Node, *args: Any) -> dict[str, Any]:
        return computed(self, spec.algorithm, dict(zip(spec.algorithm.inputs, args, strict=True)))


NUMBERS = NumPyIntegers()


def execute(
    algorithm: Algorithm,
    watch: Callable[[Variable, Any], None] | None = None,
    /,
    **inputs: Any,
) -> dict[str, Any]:
    """Outputs for inputs, each (N,) of int64 or a Python integer. ``watch`` sees every result."""
    return computed(NUMBERS, algorithm, inputs, watch)
