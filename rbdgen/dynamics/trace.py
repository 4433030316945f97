"""Trace a function of a robot to a graph: names for the interface, then one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..graph.graph import Graph
from ..graph.node import Builder, Op
from ..robot.model import JointKind, Robot, RobotError, frozen
from .interface import WRENCH, revolute
from .motion import State
from .rnea import rnea
from .scalars import Scalar, Vector


def trace_id(
    robot: Robot,
    external_forces: Sequence[int] = (),
    multiplications: int = 4,
    sincos_inputs: bool = False,
    builder: Builder | None = None,
) -> Graph:
    """Inverse dynamics of a canonical robot as a graph.

    Inputs ``q[k]``, ``qd[k]``, ``qdd[k]`` for each free joint k, ``f_ext[b].fx`` … ``.nz`` for
    each body b named in ``external_forces`` (indices of joints, numbered as in
    ``robot.moving``), outputs ``tau[k]``. With ``sincos_inputs`` the angles come as
    ``sin[i]``, ``cos[i]`` per revolute joint i, and only sliding joints keep their ``q[k]``.
    """
    require_one_axis(robot, "id")
    builder = builder or Builder()
    inputs: list[str] = []

    def given(name: str) -> Scalar:
        inputs.append(name)
        return builder.input(name)

    turning = revolute(robot) if sincos_inputs else []
    turns = {i: (given(f"sin[{i}]"), given(f"cos[{i}]")) for i in turning}
    slides = {robot.v_slices[i].start for i in robot.moving if i not in turning}
    state: dict[str, list[Scalar]] = {}
    for name in ("q", "qd", "qdd"):
        hidden = sincos_inputs and name == "q"
        state[name] = [
            given(f"{name}[{k}]") if not hidden or k in slides else 0.0 for k in range(robot.nv)
        ]
    f_ext: dict[int, Vector] = {}
    for i in external_forces:
        body = robot.moving.index(i)
        f_ext[i] = [given(f"f_ext[{body}].{axis}") for axis in WRENCH]
    tau = rnea(builder, robot, State(**state, f_ext=f_ext, turns=turns), multiplications)
    outputs = {f"tau[{k}]": builder.lift(t) for k, t in enumerate(tau)}
    return Graph(tuple(inputs), outputs)


def trace_m(
    robot: Robot,
    multiplications: int = 4,
    sincos_inputs: bool = False,
    builder: Builder | None = None,
) -> Graph:
    """The mass matrix's lower triangle ``M[i,j]`` of a canonical robot, from ``q[k]``.

    Column j is the effort of a unit acceleration at rest without weight.
    """
    require_one_axis(robot, "m")
    builder = builder or Builder()
    weightless = replace(robot, gravity=frozen([0.0, 0.0, 0.0]))
    turning = revolute(robot) if sincos_inputs else []
    turns = {i: (builder.input(f"sin[{i}]"), builder.input(f"cos[{i}]")) for i in turning}
    hidden = {robot.v_slices[i].start for i in turning}
    q = [0.0 if k in hidden else builder.input(f"q[{k}]") for k in range(robot.nv)]
    names = [name for i in turning for name in (f"sin[{i}]", f"cos[{i}]")]
    names += [f"q[{k}]" for k in range(robot.nv) if k not in hidden]
    still, outputs = [0.0] * robot.nv, {}
    for j in range(robot.nv):
        unit = [float(k == j) for k in range(robot.nv)]
        column = rnea(builder, weightless, q, still, unit, {}, turns, multiplications)
        for i in range(j, robot.nv):
            entry = builder.lift(column[i])
            if not (entry.op is Op.CONST and entry.value == 0):
                outputs[f"M[{i},{j}]"] = entry
    return Graph(tuple(names), outputs)


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
    """Functions of a canonical robot as one graph; so far inverse dynamics and mass matrix."""
    if extra := set(functions) - {"id", "m"}:
        raise RobotError(f"--function {','.join(sorted(extra))}: only id, m are hardware so far")
    builder = Builder()
    graphs = []
    if "id" in functions:
        graphs.append(
            trace_id(robot, external_forces, multiplications, sincos_inputs, builder=builder)
        )
    if "m" in functions:
        graphs.append(trace_m(robot, multiplications, sincos_inputs, builder=builder))
    inputs = dict.fromkeys(name for graph in graphs for name in graph.inputs)
    return Graph(tuple(inputs), {k: v for graph in graphs for k, v in graph.outputs.items()})


def require_one_axis(robot: Robot, function: str) -> None:
    """Refuse, in one line, joints that this function's hardware does not cover."""
    for joint in robot.joints:
        if joint.kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.FIXED):
            raise RobotError(
                f'{robot.name}: joint "{joint.name}" is {joint.kind.value}; hardware for '
                f"--function {function} covers revolute, continuous and prismatic joints "
                "(the golden model covers all)"
            )
