"""The product M⁻¹ ∂τ of an accelerator column by column, where its interval has room for them all.

A column of the product is as many dot products as M⁻¹ has rows, of those entries of ∂τ that are
not zero: of joints on one branch of the tree. One datapath of such dot products serves every
column, one after the other, so that nothing chooses a multiplier's operands but the column whose
turn it is. A column with more entries than the datapath has room for comes in parts, which are
added up afterwards.

All columns have one binary point then, so words are scaled by powers of two, which costs nothing:
with D² about the diagonal of M⁻¹, D⁻¹ M⁻¹ D⁻¹ has no entry above 1 (M⁻¹ is positive definite), and
each column D ∂τ is scaled by its own largest entry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ..dynamics.spatial import is_zero
from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph
from ..graph.node import Builder, Op
from ..graph.verify import verify, verify_fixed
from ..graph.visits import LIMB, Program, Signed, once, then
from ..graph.visits import in_turn as turns
from ..graph.word import indices, kind_of, spell
from ..passes.along import GivenAlong
from ..passes.given import Given
from ..passes.instances import instantiate
from ..passes.pieces import Piece
from ..system.progress import Progress
from ..tasks.visit import COLUMNS, part_of
from .front import Front, is_large
from .words import as_designed, with_outputs

PRODUCT = "product"
IN_COLUMNS = part_of(PRODUCT, COLUMNS)
REST = "rest"  # the template that adds up what comes in parts
ARRAYS = {"dqdd_dq": "dtau_dq", "dqdd_dqd": "dtau_dqd"}
REGION = (PRODUCT, 0)
MORE = 1.25  # times the multipliers that shared ones would be, at most
ROOMY = 2.0  # the same of large robots, whose multiplexers and parts take more than multipliers do


@dataclass(frozen=True)
class Part:
    """Some entries of a column: ``rows`` of ∂τ, and what the products with them are called.

    ``given``: row → ∂τ's word; ``sums``: row of M⁻¹ → the word of the result that is made.
    """

    given: Mapping[int, str]
    sums: Mapping[int, str]


@dataclass(frozen=True)
class Shape:
    """A datapath for ``parallel`` parts of columns at once, of ``terms`` entries each.

    All parts are through in so many ``turns``, a task in ``interval`` cycles.
    """

    terms: int
    parallel: int
    turns: int
    interval: int


def in_columns(
    front: Front,
    pieces: Mapping[str, Piece],
    searched: Callable[[], Given],
    interval: int,
    most: float,
    progress: Progress,
) -> tuple[dict[str, Piece], Shape] | None:
    """The ``pieces`` with the product's as columns in turn, a task in ``interval`` cycles or fewer.

    None where that takes more than ``most`` times the multipliers that sharing takes, where the
    columns are not alike, or where the product is of limbs in turn already.
    """
    piece = pieces.get(PRODUCT)
    if piece is None or piece.program is not None:
        return None
    shape = shape_of(front.graph, interval, most)
    if shape is None:
        return None
    progress("columns of the product")
    columns = _columns(front.graph)
    zeros = [name for column in columns if not column.given for name in column.sums.values()]
    columns = [column for column in columns if column.given]
    rows = list(columns[0].sums)
    parts = [part for column in columns for part in _parts(column, shape.terms)]
    parts = [_numbered(part, number, columns) for number, part in enumerate(parts)]
    of_gradient = [n for n in front.graph.outputs if kind_of(n) in ARRAYS.values()]
    given = with_outputs(front.graph, searched(), of_gradient)
    limbs = _visits(parts, rows, shape, given)
    split = [column for column in columns if len(column.given) > shape.terms]
    both = then(limbs, once(REST, _rest(split, parts)), front.graph.inputs) if split else limbs
    along = GivenAlong(both, given)
    words = as_designed(front, progress)
    template = words(limbs.templates[LIMB], one_point(along.of(LIMB, thinned=True)))
    along.made(LIMB, template)
    outputs = {**limbs.outputs, **dict.fromkeys(zeros, 0.0)}
    made = instantiate(replace(limbs, outputs=outputs), {LIMB: template})
    givers = {name: stage for stage, other in pieces.items() for name in other.fixed.graph.outputs}
    reads = {name: givers[name] for name in made.whole.inputs if name not in front.graph.inputs}
    in_turn = Piece(made.whole, reads, made)
    found = _without_product(pieces)
    if not split:
        return {**found, PRODUCT: in_turn}, shape
    fixed = _as_given(words(both.templates[REST], along.of(REST)), made.whole)
    sums = Piece(fixed, dict.fromkeys(fixed.inputs, IN_COLUMNS))
    return {**found, IN_COLUMNS: in_turn, PRODUCT: sums}, shape


def most_of(front: Front) -> float:
    """Times the multipliers that shared ones would be, at most."""
    if front.design.multipliers is not None:
        return 1
    return ROOMY if is_large(front) else MORE


def shape_of(graph: Graph, interval: int, most: float) -> Shape | None:
    """The datapath of the columns of a graph's products; None where they take no turns."""
    columns = [column for column in _columns(graph) if column.given]
    rows = len(columns[0].sums) if columns else 0
    return smallest_shape([len(column.given) for column in columns], rows, interval, most)


