"""The derivative of every operation by its operands."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .node import Op

# Node, its value, its operands' values → derivative by each operand.
DERIVATIVE: dict[Op, Callable[..., tuple[Any, ...]]] = {
    Op.INPUT: lambda node, v: (),
    Op.CONST: lambda node, v: (),
    Op.HELD: lambda node, v: (),
    Op.ADD: lambda node, v, a, b: (1.0, 1.0),
    Op.SUB: lambda node, v, a, b: (1.0, -1.0),
    Op.NEG: lambda node, v, a: (-1.0,),
    Op.MUL: lambda node, v, a, b: (b, a),
    Op.MULC: lambda node, v, a: (node.value,),
    Op.SIN: lambda node, v, a: (np.cos(a * math.tau / node.value) * math.tau / node.value,),
    Op.COS: lambda node, v, a: (-np.sin(a * math.tau / node.value) * math.tau / node.value,),
    Op.RECIP: lambda node, v, a: (-v * v,),
    Op.MANTISSA: lambda node, v, a: (-v / a,),  # of 2^k / a, with k as it is
    Op.EXPONENT: lambda node, v, a: (0.0,),
    Op.SCALE: lambda node, v, x, k: (np.exp2(-k), 0.0),
    Op.SELECT: lambda node, v, c, a, b: (0.0, np.where(c < 0, 1.0, 0.0), np.where(c < 0, 0.0, 1.0)),
}
