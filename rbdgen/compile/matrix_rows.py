"""Products of matrices of an accelerator row by row or column by column (`dot_products`).

Three stages are such products, where their intervals have room for all turns and that saves work:

    M⁻¹ ∂τ = -∂q̈       a column of ∂τ in a turn, or several, or part of one: those entries that are
                        not zero, of joints on one branch of the tree
    M⁻¹ = V Wᵀ          a column in a turn, of a row of W; a stage before it finds the factors
    q̈ = M⁻¹ (τ - bias)  a row of M⁻¹ in a turn; what is left of the effort stays where it is
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ..dynamics.spatial import is_zero
from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph
from ..graph.node import Builder, Op
from ..graph.verify import verify, verify_fixed
from ..graph.visits import LIMB, Program, VisitResult, once, then
from ..graph.word import indices, kind_of, spell
from ..schedule.partition import Piece
from ..system.quoting import Progress
from ..tasks.routes import COLUMNS, FACTORS, PARTS, parse, part_of
from ..words.ascent_schedule import joined
from ..words.input_domain import InputDomain
from ..words.instances import instantiate
from ..words.program_ranges import ProgramDomain
from .dot_products import Slot, Vector, largest, one_point, products, scale_of
from .front import Front, is_large
from .inverse_factors import INVERSE, additions_of, factors_that_save, rows_of
from .words import as_designed, with_outputs

PRODUCT, FORWARD = "product", "forward"
IN_COLUMNS, OF_FACTORS = part_of(PRODUCT, COLUMNS), part_of(INVERSE, FACTORS)
REST = "rest"  # the template that adds up what comes in parts
ARRAYS = {"dqdd_dq": "dtau_dq", "dqdd_dqd": "dtau_dqd"}
MORE = 1.25  # times the multipliers that shared ones would be, at most
ROOMY = 2.0  # the same of large robots, whose multiplexers and parts take more than multipliers do
FURTHER = 2000  # states of each column of M⁻¹, beside the extremes
NEARLY = 1 - 2.0**-12  # words end before a power of two, so that who reads them needs no bit more

Column = tuple[list[Slot], dict[int, str]]  # its entries that are not zero, and row → result
# pieces, the intervals of those that are new, and a note of what that saves
InTurns = tuple[dict[str, Piece], dict[str, int], str]
InColumns = Callable[
    [Front, Mapping[str, Piece], Callable[[], InputDomain], int, Progress], InTurns | None
]


@dataclass(frozen=True)
class DotProducts:
    """A datapath for ``parallel`` parts of columns at once, of ``terms`` entries each.

    All parts are through in so many ``turns``, a task in ``interval`` cycles.
    """

    terms: int
    parallel: int
    turns: int
    interval: int


def product_in_columns(
    front: Front,
    pieces: Mapping[str, Piece],
    searched: Callable[[], InputDomain],
    interval: int,
    progress: Progress,
) -> InTurns | None:
    """The pieces with ∂q̈ as time-multiplexed columns, a task in ``interval`` cycles or fewer.

    None where that takes too many more multipliers than sharing takes, where the columns are not
    alike, or where the product is of time-multiplexed limbs already.
    """
    if (before := pieces.get(PRODUCT)) is None or before.program is not None:
        return None
    shape = shape_of(front, interval)
    if shape is None:
        return None
    progress("columns of the product")
    of_gradient = [n for n in front.graph.outputs if kind_of(n) in ARRAYS.values()]
    given = with_outputs(front.graph, searched(), of_gradient)
    rows, columns = _columns(front.graph)
    limbs, sums = _product_columns(rows, columns, shape, given)
    both = then(limbs, once(REST, _added_up(sums)), front.graph.inputs) if sums else limbs
    along = ProgramDomain(both, given)
    words = as_designed(front, progress)
    template = words(limbs.templates[LIMB], one_point(along.of(LIMB, thinned=True)))
    along.made(LIMB, template)
    zeros = [name for slots, names in columns if not slots for name in names.values()]
    outputs = {**limbs.outputs, **dict.fromkeys(zeros, 0.0)}
    in_turn = IN_COLUMNS if sums else PRODUCT
    new = {in_turn: _piece(replace(limbs, outputs=outputs), template)}
    graphs = [template.graph]
    if sums:
        given_by = new[in_turn].fixed
        fixed = _as_given(words(both.templates[REST], along.of(REST)), given_by)
        new[PRODUCT] = Piece(fixed, {})
        graphs.append(fixed.graph)
    additions = sum(graph.operations()["add"] for graph in graphs)
    note = (
        f"columns of a product are time-multiplexed in {in_turn}: {shape.turns} times "
        f"{shape.parallel}, with dot products of {shape.terms} entries; {additions} of "
        f"{before.fixed.graph.operations()['add']} additions"
    )
    return _replaced(front, _without_product(pieces), new), {in_turn: shape.interval}, note


def _product_columns(
    rows: Sequence[int], columns: Sequence[Column], shape: DotProducts, given: InputDomain
) -> tuple[Program, dict[str, list[str]]]:
    """A visit for each turn, and of columns in parts: output → what it is the sum of."""
    parts: list[Vector] = []
    sums: dict[str, list[str]] = {}
    scale = {r: scale_of(given.limits[_inverse(r, r)]) for r in rows}
    for slots, names in (column for column in columns if column[0]):
        for some in _parts(slots, shape.terms):
            own = names
            if len(some) < len(slots):
                own = {row: spell("part", len(parts), row) for row in rows}
                for row in rows:
                    sums.setdefault(names[row], []).append(own[row])
            size = math.ceil(max(largest(given.limits[name]) + scale[k] for k, name, _ in some))
            # beside a zero any entry of M⁻¹ will do
            padded = [*some, *[(rows[0], "", "")] * (shape.terms - len(some))]
            parts.append(Vector(rows, padded, own, size))
    nobodys = Vector(rows, [(rows[0], "", "")] * shape.terms, {})
    parts += [nobodys] * (shape.turns * shape.parallel - len(parts))
    matrix = {(r, k): _inverse(r, k) for r in rows for k in rows}
    turns = [parts[k : k + shape.parallel] for k in range(0, len(parts), shape.parallel)]
    return products(matrix, scale, turns, (PRODUCT, 0), negative=True), sums


def inverse_in_columns(
    front: Front,
    pieces: Mapping[str, Piece],
    searched: Callable[[], InputDomain],
    interval: int,
    progress: Progress,
) -> InTurns | None:
    """The pieces with M⁻¹ as time-multiplexed columns, and q̈ as rows.

    None where ``interval`` has no room for all columns, where limbs are time-multiplexed in M⁻¹,
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
    own = factors_that_save(front, additions, interval)
    if own is None:
        return None
    rows = rows_of(own)
    progress("columns of M⁻¹")
    entries = [n for n in front.graph.outputs if kind_of(n) == "Minv"]
    words = as_designed(front, progress)
    given = with_outputs(front.graph, searched(), [*own.inputs, *entries])
    limbs = _inverse_columns(rows, entries, given)
    along = ProgramDomain(then(once(FACTORS, own), limbs, front.graph.inputs), given)
    factors = words(own, along.of(FACTORS))
    along.made(FACTORS, factors, rounded=True)  # small ones may be off by more than they are
    samples, extremes = along.states["samples"], along.states["extremes"]
    more = {name: values[-FURTHER:] for name, values in samples.items()}
    along.states["extremes"] = dict(joined(extremes, more))
    along.limits |= {
        word: (NEARLY * low, NEARLY * high)
        for word, (low, high) in along.limits.items()
        if isinstance(word, VisitResult)
    }
    column = words(limbs.templates[LIMB], along.of(LIMB, thinned=True))
    new = {OF_FACTORS: Piece(factors, {}), INVERSE: _piece(limbs, column)}
    if FORWARD in pieces:
        by_rows = _forward_rows(front.graph.inputs, entries, given)
        limits = one_point(ProgramDomain(by_rows, given).of(LIMB, thinned=True))
        new[FORWARD] = _piece(by_rows, words(by_rows.templates[LIMB], limits))
    count, terms = len(rows), sum(map(len, rows.values()))
    note = (
        f"columns of M⁻¹ are time-multiplexed in {INVERSE}, one of {count} after the other, with "
        f"{terms} products at a time; {additions_of(own)} of {additions} additions"
    )
    turns = dict.fromkeys((INVERSE, FORWARD), interval // count * count)
    return _replaced(front, pieces, new), {OF_FACTORS: interval, **turns}, note


def _inverse_columns(
    rows: Mapping[int, Sequence[int]], entries: Collection[str], given: InputDomain
) -> Program:
    """A visit for each column, which gives what is on or below the diagonal; ``rows``: of W."""
    turns = []
    for j, row in rows.items():
        slots: list[Slot] = [(k, spell("W", j, k) if k in row else "", "") for k in rows]
        sums = {i: name for i in rows if (name := spell("Minv", i, j)) in entries}
        size = scale_of(given.limits[spell("Minv", j, j)])
        turns.append([Vector([*rows], slots, sums, size)])
    matrix = {(i, k): spell("V", i, k) for i, row in rows.items() for k in row}
    return products(matrix, {}, turns, (INVERSE, 0))


def _forward_rows(inputs: Collection[str], entries: Collection[str], given: InputDomain) -> Program:
    """A visit for each row; efforts that are none of the ``inputs`` are zero."""
    matrix = {}
    for name in entries:
        i, j = indices(name)
        matrix[i, j] = matrix[j, i] = name
    rows = sorted({i for i, _ in matrix})
    tau, bias = (
        [name if (name := spell(kind, k)) in inputs else "" for k in rows]
        for kind in ("tau", "bias")
    )
    slots = [*zip(rows, tau, bias, strict=True)]
    scale = {i: scale_of(given.limits[matrix[i, i]]) for i in rows}
    turns = [[Vector([i], slots, {i: spell("qdd", i)})] for i in rows]
    return products(matrix, scale, turns, ("effort", 0))


def _piece(turns: Program, template: FixedGraph) -> Piece:
    """The piece of time-multiplexed dot products, whose datapath is in words."""
    made = instantiate(turns, {LIMB: template})
    return Piece(made.whole, {}, made)


def _replaced(
    front: Front, pieces: Mapping[str, Piece], new: Mapping[str, Piece]
) -> dict[str, Piece]:
    """The pieces with those of a step in the place of the step's before, reading what others give
    but for the robot's own inputs."""
    found: dict[str, Piece] = {}
    for name, piece in pieces.items():
        step = parse(name).step
        own = {n: x for n, x in new.items() if parse(n).step == step}
        found |= dict(sorted(own.items(), key=lambda x: PARTS.index(parse(x[0]).part))) or {
            name: piece
        }
    givers = {word: stage for stage, own in found.items() for word in own.fixed.graph.outputs}
    for name, piece in new.items():
        read = {n: givers[n] for n in piece.fixed.inputs if n not in front.graph.inputs}
        found[name] = replace(piece, reads=read)
    return found


def _without_product(pieces: Mapping[str, Piece]) -> dict[str, Piece]:
    """The pieces without the words that only the product reads."""
    read = {word for name, own in pieces.items() if name != PRODUCT for word in own.reads}
    found = {}
    for name, piece in pieces.items():
        graph = piece.fixed.graph
        kept = {word: n for word, n in graph.outputs.items() if "." not in word or word in read}
        if piece.program is None and len(kept) < len(graph.outputs):
            fixed = replace(piece.fixed, graph=Graph(graph.inputs, kept))
            piece = replace(piece, fixed=fixed)
        found[name] = piece
    return found


def shape_of(front: Front, interval: int) -> DotProducts | None:
    """The datapath of the columns of a graph's products; None where they are not
    time-multiplexed."""
    rows, columns = _columns(front.graph)
    most = ROOMY if is_large(front) else MORE
    if front.design.multipliers is not None:
        most = 1
    return smallest_shape([len(own) for own, _ in columns if own], len(rows), interval, most)


def _columns(graph: Graph) -> tuple[list[int], list[Column]]:
    """The rows of M⁻¹, and for each column of ∂τ its entries and the results that it makes; none
    where columns are not all of the same rows, as on several trees."""
    found: list[Column] = []
    for array, of in ARRAYS.items():
        columns: dict[int, dict[int, str]] = {}  # column → row → output
        for name in graph.outputs:
            if kind_of(name) == array:
                row, column = indices(name)
                columns.setdefault(column, {})[row] = name
        for column, names in columns.items():
            entries = [
                (indices(name)[0], name, "")
                for name, node in graph.outputs.items()
                if kind_of(name) == of and indices(name)[1] == column and not is_zero([node])
            ]
            found.append((entries, dict(sorted(names.items()))))
    if len({tuple(names) for _, names in found}) != 1:
        return [], []
    rows = [*found[0][1]]
    read = {(k, name) for slots, _ in found for k, name, _ in slots}
    able = all(k in rows and graph.outputs[name].op is not Op.CONST for k, name in read)
    able &= all(_inverse(row, k) in graph.inputs for row in rows for k in rows)
    return (rows, found) if able else ([], [])


def _inverse(row: int, column: int) -> str:
    """The lower triangle's word."""
    return spell("Minv", max(row, column), min(row, column))


def smallest_shape(
    entries: Sequence[int], rows: int, interval: int, most: float
) -> DotProducts | None:
    """The least besides multipliers, then the fewest of these, and not too many of them.

    That is additions, and what a sum costs that comes in parts: a word for each, and its addition.
    With ``ROOMY`` multipliers it is by the area model: a multiplexer's input takes half an
    addition, and a word that waits in a register, a memory and a register takes three of them.
    """
    shared = -(-rows * sum(entries) // interval)
    found: dict[DotProducts, tuple[int, int]] = {}
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
                found[DotProducts(terms, parallel, turns, turns * cycles)] = beside, multipliers
    return min(found, key=found.__getitem__, default=None)


def _parts(column: Sequence[Slot], terms: int) -> list[Sequence[Slot]]:
    """The parts of a column, of nearly as many entries each, at most ``terms``."""
    count = -(-len(column) // terms)
    ends = [len(column) * k // count for k in range(count + 1)]
    return [column[a:b] for a, b in pairwise(ends)]


def _as_given(sums: FixedGraph, giver: FixedGraph) -> FixedGraph:
    """The sums of words in the formats that these are given in, so that none is rounded first."""
    words = {n: giver.formats[giver.graph.outputs[n]] for n in sums.inputs}
    words = {n: Format(word.width, word.fraction) for n, word in words.items()}
    formats = {n: words[n.name] if n.op is Op.INPUT else sums.formats[n] for n in sums.graph.nodes}
    return verify_fixed(replace(sums, inputs=words, formats=formats))


def _added_up(sums: Mapping[str, Sequence[str]]) -> Graph:
    """Each output as the sum of its parts."""
    builder = Builder()
    outputs = {}
    with builder.in_region((PRODUCT, 0)):
        for name, parts in sums.items():
            total = builder.lift(0.0)
            for part in parts:
                total = total + builder.input(part)
            outputs[name] = total
    return verify(Graph(tuple(part for parts in sums.values() for part in parts), outputs))
