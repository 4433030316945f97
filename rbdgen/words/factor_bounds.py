"""Bounds behind the reciprocals of M's pivots, from the factorisation M = Lᵀ D L.

`rbdgen.dynamics.pivot_bounds` computes the bounds of a robot's M that proofs take.

Bounds of operands lose too much there: a pivot is a small difference. But M is that of a robot. Its
pivots are no smaller than inertias of a few bodies (``PivotBounds``), and Schur complements S of a
matrix that is positive definite have S_ki² ≤ S_kk S_ii and are no larger than it.

Constants that are moved, and words that are rounded, make factors that are exactly those of another
M + E: see ``backward``. Each x_i² ≤ (M⁻¹)_ii xᵀMx. So with

    δ = Σ_ij |E_ij| √((M⁻¹)_ii (M⁻¹)_jj)        (1 - δ) M ≤ M + E ≤ (1 + δ) M

and Schur complements, which are monotone, are off by no more than δ of themselves.

Signals are ``known`` in a graph by names, of coordinates k and i, j on the way from it to the base:

    M[k,i]         of M
    H[k,i]         row k when it is eliminated: M[k,i] less the shares of all coordinates below it
    L[k,i]         H[k,i] / H[k,k]
    share[k,i,j]   L[k,i] H[k,j], what k's elimination takes from entry i, j
    X[k,j]         an entry of M⁻¹, made of those above it and row k of L
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TypeVar

from ..graph.evaluate import Interval
from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.word import indices, kind_of, spell
from .bounds import magnitudes
from .windows import Unit

ACCELERATIONS = 0  # the number of the column that forward dynamics solves for, see ``columns``


@dataclass(frozen=True)
class PivotBounds:
    """Bounds of a robot's M over all states.

    ``pivot[k]``: a lower bound of the articulated inertia at coordinate k, with all joints below it
    free. ``inverse[k]``: an upper bound of the entry k, k of M⁻¹. A coordinate without a bound has
    no entry. ``accelerations[k]``: an upper bound of |q̈| where efforts are inputs: they are the
    efforts of such accelerations.
    """

    pivot: Mapping[int, float] = field(default_factory=dict)
    inverse: Mapping[int, float] = field(default_factory=dict)
    accelerations: Mapping[int, float] = field(default_factory=dict)


NO_BOUNDS = PivotBounds()


MOST_MOVED = 1 / 16  # δ of pivots by constants, at most
ROUNDING = 1e-12  # relative: what float64 has put in a graph's constants

Name = TypeVar("Name", int, str)
Signal = tuple[float, Node]  # so many times a node
Entries = Mapping[tuple[int, int], float]  # of a lower triangle


@dataclass(frozen=True)
class OffColumns:
    """Error bounds of solved columns.

    ``delta``: δ of M, by the first coordinate of each tree. ``signals``: errors, and ``alone`` what
    is beside those of factors and of b, both by names: see ``columns``.
    """

    delta: Mapping[int, float] = field(default_factory=dict)
    signals: Mapping[str, float] = field(default_factory=dict)
    alone: Mapping[str, float] = field(default_factory=dict)

    def further(self, off: OffColumns) -> OffColumns:
        """Both, one after the other."""
        return OffColumns(
            added(self.delta, off.delta),
            added(self.signals, off.signals),
            added(self.alone, off.alone),
        )


@dataclass(frozen=True)
class Off:
    """Error bounds of factors of M.

    ``pivots[k]``, ``rows[k]``: δ of D_k, and of row k with what stands above it. ``errors``: of
    signals, at most; ``relative``: of pivots, to what they are; ``alone``: of L, beside that of H.
    ``inverse``: of M⁻¹'s entries to what they are at most, by the first coordinate of each tree.
    ``entries``: E. ``columns``: of what is solved for.
    """

    pivots: Mapping[int, float] = field(default_factory=dict)
    rows: Mapping[int, float] = field(default_factory=dict)
    errors: Mapping[Node, float] = field(default_factory=dict)
    relative: Mapping[Node, float] = field(default_factory=dict)
    alone: Mapping[Node, float] = field(default_factory=dict)
    inverse: Mapping[int, float] = field(default_factory=dict)
    entries: Entries = field(default_factory=dict)
    columns: OffColumns = field(default_factory=OffColumns)


@dataclass(frozen=True)
class GraphFactors:
    """The factors in a graph.

    ``most[k]``: M_kk, at most; ``above[k]``: the columns of row k of L, of those k whose pivots are
    no constants. ``trees``: coordinates that M connects, of which M⁻¹ has entries. ``moved``: how
    far constants have moved them.

    ``constant[k]``: pivots that are constants, and ``beside[k]`` the columns of their rows;
    ``M``: magnitudes of entries, at most. Those are for what is solved for.
    """

    pivot_bounds: PivotBounds
    most: Mapping[int, float]
    above: Mapping[int, frozenset[int]]
    trees: tuple[frozenset[int], ...] = ()
    moved: Off = field(default_factory=Off)
    constant: Mapping[int, float] = field(default_factory=dict)
    beside: Mapping[int, frozenset[int]] = field(default_factory=dict)
    M: Entries = field(default_factory=dict)

    def further(self, off: Off) -> GraphFactors:
        """The same, ``off`` by as much more: rows that are too far off are left out."""
        before = self.moved
        pivots, rows, inverse = (
            {k: more + so_far.get(k, 0.0) for k, more in own.items()}
            for own, so_far in (
                (off.pivots, before.pivots),
                (off.rows, before.rows),
                (off.inverse, before.inverse),
            )
        )
        columns = before.columns.further(off.columns)
        small = {
            k: own for k, own in self.pivot_bounds.pivot.items() if pivots.get(k, 0.0) <= MOST_MOVED
        }
        pivot_bounds = replace(self.pivot_bounds, pivot=small)
        return replace(
            self,
            pivot_bounds=pivot_bounds,
            moved=Off(pivots, rows, inverse=inverse, columns=columns),
        )

    @cached_property
    def rows(self) -> list[int]:
        """The rows with enough bounds, the last first."""
        return [
            k
            for k in sorted(self.above, reverse=True)
            if k in self.pivot_bounds.pivot
            and all(
                i in self.pivot_bounds.inverse and math.isfinite(self.most.get(i, math.inf))
                for i in self.below[k] | self.above[k]
            )
        ]

    @cached_property
    def below(self) -> dict[int, frozenset[int]]:
        """Coordinate → itself and those whose rows it is in."""
        found = {k: {k} for k in self.above}
        for c, own in self.above.items():
            for k in own & found.keys():
                found[k].add(c)
        return {k: frozenset(own) for k, own in found.items()}

    def within(self, graph: Graph) -> dict[Node, Interval]:
        """Signal → where it is."""
        signals = signals_in(graph, graph.nodes)
        found: dict[Node, Interval] = {}

        def put(name: str, low: float, high: float) -> None:
            if name in signals:
                factor, node = signals[name]
                ends = sorted((low / factor, high / factor))
                before = found.get(node, (-math.inf, math.inf))
                found[node] = max(before[0], ends[0]), min(before[1], ends[1])

        for tree in self.known_trees:
            off = self.moved.inverse.get(min(tree), 0.0) + ROUNDING
            for k, j in product(tree, repeat=2) if off < 1 else ():
                size = self.entry(k, j) * (1 + off)
                put(spell("X", k, j), 0.0 if k == j else -size, size)
        for k in self.rows:
            off = self.moved.pivots.get(k, 0.0) + ROUNDING
            put(spell("H", k, k), self.pivot_bounds.pivot[k] * (1 - off), self.most[k] * (1 + off))
            off = self.moved.rows.get(k, 0.0) + ROUNDING
            for i in self.above[k] if off < 1 else ():
                size = self.size(k, i) * (1 + off)
                put(spell("H", k, i), -size, size)
                size = self.slope(k, i, off)
                put(spell("L", k, i), -size, size)
                for j in self.above[k]:
                    size = self.size(i, j) * (1 + off)
                    put(spell("share", k, i, j), 0.0 if i == j else -size, size)
        return found

    @cached_property
    def known_trees(self) -> list[frozenset[int]]:
        """The trees with enough bounds, δ being that of the pivot of the first coordinate."""
        return [
            tree
            for tree in self.trees
            if self.below.get(min(tree)) == tree & self.above.keys()
            and self.below[min(tree)] <= {*self.rows}
            and all(k in self.pivot_bounds.inverse and math.isfinite(self.most[k]) for k in tree)
        ]

    @cached_property
    def columns(self) -> dict[int, frozenset[int]]:
        """The columns of each row of L."""
        return {**self.above, **self.beside}

    @cached_property
    def hanging(self) -> dict[int, frozenset[int]]:
        """Coordinate → itself and those whose rows it is in, of all."""
        found = {k: {k} for k in self.columns}
        for c, own in self.columns.items():
            for k in own:
                found[k].add(c)
        return {k: frozenset(own) for k, own in found.items()}

    @cached_property
    def solving(self) -> list[frozenset[int]]:
        """Trees with which columns are solved for, and of which enough is known."""
        found: list[frozenset[int]] = []
        for k, above in self.columns.items():
            own = frozenset({k}) | above
            joined = [tree for tree in found if tree & own]
            found = [tree for tree in found if tree not in joined] + [own.union(*joined)]
        known = {*self.rows, *self.constant} & self.pivot_bounds.inverse.keys()
        known &= self.pivot_bounds.accelerations.keys()
        ordinary = {k for k in self.constant if self.hanging[k] <= self.constant.keys()}
        return sorted(
            (t for t in found if t <= known and not t & self.constant.keys() - ordinary), key=min
        )

    def moved_by(self, tree: frozenset[int]) -> float:
        """The relative change δ of a tree's M by rounded constants."""
        return self.moved.columns.delta.get(min(tree), 0.0)

    def ends_of_pivot(self, k: int) -> Interval:
        """The lower and the upper bound of D_k."""
        if k in self.constant:
            return self.constant[k], self.constant[k]
        return self.pivot_bounds.pivot[k], self.most[k]

    def of_M(self, k: int, j: int) -> float:
        """The magnitude of an entry of M, at most."""
        return self.M.get((max(k, j), min(k, j)), 0.0)

    def entry(self, k: int, j: int) -> float:
        """An entry of M⁻¹, at most."""
        return math.sqrt(self.pivot_bounds.inverse[k] * self.pivot_bounds.inverse[j])

    def is_moved(self, k: int) -> float:
        """The relative change of row k, and of its pivot, by rounded constants."""
        return max(self.moved.rows.get(k, 0.0), self.moved.pivots.get(k, 0.0))

    def delta(self, E: Entries, places: Iterable[tuple[int, int]]) -> float:
        """Σ |E_jl| √(M⁻¹_jj M⁻¹_ll) over places j, l."""
        u = self.pivot_bounds.inverse
        return sum(E.get((max(j, l), min(j, l)), 0.0) * math.sqrt(u[j] * u[l]) for j, l in places)

    def size(self, k: int, i: int) -> float:
        """A Schur complement's entry k, i, at most."""
        return math.sqrt(self.most[k] * self.most[i])

    def slope(self, k: int, i: int, off: float) -> float:
        """|L_ki|, at most."""
        return math.sqrt(self.most[i] / self.pivot_bounds.pivot[k] * (1 + off) / (1 - off))


