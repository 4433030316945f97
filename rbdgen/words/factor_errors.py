"""Backward errors of factors: the change of M whose exact factors they are.

That is Wilkinson's backward error (Higham, *Accuracy and Stability of Numerical Algorithms*,
§10.1): each entry of E is what is rounded off in the sum that H[k,i] is, and in the shares that it
takes away, of rows that are as they are. Errors of rows do not add up from pivot to pivot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from ..graph.evaluate import Interval
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.word import indices, kind_of, spell
from .bounds import bounds
from .factor_bounds import (
    NO_BOUNDS,
    ROUNDING,
    GraphFactors,
    Off,
    OffColumns,
    PivotBounds,
    Signal,
    factors_of,
    signals_in,
)
from .solved_errors import KnownSignals, Rounded, parts_of
from .windows import Unit
from .word_errors import NOTHING, Errors, between, further, lowest_word, moving, rounding, summed

TWICE = 2.0  # of what entries of M⁻¹ are at most: what words are taken to be, until they are not


@dataclass(frozen=True, eq=False)
class Backward:
    """A graph with ``factors``. ``largest``, ``least``: of its signals over real numbers; ``own``:
    what each adds to errors, by its word or by constants that are ``moved`` by so much."""

    factors: GraphFactors
    graph: Graph
    largest: Errors
    least: Errors
    own: Errors
    moved: Errors = field(default_factory=dict)

    @cached_property
    def signals(self) -> dict[str, Signal]:
        return signals_in(self.graph, self.own)

    @cached_property
    def plain(self) -> Errors:
        """The errors of signals by their operands'."""
        return self._summed()

    def _summed(self, given: Errors = NOTHING, relative: Errors = NOTHING) -> dict[Node, float]:
        return summed(self.graph, self.largest, self.own, self.least, given, relative, self.moved)

    @cached_property
    def errors(self) -> Errors:
        """The same, with what is known of factors, and of columns that are solved for."""
        return self._solved[0]

    @property
    def columns(self) -> OffColumns:
        """Error bounds of solved columns."""
        return self._solved[1]

    @cached_property
    def _solved(self) -> tuple[Errors, OffColumns]:
        """Both: the first of columns is known before others, which may be made of it."""
        if not self.off.errors:
            return self.plain, OffColumns()
        known = {**self.off.errors, **self._off_inverse[1]}

        def errors() -> Errors:
            return self._summed(known, self.off.relative)

        found, off = errors(), OffColumns()
        rounded = self._rounded(found)
        delta = {min(tree): delta for tree, delta in rounded.deltas.items()}
        off = OffColumns(delta)
        for numbers in (rounded.numbers[:1], rounded.numbers[1:]):
            for n in numbers:
                off = off.further(rounded.column(n))
            for name, error in off.signals.items():
                factor, node = self.signals[name]
                known[node] = min(known.get(node, math.inf), error / abs(factor))
            if numbers:
                found = errors()
                rounded = self._rounded(found)
        return found, off

    def _rounded(self, errors: Errors) -> Rounded:
        lowest: dict[Node, float] = {}
        for k in self.factors.rows:
            _, node = self.signals[spell("H", k, k)]
            lowest[node], _ = lowest_word(node, self.least, errors, self.off.relative)
        return Rounded(
            self.factors,
            self.graph,
            self.signals,
            self.largest,
            self.own,
            errors,
            self.off.entries,
            self.off.alone,
            lowest,
        )

    @property
    def inverse(self) -> dict[int, float]:
        """How far M⁻¹'s entries are off, relative to what they are at most, by the first coordinate
        of each tree."""
        return self._off_inverse[0]

    @cached_property
    def _off_inverse(self) -> tuple[dict[int, float], dict[Node, float]]:
        """The same, and the errors of the entries: from L M⁻¹ = D⁻¹ L⁻ᵀ, row by row from the root.

        Let words of L and D be exactly those of M + E, and ρ_kj what is rounded off in the sum that
        entry k, j of M⁻¹ is. Then its words are (M + E)⁻¹ + X, and L X Lᵀ = Q is symmetric, with
        Q_kj = Σ_i ρ_ki L_ji for i ≤ j ≤ k. So X_ab = v_aᵀ B v_b with v_a = D^-½ L⁻ᵀ e_a, as long as
        √(M + E)⁻¹_aa is, and |B_kj| = √D_k √D_j |Q_kj| ≤ √M_kk Σ_i |ρ_ki| √M_ii.
        """
        trees, shares, errors = self.factors.known_trees, dict[int, float](), dict[Node, float]()
        if not trees:
            return shares, errors
        off = self.off
        plain = self._summed(off.errors, off.relative)
        behind = _behind_reciprocals(self.graph)
        exact = {node: plain[node] for node in self.graph.nodes if node not in behind}
        sizes = {node: self.largest[node] + error for node, error in exact.items()}
        lowest: dict[Node, float] = {}
        for name, (_, node) in self.signals.items():
            kind, k = kind_of(name), indices(name)[0]
            if node in behind and kind in ("H", "L") and k in self.factors.rows:
                exact[node] = off.alone.get(node, math.inf) if kind == "L" else 0.0
                sizes[node] = self.largest[node] + plain[node]
        for k in self.factors.rows:
            _, node = self.signals[spell("H", k, k)]
            exact[node], sizes[node] = 0.0, self.largest[node] + plain[node]
            lowest[node], _ = lowest_word(node, self.least, plain, off.relative)
        for tree in trees:
            root = min(tree)
            shares[root] = share = self._share(tree, exact, sizes, lowest)
            for (k, j), (factor, node) in self._entries(tree).items():
                errors[node] = share * self.factors.entry(k, j) / abs(factor)
        return shares, errors

    def _entries(self, tree: frozenset[int]) -> dict[tuple[int, int], Signal]:
        """The entries of M⁻¹ of a tree that are signals."""
        places = {spell("X", k, j): (k, j) for k, j in product(tree, repeat=2)}
        return {place: self.signals[name] for name, place in places.items() if name in self.signals}

    def _share(self, tree: frozenset[int], exact: Errors, sizes: Errors, lowest: Errors) -> float:
        """How far M⁻¹'s entries of a tree are off, relative to what they are at most; infinite if
        they are not small, or are not what they are called."""
        factors, entries, root = self.factors, self._entries(tree), min(tree)
        before, moved = factors.moved.inverse.get(root, 0.0), factors.is_moved(root)
        delta = self.off.pivots[root] * (1 + before)
        named = sum(spell("X", *place) in self.graph.known for place in product(tree, repeat=2))
        alike = len({node for _, node in entries.values()}) < len(entries)
        if not (delta < 1 and moved < 1) or alike or len(entries) < named:
            return math.inf
        found, known = dict(exact), dict(sizes)
        for (k, j), (factor, node) in entries.items():
            found[node], known[node] = 0.0, TWICE * factors.entry(k, j) / abs(factor)
        rho = {
            (k, j): between(found, known, lowest, node, self.own) * abs(factor) * factors.size(k, j)
            for (k, j), (factor, node) in entries.items()
        }
        B = {
            (k, j): sum(rho.get((k, i), 0.0) for i in tree if i <= j)
            for k, j in product(tree, repeat=2)
            if j <= k
        }
        norm = math.sqrt(sum((1 if k == j else 2) * b**2 for (k, j), b in B.items()))
        wide = (1 + moved) * (1 + delta) * (1 + before)
        share = (delta + norm * wide) / (1 - delta) * (1 + before)
        return share if before + share <= TWICE - 1 else math.inf

    @cached_property
    def off(self) -> Off:
        """Error bounds of factors; infinite where the graph is not what its names say."""
        factors, E = self.factors, dict[tuple[int, int], float]()
        pivots, rows = dict[int, float](), dict[int, float]()
        errors, alone, relative = (dict[Node, float]() for _ in range(3))

        def put(name: str, error: float) -> None:
            if name in self.signals:
                factor, node = self.signals[name]
                errors[node] = min(errors.get(node, math.inf), error / abs(factor))

        for k in factors.rows:
            above, below, moved = factors.above[k], factors.below[k], factors.is_moved(k)
            for i in (k, *above):
                E[k, i] = self._entry(k, i, alone) + ROUNDING * factors.size(k, i)
            pivots[k] = factors.delta(E, product(below, below))
            beside = [2 * factors.delta(E, product([i], below)) for i in above]
            rows[k] = pivots[k] + max(beside, default=0.0)
            off = pivots[k] / (1 - moved) if pivots[k] < 1 > moved else math.inf
            put(spell("H", k, k), off * (1 + moved) * factors.most[k])
            if spell("H", k, k) in self.signals:
                relative[self.signals[spell("H", k, k)][1]] = off
            off = _relative(rows[k], moved)
            for i in above:
                put(spell("H", k, i), off * factors.size(k, i))
                if off < 1:
                    put(spell("L", k, i), 2 * off / (1 - off) * factors.slope(k, i, moved))
            made = self._alone(k, (1 + moved) * (1 + off), errors, relative)
            alone |= made
            for _, node in filter(None, (self.signals.get(spell("L", k, i)) for i in above)):
                errors[node] = errors.get(node, math.inf) + made[node]
        return Off(pivots, rows, errors, relative, alone, entries=E)

    def _entry(self, k: int, i: int, alone: Errors) -> float:
        """E_ki, given what is rounded off in each share ``alone``."""
        if spell("H", k, i) not in self.signals:
            return math.inf
        by, node = self.signals[spell("H", k, i)]
        expected: dict[Node, float] = {}
        error = 0.0
        for c in self.factors.below[k] - {k}:
            name = spell("share", c, k, i)
            if name in self.signals and self.signals[name][1] in alone:
                factor, share = self.signals[name]
                expected[share] = expected.get(share, 0.0) - factor
                error += abs(factor) * alone[share]
            elif i == k or i in self.factors.above[c]:
                return math.inf
        left, terms = {node: by}, dict[Node, float]()
        while left:
            node = max(left, key=lambda own: own.index)
            by = left.pop(node)
            parts = () if node in expected else parts_of(node)
            for factor, arg in parts:
                left[arg] = left.get(arg, 0.0) + by * factor
            if parts:
                error += abs(by) * (self.own[node] + further(node, self.plain, self.moved))
            else:
                terms[node] = by
        for share, factor in expected.items():
            terms[share] = terms.get(share, 0.0) - factor
        if any(by and node in alone for node, by in terms.items()):  # another's share
            return math.inf
        return error + sum(abs(by) * self.plain[node] for node, by in terms.items() if by)

    def _alone(self, k: int, wide: float, errors: Errors, relative: Errors) -> dict[Node, float]:
        """Rounding errors in row k of L, and in shares, for words of row k as they are.

        Infinite if anything else enters them. The worst of all pivots counts, octave by octave:
        where they are small, so is H[k,i]. ``wide``: the factor by which rounding may enlarge M's
        diagonal.
        """
        factors, signals = self.factors, self.signals
        names = [spell("L", k, i) for i in factors.above[k]]
        names += [spell("share", k, i, j) for i, j in product(factors.above[k], repeat=2)]
        made = {signals[name][1]: 0.0 for name in names if name in signals}
        if spell("H", k, k) not in signals:
            return dict.fromkeys(made, math.inf)
        _, pivot = signals[spell("H", k, k)]
        low, most = self.least[pivot] * (1 - relative[pivot]), self.largest[pivot] + errors[pivot]
        if not 0 < low <= most < math.inf:
            return dict.fromkeys(made, math.inf)
        while low <= most:
            high = min(2 * low, most)
            row, sizes = [pivot], {pivot: high}
            for i in factors.above[k]:
                size = math.sqrt(factors.most[i] * wide)
                for kind, by in (("H", math.sqrt(high)), ("L", 1 / math.sqrt(low))):
                    factor, node = signals.get(spell(kind, k, i), (1.0, pivot))
                    if node in errors and node is not pivot:
                        known = self.largest[node] + errors[node]
                        sizes[node] = min(size * by / abs(factor), known)
                        row += [node] if kind == "H" else []
            for node, error in made.items():
                made[node] = max(
                    error, between(dict.fromkeys(row, 0.0), sizes, {pivot: low}, node, self.own)
                )
            low *= 2
        return made


