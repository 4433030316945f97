"""What is claimed of a graph's signals, checked in ball arithmetic: it shares nothing with proofs.

A ball is a midpoint and a radius that bounds every error, of rounding too (Johansson's Arb, by
python-flint). A state is a ball of no radius for each input: the value of every signal is then
known to a hundred bits. A box of states gives balls that hold all values of a signal in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from flint import arb

from rbdgen.graph.evaluate import Interval
from rbdgen.graph.fixed import FixedGraph, evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Node, Op

Ball = Any  # flint has no types

BALL: dict[Op, Callable[..., Ball]] = {
    Op.CONST: lambda node: arb(node.value),
    Op.ADD: lambda node, a, b: a + b,
    Op.SUB: lambda node, a, b: a - b,
    Op.NEG: lambda node, a: -a,
    Op.MUL: lambda node, a, b: a * b,
    Op.MULC: lambda node, a: arb(node.value) * a,
    Op.SIN: lambda node, a: (2 * a / arb(node.value)).sin_pi(),
    Op.COS: lambda node, a: (2 * a / arb(node.value)).cos_pi(),
    Op.RECIP: lambda node, a: 1 / a,
    # of the binade that the middle of a is in: what is scaled again is x / a in all of the ball
    Op.MANTISSA: lambda node, a: arb(2) ** _binade(a) / a,
    Op.EXPONENT: lambda node, a: arb(_binade(a)),
    Op.SCALE: lambda node, x, k: x * arb(2) ** -k,
}


def _binade(a: Ball) -> int:
    """k of a = f · 2^k with f in [½, 1)."""
    return math.frexp(float(a.mid()))[1]


def values(
    graph: Graph, inputs: Mapping[str, Ball], words: Mapping[Node, Ball] | None = None
) -> dict[Node, Ball]:
    """The ball of every node, of angles in turns or whatever their sines are of.

    ``words``: of pivots. Then mantissas are those of these, and what is scaled is x / a all the
    same: that is what errors are measured from.
    """
    found: dict[Node, Ball] = {}
    for node in graph.nodes:
        args = [found[arg] for arg in node.args]
        if node.op is Op.INPUT:
            found[node] = inputs[node.name]
        elif words and node.op in (Op.MANTISSA, Op.EXPONENT):
            found[node] = BALL[node.op](node, words[node.args[0]])
        else:
            found[node] = BALL[node.op](node, *args)
        if words and node.op is Op.SCALE:
            (pivot,) = node.args[1].args
            found[node] *= words[pivot] / found[pivot]
    return found


def states(limits: Mapping[str, Interval], n: int, seed: int) -> Iterator[dict[str, float]]:
    """States within limits: in every other one all inputs are at ends."""
    rng = np.random.default_rng(seed)
    for k in range(n):
        share = {name: rng.random() for name in limits}
        if k % 2:
            share = {name: float(rng.integers(2)) for name in limits}
        yield {name: low + (high - low) * share[name] for name, (low, high) in limits.items()}


def outside(
    graph: Graph, claimed: Mapping[Node, Interval], of: Mapping[str, float], radius: float = 0.0
) -> list[Node]:
    """Nodes whose values, in a box of that radius around a state, are all outside of the claim."""
    found = values(graph, {name: arb(x, radius) for name, x in of.items()})
    return [
        node
        for node, ball in found.items()
        if ball.lower() > arb(claimed[node][1]) or ball.upper() < arb(claimed[node][0])
    ]


def farther(
    fixed: FixedGraph, claimed: Mapping[Node, float], of: Mapping[str, float]
) -> list[Node]:
    """Nodes whose words are farther from their real numbers than claimed, in a state."""
    words: dict[Node, Ball] = {}
    given = {name: word.quantize(np.array([of[name]])) for name, word in fixed.inputs.items()}

    def keep(node: Node, value: Any) -> None:
        words[node] = arb(int(np.ravel(value)[0])) * arb(2) ** -fixed.formats[node].fraction

    evaluate_fixed(fixed, given, keep)
    exact = values(fixed.graph, {name: arb(x) for name, x in of.items()}, words)
    far = []
    for node, ball in exact.items():
        word, off = fixed.formats[node], abs(words[node] - ball)
        if not word.wraps and off.lower() > arb(claimed[node]):
            far.append(node)
    return far