def _without_product(pieces: Mapping[str, Piece]) -> dict[str, Piece]:
    """The others, without the words that only it reads."""
    others = {name: piece for name, piece in pieces.items() if name != PRODUCT}
    read = {word for piece in others.values() for word in piece.reads}
    found = {}
    for name, piece in others.items():
        graph = piece.fixed.graph
        kept = {word: n for word, n in graph.outputs.items() if "." not in word or word in read}
        if piece.program is None and len(kept) < len(graph.outputs):
            fixed = replace(piece.fixed, graph=Graph(graph.inputs, kept))
            found[name] = replace(piece, fixed=fixed)
        else:
            found[name] = piece
    return found


def _columns(graph: Graph) -> list[Part]:
    """Every column, whole; none where they are not all of the same rows, as on several trees."""
    found: list[Part] = []
    for array, of in ARRAYS.items():
        rows: dict[int, dict[int, str]] = {}  # column → row → output
        for name in graph.outputs:
            if kind_of(name) == array:
                row, column = indices(name)
                rows.setdefault(column, {})[row] = name
        for column, sums in rows.items():
            entries = {
                indices(name)[0]: name
                for name, node in graph.outputs.items()
                if kind_of(name) == of and indices(name)[1] == column and not is_zero([node])
            }
            if any(graph.outputs[name].op is Op.CONST for name in entries.values()):
                return []
            found.append(Part(entries, dict(sorted(sums.items()))))
    rows_of = {tuple(column.sums) for column in found}
    if len(rows_of) != 1 or any(column.given.keys() - column.sums.keys() for column in found):
        return []
    (all_rows,) = rows_of
    dense = all(_inverse(row, k) in graph.inputs for row in all_rows for k in all_rows)
    return found if dense else []


def _inverse(row: int, column: int) -> str:
    """The lower triangle's word."""
    return spell("Minv", max(row, column), min(row, column))


