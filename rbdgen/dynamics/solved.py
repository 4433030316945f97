"""Solutions with M: from the bias and ∂τ the inverse M⁻¹, q̈ and the gradients of q̈."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from ..graph.graph import Graph
from ..graph.node import Builder, Op
from ..graph.word import indices, kind_of, spell
from ..robot.model import BASE
from .factorisation import Entries, Order, Solver, factorise, times
from .ports import GraphPorts
from .scalars import Arithmetic, Scalar, Vector
from .sparse import connected
from .spatial import is_zero

Columns = list[dict[int, Scalar]]


def given_inverse(face: GraphPorts, M: Sequence[Vector], order: Iterable[int]) -> Entries:
    """Inputs, the lower triangle of M⁻¹: where M connects coordinates, directly or not."""
    there = list(order)
    known = {(i, j) for i in there for j in there if j < i and not is_zero([M[i][j]])}
    pairs = [(i, j) for own in connected(known, there) for i in own for j in own if j <= i]
    return {(i, j): face.given(spell("Minv", i, j)) for i, j in sorted(pairs)}


def forward_slopes(builder: Builder, products: list[Columns]) -> list[Columns]:
    """∂q̈/∂q = -M⁻¹ ∂τ/∂q, and for q̇, column by column."""
    slopes = []
    for columns in products:
        negative: Columns = []
        for column in columns:
            negative.append({})
            for k, value in column.items():
                with builder.beside(value):
                    negative[-1][k] = -value
        slopes.append(negative)
    return slopes


def gives_forward(face: GraphPorts, order: Iterable[int], slopes: list[Columns]) -> None:
    """The two gradients of q̈."""
    for name, columns in zip(("dqdd_dq", "dqdd_dqd"), slopes, strict=True):
        face.gives_columns(name, order, columns)


def apart(builder: Builder, told: Scalar, M: Sequence[Vector]) -> list[Vector]:
    """M without what couples the joints and their floating base, where ``told`` is below 0.

    Its inverse then has the joints', as if the base were held, beside that of the base alone.
    """

    def entry(i: int, j: int) -> Scalar:
        if (i < BASE) == (j < BASE) or is_zero([M[i][j]]):
            return M[i][j]
        with builder.beside(M[i][j]):
            return builder.select(told, 0.0, M[i][j])

    return [[entry(i, j) for j in range(len(M))] for i in range(len(M))]


def gives_of_effort(
    face: GraphPorts, solving: Arithmetic, order: Order, solver: Solver, nv: int, explicit: bool
) -> None:
    """q̈ = M⁻¹ (τ - bias). ``explicit``: M⁻¹ is there, and a product with it is soon done."""
    tau, bias = face.vector("tau", nv, order), face.vector("bias", nv, order)
    with face.builder.region("effort", 0):
        left = {k: tau[k] - bias[k] for k in order}
    if explicit:
        (qdd,) = times(solving, solver.explicit(), order, [left])
    else:
        (qdd,) = solver.times([left])
    face.gives_vector("qdd", qdd)


def solved(given: Graph, order: Order, nv: int, functions: Iterable[str]) -> Graph:
    """minv, effort and difd (see `trace`) of ``functions``, of the matrices that ``given`` gives.

    Inputs ``M[i,j]``, ``dtau_dq[i,j]`` and so on wherever ``given`` has such an output that is not
    constant. ``order``: coordinate → its joint, root first, of ``nv`` in all.
    """
    builder, wanted = Builder(), {*functions}
    face, read = GraphPorts(builder), dict[str, Scalar]()

    def entry(kind: str, i: int, j: int) -> Scalar:
        name = spell(kind, i, j)
        node = given.outputs.get(name)
        if node is None:
            return 0.0
        if node.op is Op.CONST:
            return node.value
        if name not in read:
            read[name] = face.given(name)
        return read[name]

    if wanted & {"minv", "effort"}:
        M: list[Vector] = [[0.0] * nv for _ in range(nv)]
        for i, j in product(order, order):
            M[i][j] = entry("M", max(i, j), min(i, j))
        solver = Solver(builder, order, factorise(builder, M, order))
        if "minv" in wanted:
            face.gives_lower("Minv", solver.explicit())
        if "effort" in wanted:
            gives_of_effort(face, builder, order, solver, nv, "minv" in wanted)
    if "difd" in wanted:
        pairs = [indices(name) for name in given.inputs if kind_of(name) == "Minv"]
        inverse: Entries = {(i, j): face.given(spell("Minv", i, j)) for i, j in pairs}
        columns = [
            [{i: x for i in order if not is_zero([x := entry(kind, i, j)])} for j in order]
            for kind in ("dtau_dq", "dtau_dqd")
        ]
        products = [times(builder, inverse, order, own) for own in columns]
        gives_forward(face, order, forward_slopes(builder, products))
    return _read(face.graph())


def _read(graph: Graph) -> Graph:
    """The graph without inputs that nothing reads."""
    read = {node.name for node in graph.nodes if node.op is Op.INPUT}
    inputs = dict.fromkeys(name for name in graph.inputs if name in read)
    return Graph(tuple(inputs), graph.outputs)
