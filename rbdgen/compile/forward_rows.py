"""q̈ of an accelerator row by row: q̈ = M⁻¹ (τ - bias), a dot product for each row of M⁻¹.

One datapath of a dot product, of as many entries as the longest row has, serves all rows in turn.
What is left of the effort stays where it is, and the row of M⁻¹ is what a multiplier's other
operand is chosen by. Rows and columns of M⁻¹ are scaled by powers of two, with D² about its
diagonal: D⁻¹ M⁻¹ D⁻¹ has no entry above 1, and D (τ - bias) is what it is multiplied with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.node import Builder
from ..graph.verify import verify
from ..graph.visits import LIMB, Signed, in_turn
from ..graph.word import indices, spell
from ..passes.along import GivenAlong
from ..passes.given import Given
from ..passes.instances import instantiate
from ..passes.pieces import Piece
from .columns import one_point

REGION = ("effort", 0)


def in_rows(
    inputs: Collection[str],
    entries: Collection[str],
    given: Given,
    words: Callable[[Graph, Given], FixedGraph],
) -> Piece:
    """The piece that gives q̈ of τ, of the bias and of ``entries`` of M⁻¹'s lower triangle.

    ``inputs``: of the whole graph; efforts that are none of them are zero. ``given``: with limits
    of the entries. ``words``: makes words of the template.
    """
    rows = _rows(entries)
    program = in_turn(_dot_product(rows, inputs), _visits(rows, inputs, given))
    along = GivenAlong(program, given)
    template = words(program.templates[LIMB], one_point(along.of(LIMB, thinned=True)))
    made = instantiate(program, {LIMB: template})
    return Piece(made.whole, {}, made)


def _rows(entries: Collection[str]) -> dict[int, dict[int, str]]:
    """Row → column → the entry there, on either side of the diagonal."""
    found: dict[int, dict[int, str]] = {}
    for name in entries:
        i, j = indices(name)
        found.setdefault(i, {})[j] = name
        found.setdefault(j, {})[i] = name
    return {i: dict(sorted(found[i].items())) for i in sorted(found)}


def _dot_product(rows: Collection[int], inputs: Collection[str]) -> Graph:
    """A row times what is left of the effort."""
    builder = Builder()

    def word(kind: str, k: int) -> list[str]:
        return [name for name in [spell(kind, k)] if name in inputs]

    with builder.in_region(REGION):
        total = builder.lift(0.0)
        for k in rows:
            left = builder.lift(0.0)
            for name in word("tau", k):
                left = left + builder.input(name)
            for name in word("bias", k):
                left = left - builder.input(name)
            total = total + builder.input(spell("left", k)) * left
    made = Graph((), {"sum": total})
    read = (node.name for node in made.nodes if node.name)
    return verify(Graph(tuple(dict.fromkeys(read)), made.outputs))


def _visits(
    rows: Mapping[int, Mapping[int, str]], inputs: Collection[str], given: Given
) -> list[tuple[dict[str, Signed], dict[str, Signed]]]:
    """A visit for each row."""
    scale = {i: _scale(given.limits[row[i]]) for i, row in rows.items()}
    effort: dict[str, Signed] = {
        name: (name, 2.0 ** scale[k])
        for k in rows
        for name in (spell("tau", k), spell("bias", k))
        if name in inputs
    }
    return [
        (
            effort | {spell("left", k): (n, 2.0 ** (-scale[i] - scale[k])) for k, n in row.items()},
            {"sum": (spell("qdd", i), 2.0 ** scale[i])},
        )
        for i, row in rows.items()
    ]


def _scale(limits: tuple[float, float]) -> int:
    """s with 4^s just above an entry of the diagonal."""
    return math.ceil(math.log2(max(*map(abs, limits), 2.0**-60)) / 2)