def smallest_shape(entries: Sequence[int], rows: int, interval: int, most: float) -> Shape | None:
    """The least besides multipliers, then the fewest of these, and not too many of them.

    That is additions, and what a sum costs that comes in parts: a word for each, and its addition.
    With ``ROOMY`` multipliers it is by the area model: a multiplexer's input takes half an
    addition, and a word that waits in a register, a memory and a register takes three of them.
    """
    shared = -(-rows * sum(entries) // interval)
    found: dict[Shape, tuple[int, int]] = {}
    for terms in range(1, max(entries, default=0) + 1):
        parts = sum(-(-n // terms) for n in entries)
        for parallel in range(-(-parts // interval), parts // 2 + 1):
            turns = -(-parts // parallel)
            cycles = interval // turns
            multipliers = -(-rows * terms * parallel // cycles)
            if multipliers <= most * shared:
                beside = rows * (terms * parallel + 2 * (parts - len(entries)))
                if most >= ROOMY:
                    chosen = terms * parallel * (cycles if cycles > 1 else 0)
                    beside += rows * (chosen + 2 * (parts - len(entries)))
                found[Shape(terms, parallel, turns, turns * cycles)] = beside, multipliers
    return min(found, key=found.__getitem__, default=None)


def _parts(column: Part, terms: int) -> list[Part]:
    """The parts of a column, of nearly as many entries each, at most ``terms``."""
    names = list(column.given.items())
    count = -(-len(names) // terms)
    ends = [len(names) * k // count for k in range(count + 1)]
    return [Part(dict(names[a:b]), column.sums) for a, b in pairwise(ends)]


def _numbered(part: Part, number: int, columns: Sequence[Part]) -> Part:
    """The part with words of its own for its sums, where it is not a whole column."""
    if any(part.given == column.given for column in columns):
        return part
    return Part(part.given, {row: spell("part", number, row) for row in part.sums})


def _dot_products(rows: Sequence[int], shape: Shape) -> Graph:
    """-left · right, part by part and row by row."""
    builder = Builder()
    inputs: list[str] = []
    outputs = {}
    for place in range(shape.parallel):
        right = [builder.input(spell("right", place, j)) for j in range(shape.terms)]
        inputs += [node.name for node in right]
        for r in rows:
            left = [builder.input(spell("left", place, r, j)) for j in range(shape.terms)]
            inputs += [node.name for node in left]
            total = builder.lift(0.0)
            with builder.in_region(REGION):
                for own, other in zip(left, right, strict=True):
                    total = total - own * other
            outputs[spell("sum", place, r)] = total
    return verify(Graph(tuple(inputs), outputs))


def _visits(parts: Sequence[Part], rows: Sequence[int], shape: Shape, given: Given) -> Program:
    """Each turn's parts, with their words and scales.

    Past a part's last entry zeros are read, and places without a part have no result.
    """
    found = []
    scale = {r: math.ceil(_log2(given.limits[_inverse(r, r)]) / 2) for r in rows}
    for turn in range(shape.turns):
        inputs: dict[str, Signed] = {}
        outputs: dict[str, Signed] = {}
        for place in range(shape.parallel):
            at = turn * shape.parallel + place
            part = parts[at] if at < len(parts) else Part({}, {})
            sizes = [_log2(given.limits[name]) + scale[k] for k, name in part.given.items()]
            own = math.ceil(max(sizes, default=0))
            entries = [*part.given.items()]
            for j, (k, name) in enumerate(entries):
                inputs[spell("right", place, j)] = name, 2.0 ** (scale[k] - own)
            # beside a zero any entry of M⁻¹ will do
            of = [k for k, _ in entries] + [rows[0]] * (shape.terms - len(entries))
            for j, k in enumerate(of):
                for r in rows:
                    by = 2.0 ** (-scale[r] - scale[k])
                    inputs[spell("left", place, r, j)] = _inverse(r, k), by
            for r, name in part.sums.items():
                outputs[spell("sum", place, r)] = name, 2.0 ** (scale[r] + own)
        found.append((inputs, outputs))
    return turns(_dot_products(rows, shape), found)


def _log2(limits: tuple[float, float]) -> float:
    return math.log2(max(*map(abs, limits), 2.0**-60))


def one_point(given: Given) -> Given:
    """The same with the limits of all of M⁻¹ for each of its entries: it has one binary point."""
    left = [name for name in given.limits if kind_of(name) == "left"]
    lows, highs = zip(*(given.limits[name] for name in left), strict=True)
    limits = dict.fromkeys(left, (min(lows), max(highs)))
    return replace(given, limits={**given.limits, **limits})


def _as_given(sums: FixedGraph, giver: FixedGraph) -> FixedGraph:
    """The sums of words in the formats that these are given in, so that none is rounded first."""
    words = {n: giver.formats[giver.graph.outputs[n]] for n in sums.inputs}
    words = {n: Format(word.width, word.fraction) for n, word in words.items()}
    formats = {n: words[n.name] if n.op is Op.INPUT else sums.formats[n] for n in sums.graph.nodes}
    return verify_fixed(replace(sums, inputs=words, formats=formats))


def _rest(split: Sequence[Part], parts: Sequence[Part]) -> Graph:
    """The columns that come in parts, added up."""
    builder = Builder()
    outputs = {}
    inputs: list[str] = []
    with builder.in_region(REGION):
        for column in split:
            own = [part for part in parts if part.given.items() <= column.given.items()]
            for row, name in column.sums.items():
                total = builder.lift(0.0)
                for part in own:
                    inputs.append(part.sums[row])
                    total = total + builder.input(part.sums[row])
                outputs[name] = total
    return verify(Graph(tuple(inputs), outputs))
