"""A graph over real numbers: its values over a batch in float64, and over intervals.

`FLOAT` is the reference meaning of every operation. Some nodes may be in double and the others in
float. A node in float reads its operands rounded to float, and rounds. What is computed in double
from floats and rounded once is what float gives, for sums, products and quotients (Figueroa 1995).
`INTERVAL` is the values that an operation can have, from those of its operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .graph import Graph
from .node import Node, Op

Interval = tuple[float, float]


def product(a: Interval, b: Interval) -> Interval:
    """Products of a number of each."""
    corners = [x * y if x and y else 0.0 for x in a for y in b]  # 0 · ∞ is 0
    return min(corners), max(corners)


def _reciprocal(node: Node, a: Interval) -> Interval:
    if a[0] <= 0 <= a[1]:
        return -np.inf, np.inf
    return 1 / a[1], 1 / a[0]


def _exponent(node: Node, a: Interval) -> Interval:
    largest = max(abs(x) for x in a)
    highest = float(math.frexp(largest)[1]) if largest < np.inf else np.inf
    return float(math.frexp(a[0])[1]) if a[0] > 0 else -np.inf, highest


INTERVAL: dict[Op, Callable[..., Interval]] = {
    Op.INPUT: lambda node: (0.0, 0.0),  # taken from the limits
    Op.CONST: lambda node: (node.value, node.value),
    Op.PARAMETER: lambda node: (node.value, node.value),  # or taken from the limits
    Op.ADD: lambda node, a, b: (a[0] + b[0], a[1] + b[1]),
    Op.SUB: lambda node, a, b: (a[0] - b[1], a[1] - b[0]),
    Op.NEG: lambda node, a: (-a[1], -a[0]),
    Op.MUL: lambda node, a, b: square(a) if node.args[0] is node.args[1] else product(a, b),
    Op.MULC: lambda node, a: (node.value * a[0], node.value * a[1]),
    Op.SIN: lambda node, a: (-1.0, 1.0),
    Op.COS: lambda node, a: (-1.0, 1.0),
    Op.RECIP: _reciprocal,
    Op.MANTISSA: lambda node, a: (1.0, 2.0) if a[0] > 0 else (-2.0, 2.0),
    Op.EXPONENT: _exponent,
    Op.SCALE: lambda node, x, k: product(x, (float(np.exp2(-k[1])), float(np.exp2(-k[0])))),
    Op.SELECT: lambda node, c, a, b: _selected(node, a, b),
    Op.SATURATE: lambda node, a: (_within(a[0], node.value), _within(a[1], node.value)),
}


def _within(x: float, limit: float) -> float:
    return min(max(x, -limit), limit)


def square(a: Interval) -> Interval:
    """Squares of its numbers."""
    ends = a[0] ** 2, a[1] ** 2
    return (0.0 if a[0] <= 0 <= a[1] else min(ends)), max(ends)


def _selected(node: Node, a: Interval, b: Interval) -> Interval:
    """Either value; one that is compared with a constant itself, only on its side of it."""
    condition, *values = node.args
    x, k = _compared(condition)
    if x is values[0]:  # chosen below k
        a = b if a[0] >= k else (a[0], min(a[1], k))
    if x is values[1]:  # chosen from k on
        b = a if b[1] < k else (max(b[0], k), b[1])
    return min(a[0], b[0]), max(a[1], b[1])


def _compared(condition: Node) -> tuple[Node | None, float]:
    """(x, k) where the condition, that it is negative, says x < k; None of others."""
    if condition.op is Op.SUB and condition.args[1].op is Op.CONST:
        return condition.args[0], condition.args[1].value
    if condition.op is Op.ADD and any(a.op is Op.CONST for a in condition.args):
        x, k = sorted(condition.args, key=lambda a: a.op is Op.CONST)
        return x, -k.value
    return None, 0.0


def intervals_of(graph: Graph, limits: Mapping[str, Interval]) -> dict[Node, Interval]:
    """The interval of every node by interval arithmetic, from ``limits`` of the inputs."""
    found: dict[Node, Interval] = {}
    for node in graph.nodes:
        if node.op is Op.INPUT or (node.op is Op.PARAMETER and node.name in limits):
            found[node] = limits[node.name]
        else:
            found[node] = INTERVAL[node.op](node, *(found[a] for a in node.args))
    return found


Array = NDArray[np.float64]

FLOAT: dict[Op, Callable[..., Any]] = {
    Op.INPUT: lambda node: None,  # taken from the batch
    Op.CONST: lambda node: np.float64(node.value),
    Op.PARAMETER: lambda node: np.float64(node.value),  # or taken from the batch
    Op.ADD: lambda node, a, b: a + b,
    Op.SUB: lambda node, a, b: a - b,
    Op.NEG: lambda node, a: -a,
    Op.MUL: lambda node, a, b: a * b,
    Op.MULC: lambda node, a: node.value * a,
    Op.SIN: lambda node, a: np.sin(a * (math.tau / node.value)),
    Op.COS: lambda node, a: np.cos(a * (math.tau / node.value)),
    Op.RECIP: lambda node, a: 1.0 / a,
    Op.MANTISSA: lambda node, a: 1.0 / np.frexp(a)[0],
    Op.EXPONENT: lambda node, a: np.frexp(a)[1] * 1.0,
    Op.SCALE: lambda node, x, k: x * np.exp2(-k),  # exact where k is whole
    Op.SELECT: lambda node, c, a, b: np.where(c < 0, a, b),
    Op.SATURATE: lambda node, a: np.clip(a, -node.value, node.value),
}


T = TypeVar("T")


def in_order(graph: Graph, compute: Callable[..., T]) -> dict[str, T]:
    """The outputs of a graph each node of which is ``compute(node, *values of its operands)``.

    A value is dropped after its last use, so memory stays near the graph's width.
    """
    left = {node: len(users) for node, users in graph.users.items()}
    for node in graph.outputs.values():
        left[node] += 1
    values: dict[Node, T] = {}
    for node in graph.nodes:
        values[node] = compute(node, *[values[a] for a in node.args])
        for arg in node.args:
            left[arg] -= 1
            if not left[arg]:
                del values[arg]
    return {name: values[node] for name, node in graph.outputs.items()}


def evaluate(
    graph: Graph,
    inputs: Mapping[str, Array],
    watch: Callable[[Node, Array], None] | None = None,
    dtype: Any = np.float64,
) -> dict[str, Array]:
    """Outputs, each (N,), for inputs, each (N,). ``watch`` sees every node's values.

    ``dtype``: of all values in between, float64 or longer.
    """

    def compute(node: Node, *args: Any) -> Any:
        if node.op is Op.INPUT or (node.op is Op.PARAMETER and node.name in inputs):
            value = np.asarray(inputs[node.name], dtype)
            if node.op is Op.INPUT and node.value:
                value = value - node.value * np.rint(value / node.value)
        else:
            value = FLOAT[node.op](node, *args)
        if watch is not None:
            watch(node, value)
        return value

    size = np.broadcast_shapes(*(np.shape(v) for v in inputs.values())) if inputs else ()
    return {
        name: np.broadcast_to(value, size).astype(np.float64)
        for name, value in in_order(graph, compute).items()
    }


def to_float(values: Any) -> Any:
    """The nearest floats, as numbers of double."""
    return np.asarray(values, np.float32).astype(np.float64)


def evaluate_mixed(
    graph: Graph, inputs: Mapping[str, Array], in_double: Collection[Node]
) -> dict[str, Array]:
    """Outputs, each (N,), for inputs, each (N,); inputs and outputs are floats."""

    def compute(node: Node, *args: Any) -> Any:
        if node.op is Op.INPUT:
            return to_float(inputs[node.name])
        if node in in_double or node.op is Op.CONST:
            return FLOAT[node.op](node, *args)
        own = replace(node, value=to_float(node.value)) if node.op is Op.MULC else node
        operands = (_read(a, value, in_double) for a, value in zip(node.args, args, strict=True))
        return to_float(FLOAT[node.op](own, *operands))

    n, found = len(next(iter(inputs.values()))), in_order(graph, compute)
    return {name: np.broadcast_to(to_float(value), n) for name, value in found.items()}


def _read(node: Node, values: Any, in_double: Collection[Node]) -> Any:
    return to_float(values) if node.op is Op.CONST or node in in_double else values
