"""The factors of M⁻¹ that an accelerator multiplies column by column, and where that saves work.

M = Lᵀ D L with L unit lower triangular (Featherstone, RBDA §6.4), so with W = L⁻¹

    M⁻¹ = (W D⁻¹) Wᵀ.

W has entries where L has: of a coordinate's row for those on its way to the root. One stage finds W
and V = W D⁻¹, with about half of the additions that M⁻¹ takes of which all columns are found at
once; the next one multiplies them (`matrix_rows`).
"""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from ..design.arrays import given_coordinates
from ..dynamics.elimination import Elimination
from ..dynamics.interface import random_inputs
from ..dynamics.scalars import Scalar
from ..dynamics.spatial import is_zero
from ..dynamics.steps import Inline
from ..graph.evaluate import evaluate
from ..graph.graph import Graph
from ..graph.node import Builder, Op
from ..graph.verify import verify
from ..graph.word import indices, kind_of, spell
from .front import Front

INVERSE = "inverse"
MANY = 2000  # additions of M⁻¹: where there are fewer, a stage more takes what columns save
FEWER = 0.5  # of the additions of the whole, at most: factors take a stage more, and its cycles
NOTHING = 1e-18  # of M⁻¹'s diagonal entry: what is less comes of rounding
SAMPLES, SEED = 16, 7


def rows_of(factors: Graph) -> dict[int, list[int]]:
    """Coordinate → those on its way to the root, itself last: where W, and V, have entries."""
    found: dict[int, list[int]] = {}
    for name in factors.outputs:
        if kind_of(name) == "W":
            row, column = indices(name)
            found.setdefault(row, []).append(column)
    return found


def additions_of(factors: Graph) -> int:
    """Additions of the factors W and V, and of a column of their product."""
    rows = rows_of(factors)
    return factors.operations()["add"] + sum(map(len, rows.values())) - len(rows)


def factors_that_save(front: Front, additions: int, interval: int) -> Graph | None:
    """The factors of M⁻¹, ``W[k,j]`` and ``V[k,j]`` of entries of M.

    M⁻¹ takes so many ``additions`` at once. None where the factors save too few of them, or where
    an ``interval`` has no room for all columns.
    """
    if additions < MANY or not any(kind_of(name) == "Minv" for name in front.graph.outputs):
        return None
    own = _factors(front, frozenset())
    own = _factors(front, _zeros(front, own))
    saves = len(rows_of(own)) <= interval and additions_of(own) <= FEWER * additions
    return own if saves else None


def _zeros(front: Front, own: Graph) -> frozenset[tuple[int, int]]:
    """The entries of W that are zero in any state, though M has none there: a floating base's.

    An entry adds V_kj W_kj to M⁻¹_kk.
    """
    anything = random_inputs(front.canonical, front.graph.inputs, SAMPLES, SEED)
    masses = Graph(front.graph.inputs, {n: front.graph.outputs[n] for n in own.inputs})
    found = evaluate(own, evaluate(masses, anything))
    share = {
        (k, j): float(np.max(found[spell("V", k, j)] * found[spell("W", k, j)]))
        for k, row in rows_of(own).items()
        for j in row
    }
    largest = {k: max(share[k, j] for j in row) for k, row in rows_of(own).items()}
    return frozenset((k, j) for (k, j), own in share.items() if own < NOTHING * largest[k])


def _factors(front: Front, zeros: Container[tuple[int, int]]) -> Graph:
    """W and V of the lower triangle of M, without W's ``zeros``."""
    masses = {n: node for n, node in front.graph.outputs.items() if kind_of(n) == "M"}
    order, nv = _order(front), front.canonical.nv
    builder = Builder()
    M: list[list[Scalar]] = [[0.0] * nv for _ in range(nv)]
    for name, node in masses.items():
        i, j = indices(name)
        M[i][j] = node.value if node.op is Op.CONST else builder.input(name)
    found = Elimination.of(Inline(builder), M, order)
    W: dict[int, dict[int, Scalar]] = {}
    outputs = {}
    for k in order:
        with builder.in_region((INVERSE, order[k])):
            row: dict[int, Scalar] = {}
            for i, entry in found.L(k).items():  # W_k = e_k - Σ L_ki W_i
                for j, other in W[i].items():
                    row[j] = row.get(j, 0.0) - entry * other
            row = {
                j: value
                for j, value in sorted(row.items())
                if not is_zero([value]) and (k, j) not in zeros
            }
            W[k] = {**row, k: 1.0}
            for j, value in W[k].items():
                outputs[spell("V", k, j)] = builder.lift(value * found.rows[j].inverse)
                outputs[spell("W", k, j)] = builder.lift(value)
    inputs = tuple(name for name, node in masses.items() if node.op is not Op.CONST)
    return verify(Graph(inputs, outputs))


def _order(front: Front) -> dict[int, int]:
    """Coordinate → its joint, root first."""
    given, at = given_coordinates(front.design, front.robot), front.canonical.v_slices
    return {k: i for i, own in at.items() for k in range(own.start, own.stop) if k >= given}
