"""Solutions with M: the ways to find M⁻¹, q̈ and the gradients of q̈, and what each takes."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from ..design.functions import INVERTING, OF_CONTACTS
from ..graph.graph import Graph
from ..graph.node import Builder, Op
from ..graph.visits import Visit
from ..graph.word import FAR, indices, kind_of, spell
from ..robot.model import BASE, Robot, RobotError
from ..robot.rotors import drivetrains
from . import drivetrains as gears
from .composite import Gradient
from .elimination import Column, Elimination, Entries, Matrix, Order
from .interface import GraphPorts, Ports
from .motion import PLACES, RobotState
from .recursions import LOGARITHMIC, RecursionPass, Recursions
from .scalars import FloatScalars, Scalar, Vector
from .solver import Columns, Solver
from .spatial import is_zero
from .steps import Inline, Runner, in_units, times
from .units import Balance

COMPARED = 30  # coordinates, from which on M⁻¹ by LᵀDL takes fewer products on every robot
EFFORT = "effort"  # what is left of forward dynamics where the bias is known
SIZES_STATES, SIZES_SEED = 8, 3
NEAR = "near"  # how M⁻¹ is found


def ways(
    robot: Robot, functions: Sequence[str], factorisation: str, root: str, formulation: str
) -> list[str]:
    """The ways to M⁻¹ to try."""
    if formulation == LOGARITHMIC:
        return ["blocks" if factorisation == "blocks" else "ltdl"]
    mimics = any(joint.mimic is not None for joint in robot.joints)
    if factorisation == "mminvgen" and (mimics or root != "free"):
        why = "joints that mimic others" if mimics else "a base whose motion is given"
        raise RobotError(
            f"{robot.name}: --factorisation mminvgen cannot have {why}; use ltdl or auto"
        )
    if factorisation != "auto":
        return [factorisation]
    if not set(OF_CONTACTS).isdisjoint(functions):  # which goes between the factors
        return ["ltdl"]
    inverts = not {*INVERTING, EFFORT}.isdisjoint(functions) and robot.nv < COMPARED
    return ["ltdl", "mminvgen"] if inverts and not mimics and root == "free" else ["ltdl"]


def cost(graph: Graph) -> int:
    count = graph.operations()
    return count["mul"] + 4 * count["recip"]  # normalise, look up, correct


def solver(
    recursions: Recursions, way: str, at: RecursionPass, M: Matrix, order: Order, sizes: Robot
) -> Solver:
    """The solver for M by one of `ways`; ``sizes``: the robot with numbers alone."""
    robot, run = recursions.robot, recursions.solving
    if way == "mminvgen":
        from .articulated import mass_matrix_inverse

        own = recursions.run.arithmetic
        return Solver(
            run, order, entries=mass_matrix_inverse(own, robot, at.moved, recursions.unit)
        )
    if way == "blocks":
        from .block_inverse import invert_by_blocks

        above = {k: _coordinate_above(robot, order, k) for k in order}
        scale = {k: 2.0 ** -round(math.log2(m) / 2) for k, m in _sizes(sizes, order).items()}
        return Solver(run, order, entries=invert_by_blocks(run.arithmetic, M, order, above, scale))
    return Solver(run, order, Elimination.of(run, M, order))


def nearby(face: GraphPorts, run: Runner, M: Matrix, order: Order) -> Solver:
    """The solver with M⁻¹ of a state nearby, an input; outputs whether it was near."""
    from .block_inverse import FARTHEST, correct

    X = given_inverse(face, M, order)
    inverse, (first, *others) = correct(run.arithmetic, M, X, order)
    # of several trees in a region behind theirs, so that none waits for another
    with face.builder.in_region(("near", 0) if others else first.region):
        beyond = face.builder.lift(sum(others, first) - FARTHEST**2)
        face.gives(FAR, face.builder.select(beyond, 0.0, 1.0))  # what is no number is not near
    return Solver(run, order, entries=inverse)


def _coordinate_above(robot: Robot, order: Order, k: int) -> int:
    """The coordinate before this one on the way to the base; -1 where there is none."""
    i = order[k]
    if k > robot.v_slices[i].start:
        return k - 1
    while (i := robot.joints[i].parent) >= 0:
        if i in robot.v_slices and robot.v_slices[i].stop - 1 < k:
            return robot.v_slices[i].stop - 1
    return -1


def _sizes(robot: Robot, order: Order) -> dict[int, float]:
    """The approximate size of each coordinate's diagonal entry of M, from a few random states."""
    from .common_frame import common_frame
    from .logarithmic import Logarithmic
    from .vector_fields import gathered, gradient

    rng = np.random.default_rng(SIZES_SEED)
    q, still = rng.uniform(-1.0, 1.0, (robot.nq, SIZES_STATES)), np.zeros(robot.nv)
    for i in robot.free:
        turned = PLACES.get(robot.joints[i].kind)
        if turned is not None:
            at = robot.q_slices[i]
            q[at.start + turned : at.stop] /= np.linalg.norm(q[at.start + turned : at.stop], axis=0)
    state = RobotState(list(q), list(still), list(still))
    sums = Logarithmic(common_frame(Inline(FloatScalars()), robot, state), state, about_O=True)
    M = gradient(sums, gathered(sums)).M
    own = drivetrains(robot)
    return {k: float(np.median(M[k][k])) + gears.armature(own.get(k, [])) for k in order}


