"""The derivative of every operation: numbers by its operands, and the tangent as a node."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .node import Node, Op, Scalar


@dataclass(frozen=True)
class Derivative:
    """The derivative of an operation.

    ``slopes``: node, its value, its operands' values → the derivative by each operand.
    ``tangent``: builder, node, its copy there, (operand's copy, its tangent) for each → the tangent
    of the copy; 0 makes no nodes.
    """

    slopes: Callable[..., tuple[Any, ...]]
    tangent: Callable[..., Scalar]


def _per_radian(node: Node) -> float:
    """Radians in the unit of a sine's or cosine's angle."""
    return math.tau / node.value


CONSTANT = Derivative(lambda n, v: (), lambda b, n, v: 0.0)
DERIVATIVE: dict[Op, Derivative] = {
    Op.INPUT: CONSTANT,
    Op.CONST: CONSTANT,
    Op.PARAMETER: CONSTANT,
    Op.ADD: Derivative(
        lambda n, v, x, y: (1.0, 1.0),
        lambda b, n, v, x, y: b.add(x[1], y[1]),
    ),
    Op.SUB: Derivative(
        lambda n, v, x, y: (1.0, -1.0),
        lambda b, n, v, x, y: b.sub(x[1], y[1]),
    ),
    Op.NEG: Derivative(
        lambda n, v, x: (-1.0,),
        lambda b, n, v, x: b.neg(x[1]),
    ),
    Op.MUL: Derivative(
        lambda n, v, x, y: (y, x),
        lambda b, n, v, x, y: b.add(b.mul(x[1], y[0]), b.mul(x[0], y[1])),
    ),
    Op.MULC: Derivative(
        lambda n, v, x: (n.value,),
        lambda b, n, v, x: b.mul(n.value, x[1]),
    ),
    Op.SIN: Derivative(
        lambda n, v, x: (np.cos(x * math.tau / n.value) * math.tau / n.value,),
        lambda b, n, v, x: b.mul(_per_radian(n), b.mul(b.cos(x[0], n.value), x[1])),
    ),
    Op.COS: Derivative(
        lambda n, v, x: (-np.sin(x * math.tau / n.value) * math.tau / n.value,),
        lambda b, n, v, x: b.mul(-_per_radian(n), b.mul(b.sin(x[0], n.value), x[1])),
    ),
    Op.RECIP: Derivative(
        lambda n, v, x: (-v * v,),
        lambda b, n, v, x: b.neg(b.mul(b.mul(v, v), x[1])),
    ),
    Op.MANTISSA: Derivative(  # of 2^k / x, with k as it is
        lambda n, v, x: (-v / x,),
        lambda b, n, v, x: b.neg(b.mul(b.mul(v, b.recip(x[0])), x[1])),
    ),
    Op.EXPONENT: Derivative(
        lambda n, v, x: (0.0,),
        lambda b, n, v, x: 0.0,
    ),
    Op.SCALE: Derivative(
        lambda n, v, x, k: (np.exp2(-k), 0.0),
        lambda b, n, v, x, k: b.scale(x[1], k[0]),
    ),
    Op.SELECT: Derivative(
        lambda n, v, c, x, y: (0.0, np.where(c < 0, 1.0, 0.0), np.where(c < 0, 0.0, 1.0)),
        lambda b, n, v, c, x, y: b.select(c[0], x[1], y[1]),
    ),
}
