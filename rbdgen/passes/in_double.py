"""Which nodes of a graph in float are computed in double, so that its results are exact enough.

A node in float is off by up to 2^-24 of its size, and so is what a node in float reads of one in
double. How much of that reaches an array of outputs the gradients say: with random signs s on its
entries, E (Σ_o s_o ∂o/∂n)² = Σ_o (∂o/∂n)². What counts is the worst state, not the mean: M⁻¹
enlarges errors of a few states by far more than those of others. So gradients are of the states in
which float is worst, and whether a choice suffices is measured in all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..graph.arrays import FAR, array_of
from ..graph.derivative import DERIVATIVE
from ..graph.evaluate import Array, evaluate
from ..graph.graph import Graph
from ..graph.mixed import evaluate_mixed, to_float
from ..graph.node import Node, Op
from .cut import ONLY_FLOAT, Prices, cheapest

ROUNDED = 2.0**-24  # of a float
KEPT = 0.5  # of the error asked for, in the states that are tried: the worst of more are worse
WORST = 24  # states of each array
SIGNS, SEED = 2, 7
FIRST = 25.0  # operations to be paid for an error of all that is kept, to begin with
FACTOR = 4.0  # between such prices until one is too low and one enough
TRIALS = 6


@dataclass(frozen=True)
class InDouble:
    """``nodes``: those in double; ``alone``, ``reached``: the largest error of an output, by the
    largest entry of its array, of ``states`` states: of float alone, and with those nodes.
    ``inputs``: by how much exact results of states in double differ once those are floats;
    ``lengths``: of those floats, once quaternions and such have length 1 again."""

    nodes: frozenset[Node]
    alone: float
    reached: float
    states: int
    inputs: float
    lengths: float


def in_double(
    graph: Graph,
    samples: Mapping[str, Array],
    error: float,
    may: bool = True,
    units: Sequence[Sequence[str]] = (),
) -> InDouble:
    """The fewest operations in double that leave errors of ``KEPT * error``.

    ``samples``: inputs (N,) of states within the limits. Errors are those of computing, in states
    that are floats: the nearest ones to the samples. Unless any ``may`` be in double, it says how
    far float is off. ``units``: inputs that are vectors of length 1.
    """
    given = {name: to_float(values) for name, values in samples.items()}
    if not given:  # nothing that depends on a state
        return InDouble(frozenset(), 0.0, 0.0, 0, 0.0, 0.0)
    wanted = evaluate(graph, given)
    sizes = _sizes(wanted)
    n = len(next(iter(given.values())))

    def off(nodes: frozenset[Node]) -> dict[str, Array]:
        return _errors(evaluate_mixed(graph, given, nodes), wanted, sizes)

    def moved(inputs: Mapping[str, Array]) -> float:
        return _largest(_errors(evaluate(graph, inputs), wanted, sizes))

    first = off(frozenset())
    alone, inputs = _largest(first), moved(samples)
    lengths = moved(_of_length_one(given, units)) if units else 0.0
    if alone <= KEPT * error or not may:
        return InDouble(frozenset(), alone, alone, n, inputs, lengths)
    worst = np.unique([np.argsort(own)[-WORST:] for own in first.values()])
    some = {name: values[worst] for name, values in given.items()}
    own, read = reach(graph, some, sizes)
    prices = Prices(graph, own, read)
    reached = _largest(off(computing(graph)))
    found = InDouble(computing(graph), alone, reached, n, inputs, lengths)
    price, too_low, enough = FIRST, 0.0, 0.0
    for _ in range(TRIALS):
        nodes = cheapest(prices, price / (KEPT * error) ** 2)
        reached = _largest(off(nodes))
        if reached <= KEPT * error:
            enough, found = price, InDouble(nodes, alone, reached, n, inputs, lengths)
        else:
            too_low = price
        if too_low and enough:
            price = math.sqrt(too_low * enough)
        else:
            price = price / FACTOR if enough else price * FACTOR
    return found


def _of_length_one(given: Mapping[str, Array], units: Sequence[Sequence[str]]) -> dict[str, Array]:
    """The inputs with each of the ``units`` divided by its length."""
    found = dict(given)
    for unit in units:
        length = np.sqrt(sum(np.square(given[name]) for name in unit if name in given))
        found |= {name: given[name] / length for name in unit if name in given}
    return found


def computing(graph: Graph) -> frozenset[Node]:
    """The nodes that may be in double."""
    return frozenset(n for n in graph.nodes if n.args and n.op not in ONLY_FLOAT)


def reach(
    graph: Graph, inputs: Mapping[str, Array], sizes: Mapping[str, float]
) -> tuple[dict[Node, float], dict[tuple[Node, Node], float]]:
    """How far off an array is for a node's rounding, by the array's size; the worst of ``inputs``.

    And for rounding a node, the first of a pair, where the second one reads it.
    """
    values: dict[Node, Array] = {}
    evaluate(graph, inputs, lambda node, seen: values.__setitem__(node, np.asarray(seen)))
    rng = np.random.default_rng(SEED)
    n = len(next(iter(inputs.values())))
    rows = {name: k for k, name in enumerate(sizes)}
    back: dict[Node, Array] = {}
    for name, array in array_of(graph.outputs).items():
        if array in rows:
            signs = np.zeros((len(rows), SIGNS, n))
            signs[rows[array]] = rng.choice([-1.0, 1.0], (SIGNS, n)) / sizes[array]
            node = graph.outputs[name]
            back[node] = back.get(node, 0.0) + signs
    own: dict[Node, float] = {}
    read: dict[tuple[Node, Node], float] = {}

    def worst(errors: Array) -> float:
        """The largest root mean square over signs, of errors (arrays, SIGNS, n)."""
        return ROUNDED * float(np.sqrt(np.einsum("asn,asn->an", errors, errors).max() / SIGNS))

    for node in reversed(graph.nodes):
        adjoint = back.pop(node, None)
        if adjoint is None:
            continue
        if node.args and node.op is not Op.NEG and not node.is_shift:
            own[node] = worst(adjoint * values[node])
        slopes = DERIVATIVE[node.op].slopes(node, values[node], *(values[a] for a in node.args))
        for arg, slope in zip(node.args, slopes, strict=True):
            if arg.op is Op.CONST:
                continue
            part = adjoint * slope
            back[arg] = back.get(arg, 0.0) + part
            if arg.op is not Op.INPUT:
                read[arg, node] = worst(part * values[arg])
    return own, read


def _sizes(outputs: Mapping[str, Array]) -> dict[str, float]:
    """The largest entry of each array that has one, but what says yes or no."""
    sizes: dict[str, float] = {}
    for name, array in array_of(outputs).items():
        sizes[array] = max(sizes.get(array, 0.0), float(np.abs(outputs[name]).max()))
    return {array: size for array, size in sizes.items() if size > 0 and array != FAR}


def _errors(
    found: Mapping[str, Array], wanted: Mapping[str, Array], sizes: Mapping[str, float]
) -> dict[str, Array]:
    """The largest error of each array in each state, relative to the array's size."""
    errors: dict[str, Array] = {}
    for name, array in array_of(wanted).items():
        if array in sizes:
            own = np.nan_to_num(np.abs(found[name] - wanted[name]) / sizes[array], nan=np.inf)
            errors[array] = np.maximum(errors.get(array, 0.0), own)
    return errors


def _largest(errors: Mapping[str, Array]) -> float:
    return max((float(own.max()) for own in errors.values()), default=0.0)
