"""The cheapest nodes of a graph to compute in double, at a price of errors: a minimum cut.

A node on the source's side is in double. What that costs, and what is lost on the other side, are
capacities of edges which such a choice cuts (Picard 1976, maximal closure); a conversion is paid
once for all that read it, at a vertex of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..graph.graph import Graph
from ..graph.node import Node, Op

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# In operations of float: what one in double takes more, for as many states.
MORE: Mapping[Op, float] = {Op.SIN: 8, Op.COS: 8, Op.RECIP: 8}
CONVERTED = 3.0  # a value to double or back
UNIT = 100  # capacities are whole numbers of so many to an operation
ENDLESS = 100_000_000  # operations times UNIT, more than a cut ever costs
ONLY_FLOAT = (Op.INPUT, Op.HELD, Op.MANTISSA, Op.EXPONENT, Op.SCALE)  # exact, or bits of a float


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
