"""Integer algorithms in NumPy: what each of their steps does to numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .algorithm import Algorithm, Do, Step, Variable


def _wrapped(x: Any, to: Variable) -> Any:
    """The last bits of ``x``, as many as ``to`` has."""
    mask = (1 << to.width) - 1
    if not to.signed:
        return x & mask
    half = 1 << (to.width - 1)
    return ((x + half) & mask) - half


def _bits(step: Step, x: Any) -> Any:
    (source,), (to,) = step.args, step.results
    x = x >> step.value
    # All bits of a word of its kind need no wrapping; but int64 takes the first of 64 for a sign.
    fits = source.signed == to.signed and source.width - step.value <= to.width
    fits &= source.width < 64
    return x if fits else _wrapped(x, to)


def _join(step: Step, low: Any, high: Any) -> Any:
    (behind, _), (to,) = step.args, step.results
    low = low & ((1 << behind.width) - 1) if behind.signed else low
    joined = (high << behind.width) + low
    return joined if to.signed == step.args[1].signed else _wrapped(joined, to)


def _negate(step: Step, x: Any, minus: Any) -> Any:
    return _wrapped(np.where(minus, -x, x), step.results[0])


def _saturate(step: Step, x: Any) -> Any:
    return np.minimum(x, (1 << (step.results[0].width - 1)) - 1)


def _lookup(step: Step, row: Any) -> tuple[Any, ...]:
    assert step.table is not None
    return tuple(step.table[row, k] for k in range(len(step.results)))


def _normalise(step: Step, word: Any) -> tuple[Any, ...]:
    (operand,), window = step.args, step.results[0].width
    x = (word & ((1 << (operand.width - 1)) - 1)) << (window - operand.width + 1)
    places = np.zeros_like(x)
    for j in reversed(range(step.value)):
        empty = x >> (window - (1 << j)) == 0
        x = np.where(empty, x << (1 << j), x)
        places = places + (empty.astype(np.int64) << j)
    return x, places, np.asarray(word < 0).astype(np.int64)


NUMPY: dict[Do, Callable[..., Any]] = {
    Do.CONST: lambda step: step.value,
    Do.BITS: _bits,
    Do.JOIN: _join,
    Do.CENTRE: lambda step, x: x - (1 << (step.args[0].width - 1)),
    Do.LEFT: lambda step, x: x << step.value,
    Do.RIGHT: lambda step, x: x >> step.value,
    Do.ADD: lambda step, a, b: a + b,
    Do.SUB: lambda step, a, b: a - b,
    Do.MUL: lambda step, a, b: a * b,
    Do.TIMES: lambda step, x: x * step.value,
    Do.NOT: lambda step, x: 1 - x,
    Do.OR: lambda step, a, b: a | b,
    Do.XOR: lambda step, a, b: a ^ b,
    Do.SELECT: lambda step, bit, one, zero: np.where(bit, one, zero),
    Do.NEGATE: _negate,
    Do.SATURATE: _saturate,
    Do.LOOKUP: _lookup,
    Do.NORMALISE: _normalise,
    Do.SHIFT: lambda step, x, places: x >> places,
    Do.STAGE: lambda step, *values: values,
    Do.MEET: lambda step, *values: values,
}


def execute(
    algorithm: Algorithm,
    watch: Callable[[Variable, Any], None] | None = None,
    /,
    **inputs: Any,
) -> dict[str, Any]:
    """Outputs for inputs, each (N,) of int64 or a Python integer. ``watch`` sees every result."""
    values: dict[Variable, Any] = {x: inputs[name] for name, x in algorithm.inputs.items()}
    for step, dropped in zip(algorithm.steps, algorithm.dropped, strict=True):
        found = NUMPY[step.do](step, *(values[x] for x in step.args))
        results = found if isinstance(found, tuple) else (found,)
        for x, value in zip(step.results, results, strict=True):
            values[x] = value
            if watch is not None:
                watch(x, value)
        for x in dropped:
            del values[x]
    return {name: values[x] for name, x in algorithm.outputs.items()}
