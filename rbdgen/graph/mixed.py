"""Evaluate a graph in float over a batch, some of its nodes in double.

A node in float reads its operands rounded to float, and rounds. What is computed in double from
floats and rounded once is what float gives, for sums, products and quotients (Figueroa 1995).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .evaluate import FLOAT, Array
from .graph import Graph
from .node import Node, Op


def to_float(values: Any) -> Any:
    """The nearest floats, as numbers of double."""
    return np.asarray(values, np.float32).astype(np.float64)


def evaluate_mixed(
    graph: Graph, inputs: Mapping[str, Array], in_double: Collection[Node]
) -> dict[str, Array]:
    """Outputs, each (N,), for inputs, each (N,); inputs and outputs are floats."""
    left = {node: len(users) for node, users in graph.users.items()}
    for node in graph.outputs.values():
        left[node] += 1
    values: dict[Node, Any] = {}
    for node in graph.nodes:
        if node.op is Op.INPUT:
            values[node] = to_float(inputs[node.name])
        elif node in in_double or node.op is Op.CONST:
            values[node] = FLOAT[node.op](node, *(values[a] for a in node.args))
        else:
            own = replace(node, value=to_float(node.value)) if node.op is Op.MULC else node
            operands = (_read(a, values[a], in_double) for a in node.args)
            values[node] = to_float(FLOAT[node.op](own, *operands))
        for arg in node.args:
            left[arg] -= 1
            if not left[arg]:
                del values[arg]
    n = len(next(iter(inputs.values())))
    return {
        name: np.broadcast_to(to_float(values[node]), n) for name, node in graph.outputs.items()
    }


def _read(node: Node, values: Any, in_double: Collection[Node]) -> Any:
    return to_float(values) if node.op is Op.CONST or node in in_double else values