def factors_of(
    graph: Graph, limits: Mapping[str, Interval], units: Sequence[Unit], pivot_bounds: PivotBounds
) -> GraphFactors:
    """The factors in a graph as it was traced; of no rows, if there are none.

    Of rows whose pivots are constants nothing needs to be known: they are ordinary sums.
    """
    signals = signals_in(graph, graph.nodes)
    above: dict[int, set[int]] = {}
    for name in signals:
        if kind_of(name) == "H" and spell("H", k := indices(name)[0], k) in signals:
            above.setdefault(k, set()).update({indices(name)[1]} - {k})
    names = {_place(name): name for name in graph.known if kind_of(name) == "M"}
    M = {place: abs(graph.known[name].factor) for place, name in names.items()}
    if pivot_bounds.pivot:
        nodes = {name: signals[name][1] for name in names.values() if name in signals}
        sizes = magnitudes(Graph(graph.inputs, nodes), limits, units)
        for place, name in names.items():
            if graph.known[name].of is not None:
                M[place] *= sizes[nodes[name]] if name in nodes else math.inf
    most = {k: size for (k, i), size in M.items() if i == k}
    constant = {
        indices(name)[0]: own.factor
        for name, own in graph.known.items()
        if kind_of(name) == "H" and len({*indices(name)}) == 1 and own.of is None and own.factor > 0
    }
    beside: dict[int, set[int]] = {k: set() for k in constant}
    unknown: set[int] = set()  # rows with entries that are no signals
    for name in graph.known:
        if kind_of(name) == "L" and indices(name)[0] in constant:
            k, i = indices(name)
            beside[k].add(i)
            unknown |= {k} if name not in signals else set()
    constant = {k: pivot for k, pivot in constant.items() if k not in unknown}
    pairs = [indices(name) for name in graph.known if kind_of(name) == "X"]
    own_trees = {frozenset(j for pair in pairs if k in pair for j in pair) for k, _ in pairs}
    trees = tuple(sorted((t for t in own_trees if not any(t < o for o in own_trees)), key=min))
    return GraphFactors(
        pivot_bounds,
        most,
        {k: frozenset(own) for k, own in above.items()},
        trees,
        constant=constant,
        beside={k: frozenset(own) for k, own in beside.items()},
        M=M,
    )


def _place(name: str) -> tuple[int, int]:
    row, column = indices(name)
    return row, column


def added(a: Mapping[Name, float], b: Mapping[Name, float]) -> dict[Name, float]:
    """The sums of what either has."""
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in {**a, **b}}


def signals_in(graph: Graph, nodes: Iterable[Node]) -> dict[str, Signal]:
    """The named signals of a graph among ``nodes``."""
    there = set(nodes)
    return {
        name: (own.factor, own.of)
        for name, own in graph.known.items()
        if own.of is not None and own.of in there
    }
