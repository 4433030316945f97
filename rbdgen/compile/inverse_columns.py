"""M⁻¹ of an accelerator column by column, where that builds few of its additions.

M = Lᵀ D L with L unit lower triangular (Featherstone, RBDA §6.4), so with W = L⁻¹

    M⁻¹ = (W D⁻¹) Wᵀ.

W has entries where L has: of a coordinate's row for those on its way to the root. One stage finds W
and V = W D⁻¹, with about half of the additions that M⁻¹ takes of which all columns are found at
once. In the next one a column is as many dot products as M⁻¹ has rows, of V, the same for every
column, with a row of W. One datapath of those serves all columns in turn.

The row of W is what a multiplier's other operand is chosen by, so all rows have one binary point,
after powers of two: with 2^s about the root of M⁻¹'s diagonal entry a row is scaled by 2^-s, and
its column of M⁻¹, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

import numpy as np

from ..design.arrays import given_coordinates
from ..dynamics.factorisation import factorise
from ..dynamics.interface import random_inputs
from ..dynamics.scalars import Scalar
from ..dynamics.spatial import is_zero
from ..graph.evaluate import evaluate
from ..graph.graph import Graph
from ..graph.node import Builder, Op
from ..graph.verify import verify
from ..graph.visits import LIMB, Program, Result, Signed, in_turn, once, then
from ..graph.word import indices, kind_of, spell
from ..passes.along import GivenAlong
from ..passes.climbs import joined
from ..passes.given import Given
from ..passes.instances import instantiate
from ..passes.pieces import Piece
from ..system.progress import Progress
from ..tasks.visit import FACTORS, parse, part_of
from .forward_rows import in_rows
from .front import Front
from .words import as_designed, with_outputs

INVERSE, FORWARD = "inverse", "forward"
OF_FACTORS = part_of(INVERSE, FACTORS)
REGION = (INVERSE, 0)
MANY = 2000  # additions of M⁻¹: where there are fewer, a stage more takes what columns save
FEWER = 0.5  # of the additions of the whole, at most: factors take a stage more, and its cycles
NOTHING = 1e-18  # of M⁻¹'s diagonal entry: what is less comes of rounding
SAMPLES, SEED = 16, 7
FURTHER = 2000  # states of each column, beside the extremes
NEARLY = 1 - 2.0**-12  # words end before a power of two, so that who reads them needs no bit more


@dataclass(frozen=True)
class _Factors:
    """``rows``: coordinate → those on its way to the root, itself last; ``graph``: W and V of M."""

    rows: Mapping[int, list[int]]
    graph: Graph


def inverse_in_columns(
    front: Front,
    pieces: Mapping[str, Piece],
    searched: Callable[[], Given],
    interval: int,
    progress: Progress,
) -> tuple[dict[str, Piece], int, str] | None:
    """The ``pieces`` with M⁻¹ as columns in turn, its interval, and a note of what that saves.

    None where it has no room for all columns in ``interval`` cycles, where limbs take turns in M⁻¹,
    where other stages than q̈'s read of M⁻¹'s, or where that saves too few additions.
    """
    before = [own for name, own in pieces.items() if parse(name).step == INVERSE]
    additions = sum(piece.fixed.graph.operations()["add"] for piece in before)
    readers = {
        name
        for name, piece in pieces.items()
        if parse(name).step != INVERSE
        and any(parse(of).step == INVERSE for of in piece.reads.values())
    }
    if any(piece.program for piece in before) or readers - {FORWARD}:
        return None
    saving = _saving(front, additions, interval)
    if saving is None:
        return None
    own, left = saving
    entries = [n for n in front.graph.outputs if kind_of(n) == "Minv"]
    columns = list(own.rows)
    terms = sum(map(len, own.rows.values()))
    progress("columns of M⁻¹")
    words = as_designed(front, progress)
    given = with_outputs(front.graph, searched(), [*own.graph.inputs, *entries])
    limbs = _visits(own.rows, entries, given)
    along = GivenAlong(then(once(FACTORS, own.graph), limbs, front.graph.inputs), given)
    factors = words(own.graph, along.of(FACTORS))
    along.made(FACTORS, factors, rounded=True)  # small ones may be off by more than they are
    samples, extremes = along.states["samples"], along.states["extremes"]
    more = {name: values[-FURTHER:] for name, values in samples.items()}
    along.states["extremes"] = dict(joined(extremes, more))
    along.limits |= {
        word: (NEARLY * low, NEARLY * high)
        for word, (low, high) in along.limits.items()
        if isinstance(word, Result)
    }
    template = words(limbs.templates[LIMB], along.of(LIMB, thinned=True))
    made = instantiate(limbs, {LIMB: template})
    new = {INVERSE: Piece(made.whole, dict.fromkeys(made.whole.inputs, OF_FACTORS), made)}
    if FORWARD in pieces:
        new[FORWARD] = in_rows(front.graph.inputs, entries, given, words)
    found = {
        n: new.get(n, own) for n, own in pieces.items() if n in new or parse(n).step != INVERSE
    }
    givers = {name: stage for stage, own in found.items() for name in own.fixed.graph.outputs}
    reads = {name: givers[name] for name in factors.inputs}
    found = _before(found, INVERSE, OF_FACTORS, Piece(factors, reads))
    turn = interval // len(columns) * len(columns)
    note = (
        f"columns of M⁻¹ take turns in {INVERSE}, one of {len(columns)} after the other, with "
        f"{terms} products at a time; {left} of {additions} additions"
    )
    return found, turn, note


def saves(front: Front, additions: int, interval: int) -> bool:
    """Whether M⁻¹ of so many ``additions`` goes column by column in an ``interval``."""
    return _saving(front, additions, interval) is not None


def _saving(front: Front, additions: int, interval: int) -> tuple[_Factors, int] | None:
    """The factors, and the additions that are left; None where that saves too few."""
    if additions < MANY or not any(kind_of(name) == "Minv" for name in front.graph.outputs):
        return None
    own = _factors(front, frozenset())
    own = _factors(front, _zeros(front, own))
    terms = sum(map(len, own.rows.values()))
    left = own.graph.operations()["add"] + terms - len(own.rows)
    return (own, left) if len(own.rows) <= interval and left <= FEWER * additions else None


def _zeros(front: Front, own: _Factors) -> frozenset[tuple[int, int]]:
    """The entries of W that are zero in any state, though M has none there: a floating base's.

    An entry adds V_kj W_kj to M⁻¹_kk.
    """
    anything = random_inputs(front.canonical, front.graph.inputs, SAMPLES, SEED)
    masses = Graph(front.graph.inputs, {n: front.graph.outputs[n] for n in own.graph.inputs})
    found = evaluate(own.graph, evaluate(masses, anything))
    share = {
        (k, j): float(np.max(found[spell("V", k, j)] * found[spell("W", k, j)]))
        for k, row in own.rows.items()
        for j in row
    }
    largest = {k: max(share[k, j] for j in row) for k, row in own.rows.items()}
    return frozenset((k, j) for (k, j), own in share.items() if own < NOTHING * largest[k])


def _factors(front: Front, zeros: Container[tuple[int, int]]) -> _Factors:
    """W and V of the lower triangle of M, without W's ``zeros``."""
    masses = {n: node for n, node in front.graph.outputs.items() if kind_of(n) == "M"}
    order, nv = _order(front), front.canonical.nv
    builder = Builder()
    M: list[list[Scalar]] = [[0.0] * nv for _ in range(nv)]
    for name, node in masses.items():
        i, j = indices(name)
        M[i][j] = node.value if node.op is Op.CONST else builder.input(name)
    found = factorise(builder, M, order)
    W: dict[int, dict[int, Scalar]] = {}
    outputs = {}
    for k in order:
        with builder.in_region((INVERSE, order[k])):
            row: dict[int, Scalar] = {}
            for i, entry in found.L[k].items():  # W_k = e_k - Σ L_ki W_i
                for j, other in W[i].items():
                    row[j] = row.get(j, 0.0) - entry * other
            row = {
                j: value
                for j, value in sorted(row.items())
                if not is_zero([value]) and (k, j) not in zeros
            }
            W[k] = {**row, k: 1.0}
            for j, value in W[k].items():
                outputs[spell("V", k, j)] = builder.lift(value * found.D_inverse[j])
                outputs[spell("W", k, j)] = builder.lift(value)
    inputs = tuple(name for name, node in masses.items() if node.op is not Op.CONST)
    graph = verify(Graph(inputs, outputs))
    return _Factors({k: list(row) for k, row in W.items()}, graph)


