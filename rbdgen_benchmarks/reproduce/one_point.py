"""A graph in words that all have their binary point at one place: another meaning of it.

Every input, constant and result is rounded to the nearest word, half up, and saturated, as a
design has it that was written with one type for everything. No hardware of rbdgen's is made so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rbdgen.graph.evaluate import Array, in_order
from rbdgen.graph.fixed import Format, Integers
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Node, Op


def rounded(words: Integers, drop: int) -> Integers:
    """Words without their last ``drop`` bits, half up; more bits where ``drop`` is negative."""
    return words << -drop if drop <= 0 else (words + (1 << (drop - 1))) >> drop


def _constant(word: Format, node: Node, a: Integers) -> Integers:
    if node.is_shift:  # exact until it is rounded
        return rounded(a, -round(math.log2(node.value)))
    return rounded(a * word.quantize(node.value), word.fraction)


def _reciprocal(word: Format, node: Node, a: Integers) -> Integers:
    """The reciprocal of a word; the largest word if the operand is not positive."""
    one = 1 << (2 * word.fraction)
    positive = np.maximum(a, 1)
    return np.where(a > 0, (2 * one + positive) // (2 * positive), word.highest)


def _turned(of: Callable[[Any], Any]) -> Callable[..., Integers]:
    def compute(word: Format, node: Node, a: Integers) -> Integers:
        return word.quantize(of(word.real(a) * (math.tau / node.value)))

    return compute


MEANING: dict[Op, Callable[..., Any]] = {
    Op.CONST: lambda word, node: word.quantize(node.value),
    Op.ADD: lambda word, node, a, b: a + b,
    Op.SUB: lambda word, node, a, b: a - b,
    Op.NEG: lambda word, node, a: -a,
    Op.MUL: lambda word, node, a, b: rounded(a * b, word.fraction),
    Op.MULC: _constant,
    Op.SIN: _turned(np.sin),
    Op.COS: _turned(np.cos),
    Op.RECIP: _reciprocal,
}


def evaluate_one_point(
    graph: Graph, word: Format, inputs: Mapping[str, Array]
) -> tuple[dict[str, Array], int]:
    """Outputs (N,) for inputs (N,), and how many of its operations saturated in some state.

    ``word`` has at most 32 bits. KeyError for an operation of hardware's alone.
    """
    saturated = 0

    def compute(node: Node, *args: Integers) -> Integers:
        nonlocal saturated
        if node.op is Op.INPUT:
            return word.quantize(inputs[node.name])
        exact = MEANING[node.op](word, node, *args)
        words: Integers = np.minimum(np.maximum(exact, word.lowest), word.highest)
        saturated += bool(np.not_equal(words, exact).any())
        return words

    size = np.broadcast_shapes(*(np.shape(v) for v in inputs.values()))
    outputs = {
        name: np.broadcast_to(word.real(np.asarray(words)), size)
        for name, words in in_order(graph, compute).items()
    }
    return outputs, saturated
