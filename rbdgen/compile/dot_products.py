"""A datapath of dot products that multiplies a matrix with one vector after another.

The rows of the matrix times a vector are a dot product each. One datapath of these serves all
vectors, one in each turn, or several side by side: nothing chooses a multiplier's operands but the
turn. All turns have one binary point, so words are scaled by powers of two, which costs nothing.
With D² about the diagonal of a positive definite matrix A, D⁻¹ A D⁻¹ has no entry above 1, and a
vector D y is scaled by its own largest entry.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..graph.graph import Graph
from ..graph.node import Builder, Region, Scalar
from ..graph.verify import verify
from ..graph.visits import Program, Signed, in_turn
from ..graph.word import kind_of, spell
from ..words.input_domain import InputDomain

Entries = Mapping[tuple[int, int], str]  # row and column of a matrix → word; others are zero
Scale = Mapping[int, int]  # row, or column, of a matrix → s of D = 2^s; others have none
# A column of the matrix, the vector's word there, and one that is subtracted from it; "": zero.
Slot = tuple[int, str, str]


@dataclass(frozen=True)
class Vector:
    """A vector, or some of its entries, beside those ``rows`` of the matrix that multiply it.

    ``slots``: operands of every row. ``sums``: row → the result's word; a row without one is for
    nobody. ``size``: the vector is scaled by D 2^-size.
    """

    rows: Sequence[int]
    slots: Sequence[Slot]
    sums: Mapping[int, str]
    size: int = 0


def products(
    matrix: Entries,
    scale: Scale,
    turns: Sequence[Sequence[Vector]],
    region: Region,
    negative: bool = False,
) -> Program:
    """The matrix, or its negative, times the vectors of each turn: a visit for each turn."""
    visits = [_turn(matrix, scale, vectors) for vectors in turns]
    ports = {port for inputs, _ in visits for port in inputs}
    return in_turn(_datapath(ports, turns[0], region, negative), visits)


def scale_of(limits: tuple[float, float]) -> int:
    """The s with 4^s just above an entry of the diagonal."""
    return math.ceil(largest(limits) / 2)


def largest(limits: tuple[float, float]) -> float:
    """The logarithm to base 2 of the largest magnitude."""
    return math.log2(max(*map(abs, limits), 2.0**-60))


def one_point(given: InputDomain) -> InputDomain:
    """The same with the limits of the whole matrix for each of its entries."""
    left = [name for name in given.limits if kind_of(name) == "left"]
    lows, highs = zip(*(given.limits[name] for name in left), strict=True)
    limits = dict.fromkeys(left, (min(lows), max(highs)))
    return replace(given, limits={**given.limits, **limits})


def _turn(
    matrix: Entries, scale: Scale, vectors: Sequence[Vector]
) -> tuple[dict[str, Signed], dict[str, Signed]]:
    """The words that the datapath's inputs read, and the names of its outputs."""
    inputs: dict[str, Signed] = {}
    outputs: dict[str, Signed] = {}
    for place, vector in enumerate(vectors):
        for j, (column, *words) in enumerate(vector.slots):
            of_column = scale.get(column, 0)
            for port, word in zip(("right", "less"), words, strict=True):
                if word:
                    inputs[spell(port, place, j)] = word, 2.0 ** (of_column - vector.size)
            for i, row in enumerate(vector.rows):
                if (row, column) in matrix:
                    by = 2.0 ** (-scale.get(row, 0) - of_column)
                    inputs[spell("left", place, i, j)] = matrix[row, column], by
        for i, row in enumerate(vector.rows):
            if row in vector.sums:
                by = 2.0 ** (scale.get(row, 0) + vector.size)
                outputs[spell("sum", place, i)] = vector.sums[row], by
    return inputs, outputs


def _datapath(ports: set[str], vectors: Sequence[Vector], region: Region, negative: bool) -> Graph:
    """sum[p, i] = ± Σ_j left[p, i, j] (right[p, j] - less[p, j]) of the ``ports`` that some turn
    has, in the place p of each vector."""
    builder = Builder()

    def read(name: str) -> Scalar:
        return builder.input(name) if name in ports else 0.0

    outputs = {}
    with builder.in_region(region):
        for p, vector in enumerate(vectors):
            for i in range(len(vector.rows)):
                slots = [j for j in range(len(vector.slots)) if spell("left", p, i, j) in ports]
                right = [
                    builder.lift(read(spell("right", p, j))) - read(spell("less", p, j))
                    for j in slots
                ]
                left = [builder.input(spell("left", p, i, j)) for j in slots]
                total = builder.lift(0.0)
                for own, other in zip(left, right, strict=True):
                    total = total - own * other if negative else total + own * other
                outputs[spell("sum", p, i)] = total
    named = [node.name for node in Graph((), outputs).nodes if node.name]
    return verify(Graph(tuple(named), outputs))
