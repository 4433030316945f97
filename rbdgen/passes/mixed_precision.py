"""Which nodes of a graph in float are computed in double, so that its results are exact enough.

A node in float is off by up to 2^-24 of its size, and so is what a node in float reads of one in
double. How much of that reaches an array of outputs the gradients say: with random signs s on its
entries, E (Σ_o s_o ∂o/∂n)² = Σ_o (∂o/∂n)². What counts is the worst state, not the mean: M⁻¹
enlarges errors of a few states by far more than those of others. So gradients are of the states in
which float is worst, and whether a choice suffices is measured in all.

The cheapest nodes of a graph to compute in double, at a price of errors: a minimum cut.

A node on the source's side is in double. What that costs, and what is lost on the other side, are
capacities of edges which such a choice cuts (Picard 1976, maximal closure); a conversion is paid
once for all that read it, at a vertex of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..graph.derivative import adjoints
from ..graph.evaluate import Array, evaluate, evaluate_mixed, to_float
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.word import FAR, array_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


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
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # infinitely far off
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

    for node, adjoint, parts in adjoints(graph, values, back):
        if node.args and node.op is not Op.NEG and not node.is_shift:
            own[node] = worst(adjoint * values[node])
        for arg, part in zip(node.args, parts, strict=True):
            if arg.op not in (Op.CONST, Op.INPUT):
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
            own = np.abs(found[name] - wanted[name]) / sizes[array]
            own = np.where(np.isnan(own), np.inf, own)
            errors[array] = np.maximum(errors.get(array, 0.0), own)
    return errors


def _largest(errors: Mapping[str, Array]) -> float:
    return max((float(own.max()) for own in errors.values()), default=0.0)


# In operations of float: what one in double takes more, for as many states.
MORE: Mapping[Op, float] = {Op.SIN: 8, Op.COS: 8, Op.RECIP: 8}
CONVERTED = 3.0  # a value to double or back
UNIT = 100  # capacities are whole numbers of so many to an operation
ENDLESS = 100_000_000  # operations times UNIT, more than a cut ever costs
ONLY_FLOAT = (
    Op.INPUT,
    Op.PARAMETER,
    Op.MANTISSA,
    Op.EXPONENT,
    Op.SCALE,
)  # exact, or bits of a float


class Prices:
    """The price of a choice of a graph's nodes.

    ``own``: the error of a node in float; ``read``: of the first of a pair, in double, where the
    second, in float, reads it. Squares of errors add up.
    """

    def __init__(
        self, graph: Graph, own: Mapping[Node, float], read: Mapping[tuple[Node, Node], float]
    ) -> None:
        self.nodes = [node for node in graph.nodes if node.op is not Op.CONST]
        n = len(self.nodes)
        at = {node: k for k, node in enumerate(self.nodes)}
        self.source, self.sink = 3 * n, 3 * n + 1
        edges: list[tuple[int, int, float, float]] = []  # from, to, operations, squared error
        given = set(graph.outputs.values())
        angles: dict[tuple[Node, float], int] = {}
        for node, k in at.items():
            to_double, to_float = n + k, 2 * n + k
            more = ENDLESS if node.op in ONLY_FLOAT else MORE.get(node.op, 1.0)
            edges.append((k, self.sink, more + CONVERTED * (node in given), 0.0))
            edges.append((self.source, k, 0.0, own.get(node, 0.0) ** 2))
            if node.op in (Op.SIN, Op.COS):  # a pair is computed at once
                other = angles.setdefault((node.args[0], node.value), k)
                edges += [(k, other, ENDLESS, 0.0), (other, k, ENDLESS, 0.0)]
            users = {at[user] for user in graph.users[node]}
            if users:
                edges += [(to_double, k, CONVERTED, 0.0), (k, to_float, CONVERTED, 0.0)]
            for user in users:
                lost = read.get((node, self.nodes[user]), 0.0) ** 2
                edges += [(user, to_double, ENDLESS, 0.0), (to_float, user, ENDLESS, 0.0)]
                edges.append((k, user, 0.0, lost))
        tails, heads, operations, errors = zip(*edges, strict=True)
        self.places = np.array(tails), np.array(heads)
        self.operations, self.errors = np.array(operations), np.array(errors)

    def capacities(self, price: float) -> csr_matrix:
        """The capacities of all edges, at so many operations for a squared error of 1."""
        from scipy.sparse import csr_matrix  # late: a quarter of a second

        cost = UNIT * (self.operations + price * self.errors)
        whole: NDArray[np.int32] = np.minimum(np.round(cost), ENDLESS).astype(np.int32)
        size = self.sink + 1
        found = csr_matrix((whole, self.places), shape=(size, size))
        found.eliminate_zeros()
        return found


def cheapest(prices: Prices, price: float) -> frozenset[Node]:
    """The nodes to compute in double: the least of operations plus ``price`` squared errors."""
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow  # late, as above

    capacities = prices.capacities(price)
    flow = maximum_flow(capacities, prices.source, prices.sink).flow
    left = capacities - flow
    left.data = np.maximum(left.data, 0)
    left.eliminate_zeros()
    reached = breadth_first_order(left, prices.source, return_predecessors=False)
    return frozenset(prices.nodes[k] for k in reached if k < len(prices.nodes))