def given_inverse(face: Ports, M: Sequence[Vector], order: Iterable[int]) -> Entries:
    """Inputs, the lower triangle of M⁻¹: where M connects coordinates, directly or not."""
    from .block_inverse import connected

    there = list(order)
    known = {(i, j) for i in there for j in there if j < i and not is_zero([M[i][j]])}
    pairs = [(i, j) for own in connected(known, there) for i in own for j in own if j <= i]
    return {(i, j): face.given(spell("Minv", i, j)) for i, j in sorted(pairs)}


def gives_forward(face: Ports, order: Iterable[int], slopes: list[Columns]) -> None:
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
    face: GraphPorts, order: Order, solver: Solver, nv: int, explicit: bool
) -> None:
    """q̈ = M⁻¹ (τ - bias). ``explicit``: M⁻¹ is there, and a product with it is soon done."""
    tau, bias = face.vector("tau", nv, order), face.vector("bias", nv, order)
    with face.builder.region("effort", 0):
        left = {k: tau[k] - bias[k] for k in order}
    face.gives_vector("qdd", solver.product(left) if explicit else solver.solve(left))


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

    run = Inline(builder)
    if wanted & {"minv", "effort"}:
        M: list[Vector] = [[0.0] * nv for _ in range(nv)]
        for i, j in product(order, order):
            M[i][j] = entry("M", max(i, j), min(i, j))
        solver = Solver(run, order, Elimination.of(run, M, order))
        if "minv" in wanted:
            face.gives_lower("Minv", solver.explicit())
        if "effort" in wanted:
            gives_of_effort(face, order, solver, nv, "minv" in wanted)
    if "difd" in wanted:
        pairs = [indices(name) for name in given.inputs if kind_of(name) == "Minv"]
        inverse: Entries = {(i, j): face.given(spell("Minv", i, j)) for i, j in pairs}
        matrices = [[[0.0] * nv for _ in range(nv)] for _ in range(2)]
        for matrix, kind in zip(matrices, ("dtau_dq", "dtau_dqd"), strict=True):
            for i, j in product(order, order):
                matrix[i][j] = entry(kind, i, j)
        none: Matrix = [[0.0] * nv for _ in range(nv)]
        slopes = Solver(run, order, entries=inverse).slopes(Gradient(none, *matrices))
        gives_forward(face, order, slopes)
    return _read(face.graph())


def _read(graph: Graph) -> Graph:
    """The graph without inputs that nothing reads."""
    read = {node.name for node in graph.nodes if node.op is Op.INPUT}
    inputs = dict.fromkeys(name for name in graph.inputs if name in read)
    return Graph(tuple(inputs), graph.outputs)


def accelerating(
    run: Runner, order: Order, units: Balance, tau: Vector, bias: Vector, together: bool
) -> Column:
    """τ less the bias, by coordinate, in the units in which M is inverted; ``together``: in regions
    of its solution."""
    effort = {}
    for k, i in order.items():
        asked = times(tau[k], units.at(k))
        own = in_units(bias[k], units.at(k) / units.effort(k))
        here = ("effort", i if together or run.shares else 0)
        effort[k] = run(Visit("force", (k,)), here, operator.sub, asked, own)
    return effort
