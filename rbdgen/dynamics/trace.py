"""Trace functions of a robot to one graph: names for the interface, then the algorithms.

Several functions share all that they have in common, since equal operations are one node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..graph.graph import Graph
from ..graph.node import Builder
from ..robot.model import JointKind, Robot, frozen
from .articulated import mass_matrix_inverse
from .composite import Columns, Gradient
from .factorisation import Solver, factorise, times
from .interface import WRENCH, revolute
from .motion import Moved, State
from .outward import move
from .ports import Interface
from .recursive import recursive_gradient
from .rnea import gather, indices
from .scalars import Scalar, Vector
from .spatial import Wrench, is_zero
from .units import Units, units

AT_GIVEN_ACCELERATION = {"id", "did", "difd"}
AT_GIVEN_EFFORT = {"fd", "dfd"}
PLACES = {
    JointKind.FLOATING: 3,
    JointKind.PLANAR: 2,
}  # coordinates that say where, not how turned


@dataclass
class Pass:
    """The recursions at one acceleration."""

    moved: dict[int, Moved]
    tau: Vector
    M: list[Vector]
    gradient: Gradient  # in the formulation asked for


def trace(
    robot: Robot,
    functions: Sequence[str],
    *,
    external_forces: Sequence[int] = (),
    multiplications: int = 4,
    sincos_inputs: bool = False,
    formulation: str = "composite",
    factorisation: str = "auto",
    root: str = "free",
) -> Graph:
    """Functions of a canonical robot as one graph.

    ``functions``: id (τ), fd (q̈), m (M), minv (M⁻¹), did (τ and its gradients), dfd (q̈ and its
    gradients), difd (the gradients of q̈ from M⁻¹ given). ``external_forces``: joints whose bodies
    take an input force. ``root``: "given" leaves a floating base's rows and columns out.

    Inputs ``q[k]``, ``qd[k]``, ``qdd[k]``, ``tau[k]``, ``f_ext[b].fx`` … ``.nz`` for the b-th
    moving body, ``Minv[i,j]``, j ≤ i; of a floating or planar joint on the base only the
    coordinates that turn. With ``sincos_inputs`` angles come as ``sin[i]``, ``cos[i]`` for each
    revolute joint i. Outputs ``tau[k]``, ``qdd[k]``, ``M[i,j]`` and ``Minv[i,j]`` for j ≤ i,
    ``dtau_dq[i,j]`` and so on; entries that are zero by structure are left out.
    """
    if factorisation == "auto":
        ways = ["ltdl"]
        if (
            {"minv", "fd", "dfd"}.intersection(functions)
            and _is_tree_in_q(robot)
            and root == "free"
        ):
            ways.append("mminvgen")
    else:
        ways = [factorisation]
    graphs = [
        _trace(
            robot,
            set(functions),
            external_forces,
            multiplications,
            sincos_inputs,
            formulation,
            way,
            root,
        )
        for way in ways
    ]
    return min(graphs, key=_cost)


def _is_tree_in_q(robot: Robot) -> bool:
    return all(joint.mimic is None for joint in robot.joints)


def _cost(graph: Graph) -> int:
    count = graph.operations()
    return count["mul"] + 4 * count["recip"]  # normalise, look up, correct


def _trace(
    robot: Robot,
    functions: set[str],
    external_forces: Sequence[int],
    multiplications: int,
    sincos_inputs: bool,
    formulation: str,
    factorisation: str,
    root: str,
) -> Graph:
    builder = Builder()
    face = Interface(builder)
    base = robot.joints[0].kind.nv if root == "given" else 0
    owners = {k: i for i in robot.free for k in indices(robot.v_slices[i])}
    order = {k: i for k, i in sorted(owners.items()) if k >= base}
    state = _state(face, robot, functions, external_forces, sincos_inputs, base)
    unit = units(robot, len(state.f_ext))
    if functions != {"id"}:
        unit = Units(unit.acceleration, 1 / unit.acceleration)

    def dynamics(qdd: Vector, wanted: bool, regions: str = "") -> Pass:
        """Way out and way back; ``wanted``: with M and gradients. Each has its own regions."""
        here = replace(state, qdd=qdd)
        moved = move(builder, weighed, here, unit, multiplications, f"forward{regions}")
        columns, whole = Columns(robot, moved, unit), {}

        def visit(i: int, force: Wrench) -> None:
            whole[i] = force
            if wanted:
                columns.visit(i, force)

        tau = gather(builder, weighed, moved, unit, f"backward{regions}", visit)
        found = columns.gradient
        if wanted and formulation == "recursive":
            found = recursive_gradient(builder, robot, moved, whole, unit, regions)
        return Pass(moved, tau, columns.gradient.M, found)

    moves = functions - {"m", "minv"}
    weighed = robot if moves else replace(robot, gravity=frozen([0.0, 0.0, 0.0]))
    given = unforced = None
    if functions & AT_GIVEN_ACCELERATION:
        given = dynamics(list(state.qdd), functions != {"id"})
    if functions & AT_GIVEN_EFFORT or not given:
        at_rest: Vector = [*state.qdd[:base], *[0.0] * len(order)]
        unforced = dynamics(at_rest, True, "_unforced" if given else "")
    if given:
        _gives_inverse(face, functions, order, given)
    at = unforced or given
    assert at is not None
    if "m" in functions:
        face.gives_lower("M", {(i, j): at.M[i][j] for i in order for j in order})
    if functions & {"minv", "fd", "dfd"}:
        if factorisation == "mminvgen":
            inverse = mass_matrix_inverse(builder, robot, at.moved, unit)
            solver = Solver(builder, order, inverse=inverse)
        else:
            solver = Solver(builder, order, factorise(builder, at.M, order))
        if "minv" in functions:
            face.gives_lower("Minv", solver.explicit())
    if unforced and functions & AT_GIVEN_EFFORT:
        tau = face.vector("tau", robot.nv, order)
        with builder.region("effort", 0):
            effort = {k: tau[k] - unforced.tau[k] for k in order}
        (qdd,) = solver.times([effort])
        face.gives_vector("qdd", qdd)
        if "dfd" in functions:
            accelerations = [*state.qdd[:base], *(qdd.get(k, 0.0) for k in order)]
            columns = _columns(dynamics(accelerations, True, "_again").gradient, order)
            _gives_forward(face, order, [solver.times(c, "_again") for c in columns])
    return face.graph()


def _gives_inverse(
    face: Interface, functions: set[str], order: dict[int, int], given: Pass
) -> None:
    """What follows from a given acceleration."""
    if functions & {"id", "did"}:
        face.gives_vector("tau", {k: given.tau[k] for k in order})
    columns = _columns(given.gradient, order)
    if "did" in functions:
        face.gives_columns("dtau_dq", order, columns[0])
        face.gives_columns("dtau_dqd", order, columns[1])
    if "difd" in functions:
        pairs = _connected(given.M, list(order))
        inverse = {(i, j): face.given(f"Minv[{i},{j}]") for i, j in pairs}
        _gives_forward(face, order, [times(face.builder, inverse, order, c) for c in columns])


def _connected(M: list[Vector], order: list[int]) -> list[tuple[int, int]]:
    """Where M⁻¹ has entries (j ≤ i): between coordinates that M connects, directly or not."""
    group = {k: {k} for k in order}
    for i in order:
        for j in order:
            if j < i and not is_zero([M[i][j]]) and group[i] is not group[j]:
                group[i] |= group[j]
                for k in group[j]:
                    group[k] = group[i]
    return [(i, j) for i in order for j in order if j <= i and j in group[i]]


def _gives_forward(
    face: Interface, order: Iterable[int], products: list[list[dict[int, Scalar]]]
) -> None:
    """∂q̈/∂q = -M⁻¹ ∂τ/∂q, and for q̇."""
    for name, columns in zip(("dqdd_dq", "dqdd_dqd"), products, strict=True):
        negative: list[dict[int, Scalar]] = []
        for column in columns:
            negative.append({})
            for k, value in column.items():
                with face.builder.in_region(face.builder.lift(value).region):
                    negative[-1][k] = -value
        face.gives_columns(name, order, negative)


def _columns(of: Gradient, order: Iterable[int]) -> list[list[dict[int, Scalar]]]:
    """∂τ/∂q and ∂τ/∂q̇, each column by column, zeros left out."""
    return [
        [{i: G[i][j] for i in order if not is_zero([G[i][j]])} for j in order]
        for G in (of.dtau_dq, of.dtau_dqd)
    ]


def _state(
    face: Interface,
    robot: Robot,
    functions: set[str],
    external_forces: Sequence[int],
    sincos_inputs: bool,
    base: int,
) -> State:
    """The inputs that the functions need; ``base``: coordinates whose motion is given."""
    turning = revolute(robot) if sincos_inputs else []
    turns = {i: (face.given(f"sin[{i}]"), face.given(f"cos[{i}]")) for i in turning}
    asked: list[int] = []
    for i in robot.moving:
        joint, at = robot.joints[i], robot.q_slices[i]
        if i not in turning:
            hidden = PLACES.get(joint.kind, 0) if joint.parent < 0 else 0
            asked += range(at.start + hidden, at.stop)
    moves = bool(functions - {"m", "minv"})
    accelerated = robot.nv if functions & AT_GIVEN_ACCELERATION else base if moves else 0
    return State(
        face.vector("q", robot.nq, asked),
        face.vector("qd", robot.nv, range(robot.nv) if moves else ()),
        face.vector("qdd", robot.nv, range(accelerated)),
        {
            i: [face.given(f"f_ext[{robot.moving.index(i)}].{axis}") for axis in WRENCH]
            for i in (external_forces if moves else ())
        },
        turns,
    )