def factors_in(
    fixed: FixedGraph,
    limits: Mapping[str, Interval],
    units: Sequence[Unit],
    pivot_bounds: PivotBounds,
    whole: bool = False,
) -> tuple[GraphFactors, list[Backward]]:
    """The factors in a graph in words, and what its constants were moved by, graph by graph.

    ``whole``: of whole graphs, not only as far as factors need it.
    """
    before = fixed.before or ()
    if fixed.before is None:  # nobody knows what was moved
        pivot_bounds = NO_BOUNDS
    factors = factors_of(before[0][0] if before else fixed.graph, limits, units, pivot_bounds)
    steps: list[Backward] = []
    for graph, by in before:
        part = graph
        if not whole:
            known = {name: node for name, (_, node) in signals_in(graph, graph.nodes).items()}
            part = Graph(graph.inputs, known if factors.rows else {}, known=graph.known)
        largest, least = ends_of(bounds(part, limits, units, KnownSignals(factors, part)))
        own = moving(part, largest, by)
        steps.append(Backward(factors, part, largest, least, own, by))
        at = steps[-1]
        factors = factors.further(replace(at.off, inverse=at.inverse, columns=at.columns))
    return factors, steps


def in_words(fixed: FixedGraph, of: Mapping[Node, Interval], factors: GraphFactors) -> Backward:
    """The same of words; ``of``: the intervals of their real numbers."""
    largest, least = ends_of(of)
    return Backward(factors, fixed.graph, largest, least, rounding(fixed, largest))


def ends_of(of: Mapping[Node, Interval]) -> tuple[dict[Node, float], dict[Node, float]]:
    """The largest magnitude of each node, and its lowest value."""
    return {n: max(map(abs, own)) for n, own in of.items()}, {n: own[0] for n, own in of.items()}


def _relative(delta: float, moved: float) -> float:
    """Error bounds of Schur complements, relative to their largest values."""
    return delta / (1 - moved) * (1 + moved) if delta < 1 and moved < 1 else math.inf


def _behind_reciprocals(graph: Graph) -> set[Node]:
    found: set[Node] = set()
    for node in graph.nodes:
        if node.op is Op.MANTISSA or node.op is Op.EXPONENT or any(a in found for a in node.args):
            found.add(node)
    return found
