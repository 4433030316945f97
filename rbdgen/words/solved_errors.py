"""Bounds of columns x = M⁻¹ b, solved with the factors of M = Lᵀ D L:

    y = L⁻ᵀ b        z = D⁻¹ y        x = L⁻¹ z

M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ has the diagonal Σ_j (L⁻¹)_kj² / D_j, so |(L⁻¹)_kj| ≤ √(M⁻¹_kk D_j). Hence, with
B = Σ_j √M⁻¹_jj |b_j| (of y and z: over coordinates j that k is on the way to the base from)

    |y_k| ≤ √D_k B        |z_k| ≤ B / √D_k        |x_k| ≤ √M⁻¹_kk B

Efforts that forward dynamics is given are those that accelerations x within their limits take.
There x is known, and b = M x, z = L x, y = D L x.

Signals are ``known`` by names b[n,k], y[n,k], z[n,k], x[n,k], n being the column's number.

Error bounds in words: let these of L and D be exactly those of M + E (``backward``), β what b and
y are off, γ what z and x are. Then y, z and x are those of M + E and b + β, and γ beside: with L*
and D* of words,

    x* - x = (M + E)⁻¹ (β - E x)      y* - y = L*⁻ᵀ (β - E x) + (D* L* - D L) x
                                      z* - z = D*⁻¹ L*⁻ᵀ (β - E x) + (L* - L) x

and L*⁻¹ γ more in x. Constants that are moved are such an E, too, with β and γ of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..graph.evaluate import Interval
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.word import indices, kind_of, spell
from .factor_bounds import (
    ACCELERATIONS,
    ROUNDING,
    Entries,
    GraphFactors,
    OffColumns,
    Signal,
    signals_in,
)
from .word_errors import Errors, between

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


By = Mapping[int, float]  # coordinate
TWICE = 2.0  # γ is beside columns before, and now: (L*⁻¹ - L⁻¹) γ is less than both


@dataclass(frozen=True)
class Sizes:
    """Bounds by coordinate: √M⁻¹_kk at most, and √D_k at least and at most."""

    inverse: By
    low: By
    high: By


@dataclass(frozen=True, eq=False)
class Rounded:
    """Rounding errors of columns, beside a graph with ``factors``.

    ``largest``: of its signals; ``own``: the error that each adds; ``errors``: of signals that do
    not depend on columns, and of factors; ``entries``: of M; ``alone``: of L beside those of H;
    ``lowest``: the least words of pivots.
    """

    factors: GraphFactors
    graph: Graph
    signals: Mapping[str, Signal]
    largest: Errors
    own: Errors
    errors: Errors
    entries: Entries
    alone: Errors
    lowest: Errors

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of columns, the first ones being accelerations."""
        names = self.signals if self.factors.solving else ()
        return sorted({indices(name)[0] for name in names if kind_of(name) == "x"})

    @cached_property
    def deltas(self) -> dict[frozenset[int], float]:
        """Tree → δ of M."""
        E = self._E
        return {
            tree: sum(self.factors.delta(E, ((j, l) for l in tree)) for j in tree)
            for tree in self.factors.solving
        }

    def column(self, n: int) -> OffColumns:
        """The error bound of column ``n``: infinite where that is not known."""
        signals, alone = dict[str, float](), dict[str, float]()
        for tree, delta in self.deltas.items():
            total = self.factors.moved_by(tree) + delta
            if total < 1:
                off = self._tree(n, tree, total)
            else:
                names = {spell(kind, n, k) for kind in KINDS for k in tree}
                off = OffColumns({}, dict.fromkeys(names & self.signals.keys(), math.inf))
            signals |= off.signals
            alone |= off.alone
        return OffColumns(signals=signals, alone=alone)

    def _tree(self, n: int, tree: frozenset[int], delta: float) -> OffColumns:
        """The same of a tree; with what b is off, as it is."""
        factors, before = self.factors, self.factors.moved.columns.alone
        ends = {j: factors.ends_of_pivot(j) for j in tree}
        by = Sizes(
            {j: math.sqrt(factors.pivot_bounds.inverse[j] / (1 - delta)) for j in tree},
            {j: math.sqrt(ends[j][0] * (1 - delta)) for j in tree},
            {j: math.sqrt(ends[j][1] * (1 + delta)) for j in tree},
        )
        rest = {k: before.get(spell("z", n, k), 0.0) for k in tree}
        aside = self._beside(rest, by)
        x = {k: self._size("x", n, k) + aside[k] for k in tree}
        c = {
            k: self._error("b", n, k)
            + self._in_sum(n, k, "b", "y")
            + sum(self._E.get((max(k, l), min(k, l)), 0.0) * x[l] for l in tree)
            for k in tree
        }
        back = self._back(c, by)
        rows = {k: (k, *factors.columns[k]) for k in tree}
        y = {k: sum(self._off(k, i, "H") * x[i] for i in rows[k]) + back[k] for k in tree}
        gamma = {k: self._alone(n, k, y[k]) for k in tree}
        twice = gamma | {k: gamma[k] + rest[k] * self._times(n, k, y[k]) for k in tree if rest[k]}
        divided, out = self._divided(c, back, by), self._out(c, back, by)
        beside = self._beside(twice, by)
        made = {
            "b": {k: self._error("b", n, k) for k in tree},
            "y": y,
            "z": {
                k: sum(self._off(k, i, "L") * x[i] for i in rows[k]) + divided[k] + twice[k]
                for k in tree
            },
            "x": {k: out[k] + beside[k] for k in tree},
        }
        names = {spell(kind, n, k): made[kind][k] for kind in KINDS for k in tree}
        return OffColumns(
            signals={name: own for name, own in names.items() if name in self.signals},
            alone={spell("z", n, k): own for k, own in gamma.items() if own},
        )

    def _times(self, n: int, k: int, off: float) -> float:
        """How often γ before counts: before, and now, y_k being ``off``."""
        size = self._size("y", n, k)
        return TWICE + off / size if size else math.inf

    def _back(self, c: By, by: Sizes) -> dict[int, float]:
        """|L⁻ᵀ c|, at most: by M⁻¹, or by the entries of L."""
        found: dict[int, float] = {}
        for k in sorted(c, reverse=True):
            own = self.factors.hanging[k]
            by_rows = c[k] + sum(self._slope(j, k) * found[j] for j in own - {k})
            found[k] = min(by.high[k] * sum(by.inverse[j] * c[j] for j in own), by_rows)
        return found

    def _divided(self, c: By, back: By, by: Sizes) -> dict[int, float]:
        """|D⁻¹ L⁻ᵀ c|, at most, likewise."""
        hanging = self.factors.hanging
        return {
            k: min(
                sum(by.inverse[j] * c[j] for j in hanging[k]) / by.low[k], back[k] / by.low[k] ** 2
            )
            for k in c
        }

    def _out(self, c: By, back: By, by: Sizes) -> dict[int, float]:
        """|M⁻¹ c|, at most, likewise."""
        divided, most = self._divided(c, back, by), sum(by.inverse[j] * c[j] for j in c)
        found: dict[int, float] = {}
        for k in sorted(c):
            by_rows = sum(self._slope(k, i) * found[i] for i in self.factors.columns[k])
            found[k] = min(by.inverse[k] * most, divided[k] + by_rows)
        return found

    def _beside(self, gamma: By, by: Sizes) -> dict[int, float]:
        """|L⁻¹ γ|, at most, likewise."""
        found: dict[int, float] = {}
        for k in sorted(gamma):
            own = self.factors.columns[k]
            by_rows = gamma[k] + sum(self._slope(k, i) * found[i] for i in own)
            by_inverse = by.inverse[k] * sum(by.high[j] * gamma[j] for j in (k, *own))
            found[k] = min(by_inverse, by_rows)
        return found

    def _slope(self, k: int, i: int) -> float:
        """A word of L, at most."""
        return self._size("L", k, i) + self._error("L", k, i)

    def _size(self, kind: str, *place: int) -> float:
        factor, node = self.signals.get(spell(kind, *place), (0.0, None))
        return abs(factor) * self.largest[node] if node else 0.0

    def _error(self, kind: str, *place: int) -> float:
        factor, node = self.signals.get(spell(kind, *place), (0.0, None))
        return abs(factor) * self.errors[node] if node else 0.0

    def _off(self, k: int, i: int, kind: str) -> float:
        """The error bound of an entry of D L (H), or of L."""
        if k == i:
            return self._error(kind, k, i) if kind == "H" else 0.0
        if kind == "L":
            return self._error("L", k, i)
        return self._error("H", k, i) * (k not in self.factors.constant) + (
            self._pivot(k) * self._beside_H(k, i)
        )

    @cached_property
    def _E(self) -> dict[tuple[int, int], float]:
        """E, of words of L as they are: D_k (L* L*ᵀ - L Lᵀ) more for each row. L is that of M where
        the pivot is a constant, else what the words of H and D make."""
        factors, E = self.factors, dict(self.entries)
        for k, own in factors.columns.items():
            pivot, above = self._pivot(k), sorted(own)
            off = {i: self._beside_H(k, i) for i in above}
            size = {i: self._slope(k, i) for i in above}
            for i in above:
                E[k, i] = E.get((k, i), 0.0) + pivot * off[i]
                for j in (j for j in above if j <= i):
                    more = off[i] * size[j] + size[i] * off[j] + off[i] * off[j]
                    E[i, j] = E.get((i, j), 0.0) + pivot * more
        return E

    def _pivot(self, k: int) -> float:
        """The word of D_k, at most."""
        if k in self.factors.constant:
            return self.factors.constant[k]
        return self._size("H", k, k) + self._error("H", k, k)

    def _beside_H(self, k: int, i: int) -> float:
        """The error bound of a word of L, besides those of H."""
        if k in self.factors.constant:
            return self._error("L", k, i)
        factor, node = self.signals.get(spell("L", k, i), (0.0, None))
        return abs(factor) * self.alone.get(node, math.inf) if node else math.inf

    def _in_sum(self, n: int, k: int, first: str, made: str) -> float:
        """The rounding error of a sum in solving with L; infinite for any other graph.

        The sum is y_k = b_k - Σ L_jk y_j, over rows j below, or x_k = z_k - Σ L_ki x_i.
        """
        name = spell(made, n, k)
        if name not in self.signals:
            return math.inf if name in self.graph.known else 0.0
        by, node = self.signals[name]
        expected: dict[tuple[Node, ...], float] = {}

        def expect(factor: float, *nodes: Node) -> None:
            place = tuple(sorted(nodes, key=lambda own: own.index))
            expected[place] = expected.get(place, 0.0) + factor

        if spell(first, n, k) in self.signals:
            factor, own = self.signals[spell(first, n, k)]
            expect(factor, own)
        below = self.factors.hanging[k] - {k}
        pairs = [(c, k, c) for c in below] if made == "y" else []
        pairs += [(k, i, i) for i in self.factors.columns[k]] if made == "x" else []
        for row, column, of in pairs:
            slope, other = spell("L", row, column), spell(made, n, of)
            if slope in self.signals and other in self.signals:
                (p, a), (q, b) = self.signals[slope], self.signals[other]
                expect(-p * q, a, b)
        error, left = 0.0, {node: by}
        while left:
            node = max(left, key=lambda own: own.index)
            by = left.pop(node)
            args = tuple(sorted(node.args, key=lambda own: own.index))
            place = (node,) if (node,) in expected else args if node.op is Op.MUL else ()
            if place in expected:
                expected[place] -= by
                error += abs(by) * self.own[node] if place == args else 0.0
                continue
            parts = parts_of(node)
            if not parts:
                return math.inf
            error += abs(by) * self.own[node]
            for factor, arg in parts:
                left[arg] = left.get(arg, 0.0) + by * factor
        return math.inf if any(expected.values()) else error

    def _alone(self, n: int, k: int, off: float) -> float:
        """γ_k: what is rounded off in z_k = y_k / D_k, and in the sum that x_k is; y being ``off``
        by so much."""
        names = spell("y", n, k), spell("z", n, k), spell("H", k, k)
        error = self._in_sum(n, k, "z", "x")
        if names[1] not in self.signals:
            return math.inf if names[1] in self.graph.known else error
        (of_y, y), (by, z) = (self.signals[name] for name in names[:2])
        if y is z:
            return error
        exact, sizes = {y: 0.0}, {y: self.largest[y] + off / abs(of_y)}
        if names[2] in self.signals:
            _, pivot = self.signals[names[2]]
            exact[pivot], sizes[pivot] = 0.0, self.largest[pivot] + self.errors[pivot]
        # constants that are moved multiply the word of y, beside which y itself may be less
        more = sizes[y] / self.largest[y] if self.largest[y] else math.inf
        return error + abs(by) * between(exact, sizes, self.lowest, z, self.own) * more


def parts_of(node: Node) -> tuple[Signal, ...]:
    """The terms of a sum, or of a multiple."""
    match node.op:
        case Op.ADD:
            return tuple((1.0, arg) for arg in node.args)
        case Op.SUB:
            return (1.0, node.args[0]), (-1.0, node.args[1])
        case Op.NEG:
            return ((-1.0, node.args[0]),)
        case Op.MULC:
            return ((node.value, node.args[0]),)
    return ()