def _before(pieces: Mapping[str, Piece], name: str, called: str, piece: Piece) -> dict[str, Piece]:
    """The pieces with one more before the one of a name."""
    found: dict[str, Piece] = {}
    for own, other in pieces.items():
        if own == name:
            found[called] = piece
        found[own] = other
    return found


def _order(front: Front) -> dict[int, int]:
    """Coordinate → its joint, root first."""
    given, at = given_coordinates(front.design, front.robot), front.canonical.v_slices
    return {k: i for i, own in at.items() for k in range(own.start, own.stop) if k >= given}


def _dot_products(rows: Mapping[int, list[int]]) -> Graph:
    """Row by row V's entries times those that come of W."""
    builder = Builder()
    right = {k: builder.input(spell("right", k)) for k in rows}
    inputs = [node.name for node in right.values()]
    outputs = {}
    for i, own in rows.items():
        with builder.in_region(REGION):
            left = {k: builder.input(spell("left", i, k)) for k in own}
            inputs += [node.name for node in left.values()]
            total = builder.lift(0.0)
            for k in own:
                total = total + left[k] * right[k]
        outputs[spell("sum", i)] = total
    return verify(Graph(tuple(inputs), outputs))


def _visits(rows: Mapping[int, list[int]], entries: list[str], given: Given) -> Program:
    """A visit for each column, which gives what is on or below the diagonal."""
    wanted = set(entries)
    left: dict[str, Signed] = {
        spell("left", i, k): (spell("V", i, k), 1.0) for i, own in rows.items() for k in own
    }
    found = []
    for j, own in rows.items():
        largest = max(map(abs, given.limits[spell("Minv", j, j)]))
        by = 2.0 ** -math.ceil(math.log2(max(largest, 2.0**-60)) / 2)
        right: dict[str, Signed] = {spell("right", k): (spell("W", j, k), by) for k in own}
        names = {i: spell("Minv", i, j) for i in rows}
        sums: dict[str, Signed] = {
            spell("sum", i): (name, 1 / by) for i, name in names.items() if name in wanted
        }
        found.append(({**left, **right}, sums))
    return in_turn(_dot_products(rows), found)
