"""Bounds of columns x = M⁻¹ b, solved with the factors of M = Lᵀ D L:

    y = L⁻ᵀ b        z = D⁻¹ y        x = L⁻¹ z

M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ has the diagonal Σ_j (L⁻¹)_kj² / D_j, so |(L⁻¹)_kj| ≤ √(M⁻¹_kk D_j). Hence, with
B = Σ_j √M⁻¹_jj |b_j| (of y and z: over coordinates j that k is on the way to the base from)

    |y_k| ≤ √D_k B        |z_k| ≤ B / √D_k        |x_k| ≤ √M⁻¹_kk B

Efforts that forward dynamics is given are those that accelerations x within their limits take.
There x is known, and b = M x, z = L x, y = D L x.

Signals are ``known`` by names, n being the number of the column: b[n,k], y[n,k], z[n,k], x[n,k].
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from ..graph.evaluate import Interval
from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.word import indices, kind_of, spell
from .factor_bounds import ROUNDING, GraphFactors, signals_in
from .pivot_bounds import ACCELERATIONS

KINDS = ("b", "y", "z", "x")


class KnownSignals:
    """Where signals of a graph are, by its factors, and by what is solved with them."""

    def __init__(self, factors: GraphFactors, graph: Graph) -> None:
        self.factors, self.graph = factors, graph
        self.signals = signals_in(graph, graph.nodes)
        self._entries = factors.within(graph)
        self._names: dict[Node, list[str]] = {}
        trees = {k: tree for tree in factors.solving for k in tree}
        self._trees = {k: tree for k, tree in trees.items() if factors.moved_by(tree) < 1}
        for name, (_, node) in self.signals.items() if trees else ():
            if kind_of(name) in KINDS and indices(name)[1] in self._trees:
                self._names.setdefault(node, []).append(name)

    def __call__(self, node: Node, found: Mapping[Node, Interval]) -> Interval | None:
        """Where the node is, given where those before it are ``found`` to be."""
        low, high = self._entries.get(node, (-math.inf, math.inf))
        for name in self._names.get(node, ()):
            n, k = indices(name)
            of = self._of_accelerations if n == ACCELERATIONS else self._of_column
            factor, _ = self.signals[name]
            size = of(kind_of(name), n, k, found) * (1 + ROUNDING) / abs(factor)
            low, high = max(low, -size), min(high, size)
        return (low, high) if low > -math.inf or high < math.inf else None

    def _size(self, name: str, found: Mapping[Node, Interval]) -> float:
        """The largest magnitude of what has this name; of what there is not, 0."""
        own = self.graph.known.get(name)
        if own is None or own.of is None:
            return abs(own.factor) if own else 0.0
        ends = found.get(own.of, (-math.inf, math.inf))
        return abs(own.factor) * max(map(abs, ends))

    def _of_accelerations(self, kind: str, n: int, k: int, found: Mapping[Node, Interval]) -> float:
        factors, box = self.factors, self.factors.pivot_bounds.accelerations
        off = factors.moved.columns
        if kind == "b":  # Σ_j M_kj x_j
            sizes = (factors.of_M(k, j) * box[j] for j in self._trees[k])
            return sum(sizes) + off.signals.get(spell("b", n, k), 0.0)
        x = {i: box[i] + off.signals.get(spell("x", n, i), 0.0) for i in (k, *factors.columns[k])}
        alone = off.alone.get(spell("z", n, k), 0.0)
        constant = k in factors.constant

        def row(of: str) -> float:
            return sum(self._size(spell(of, k, i), found) * x[i] for i in factors.columns[k])

        match kind:
            case "x":
                return x[k]
            case "y" if not constant:
                return self._size(spell("H", k, k), found) * x[k] + row("H")
            case "y":
                return factors.constant[k] * (x[k] + row("L") + alone)
        return x[k] + row("L")

    def _of_column(self, kind: str, n: int, k: int, found: Mapping[Node, Interval]) -> float:
        factors, tree = self.factors, self._trees[k]
        delta, alone = factors.moved_by(tree), factors.moved.columns.alone
        low, high = factors.ends_of_pivot(k)
        inverse = {j: math.sqrt(factors.pivot_bounds.inverse[j] / (1 - delta)) for j in tree}

        def B(over: Iterable[int]) -> float:
            sizes = ((inverse[j], self._size(spell("b", n, j), found)) for j in over)
            return sum(by * size for by, size in sizes if size)

        match kind:
            case "y":
                return math.sqrt(high * (1 + delta)) * B(factors.hanging[k])
            case "z":
                more = alone.get(spell("z", n, k), 0.0)
                return B(factors.hanging[k]) / math.sqrt(low * (1 - delta)) + more
            case "x":
                more = sum(
                    math.sqrt(factors.ends_of_pivot(j)[1] * (1 + delta))
                    * alone.get(spell("z", n, j), 0.0)
                    for j in (k, *factors.columns[k])
                )
                return inverse[k] * (B(tree) + more)
        return math.inf
