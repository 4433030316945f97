"""Trace functions of a robot to one graph: names for the interface, then the algorithms.

Several functions share all that they have in common, since equal operations are one node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ..graph.graph import Graph
from ..graph.node import Builder
from ..robot.model import JointKind, Robot, frozen
from .articulated import mass_matrix_inverse
from .composite import Gradient, gradient
from .factorisation import Entries, Solver, factorise, times
from .interface import WRENCH, revolute
from .motion import Moved, State, move
from .recursive import recursive_gradient
from .rnea import body_forces, gather, indices
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
class Interface:
    """Inputs in the order in which they are asked for, outputs without structural zeros."""

    builder: Builder
    inputs: list[str] = field(default_factory=list)
    outputs: dict[str, Scalar] = field(default_factory=dict)

    def given(self, name: str) -> Scalar:
        self.inputs.append(name)
        return self.builder.input(name)

    def vector(self, name: str, size: int, wanted: Iterable[int]) -> Vector:
        """Entries of an input vector; the others are zero."""
        asked = set(wanted)
        return [self.given(f"{name}[{k}]") if k in asked else 0.0 for k in range(size)]

    def gives(self, name: str, value: Scalar) -> None:
        if not is_zero([value]):
            self.outputs[name] = value

    def gives_vector(self, name: str, values: dict[int, Scalar]) -> None:
        for k, value in sorted(values.items()):
            self.gives(f"{name}[{k}]", value)

    def gives_lower(self, name: str, entries: Entries) -> None:
        for (i, j), value in sorted(entries.items()):
            if j <= i:
                self.gives(f"{name}[{i},{j}]", value)

    def gives_columns(self, name: str, order: Iterable[int], columns: list[dict]) -> None:
        for i in order:
            for j, column in zip(order, columns, strict=True):
                self.gives(f"{name}[{i},{j}]", column.get(i, 0.0))

    def graph(self) -> Graph:
        lifted = {name: self.builder.lift(value) for name, value in self.outputs.items()}
        return Graph(tuple(self.inputs), lifted)


@dataclass
class Pass:
    """The recursions at one acceleration."""

    state: State
    moved: dict[int, Moved]
    whole: dict[int, Wrench]  # on each joint's subtree
    tau: Vector


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

    def dynamics(qdd: Vector, again: str = "") -> Pass:
        """Way out and way back; what is traced ``again`` has regions of its own."""
        here = replace(state, qdd=qdd)
        out, back = f"forward{again}", f"backward{again}"
        moved = move(builder, weighed, here, unit, multiplications, out)
        forces = body_forces(builder, weighed, moved, here, unit, out)
        tau, whole = gather(builder, weighed, moved, forces, unit, back)
        return Pass(here, moved, whole, tau)

    def gradients(at: Pass, again: str = "") -> Gradient:
        if formulation == "composite":
            return gradient(builder, robot, at.moved, at.whole, unit, f"backward{again}")
        return recursive_gradient(builder, robot, at.moved, at.state, unit, again)

    moves = functions - {"m", "minv"}
    weighed = robot if moves else replace(robot, gravity=frozen([0.0, 0.0, 0.0]))
    passes: list[Pass] = []
    if functions & AT_GIVEN_ACCELERATION:
        passes.append(dynamics(list(state.qdd)))
    if functions & AT_GIVEN_EFFORT or not moves:
        passes.append(dynamics([*state.qdd[:base], *[0.0] * len(order)]))
    columns: list[list[dict[int, Scalar]]] = []
    if functions & {"id", "did"}:
        face.gives_vector("tau", {k: passes[0].tau[k] for k in order})
    if functions & {"did", "difd"}:
        columns = _columns(gradients(passes[0]), order)
    if "did" in functions:
        face.gives_columns("dtau_dq", order, columns[0])
        face.gives_columns("dtau_dqd", order, columns[1])
    if "difd" in functions:
        inverse = {(i, j): face.given(f"Minv[{i},{j}]") for i in order for j in order if j <= i}
        _gives_forward(face, order, [times(builder, inverse, order, c) for c in columns])
    if functions - {"id", "did", "difd"}:
        last = passes[-1]
        M = gradient(builder, robot, last.moved, last.whole, unit).M
        if "m" in functions:
            face.gives_lower("M", {(i, j): M[i][j] for i in order for j in order})
    if functions & {"fd", "minv", "dfd"}:
        if factorisation == "mminvgen":
            inverse = mass_matrix_inverse(builder, robot, last.moved, unit)
            solver = Solver(builder, order, inverse=inverse)
        else:
            solver = Solver(builder, order, factorise(builder, M, order))
        if "minv" in functions:
            face.gives_lower("Minv", solver.explicit())
    if functions & AT_GIVEN_EFFORT:
        tau = face.vector("tau", robot.nv, order)
        with builder.region("effort", 0):
            rest = {k: tau[k] - last.tau[k] for k in order}
        (qdd,) = solver.times([rest])
        face.gives_vector("qdd", qdd)
    if "dfd" in functions:
        accelerations = [*state.qdd[:base], *(qdd.get(k, 0.0) for k in order)]
        gradients(last)  # what does not depend on q̈ belongs to the first way back
        columns = _columns(gradients(dynamics(accelerations, "_again"), "_again"), order)
        _gives_forward(face, order, [solver.times(c, "_again") for c in columns])
    return face.graph()


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
