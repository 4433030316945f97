"""Integers in NumPy: the specification of what every operation and every step computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .algorithm import Algorithm, Variable
from .integers import Spec, WithUnits, computed

if TYPE_CHECKING:
    from .node import Node


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
