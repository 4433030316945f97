"""Trace a function of a robot to a graph: names for the interface, then one call."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph.graph import Graph
from ..graph.node import Builder
from ..robot.model import JointKind, Robot, RobotError
from .interface import WRENCH, revolute
from .rnea import rnea
from .scalars import Scalar, Vector


def trace_id(
    robot: Robot,
    external_forces: Sequence[int] = (),
    multiplications: int = 4,
    sincos_inputs: bool = False,
) -> Graph:
    """Inverse dynamics of a canonical robot as a graph.

    Inputs ``q[k]``, ``qd[k]``, ``qdd[k]`` for each free joint k, ``f_ext[b].fx`` … ``.nz`` for
    each body b named in ``external_forces`` (indices of joints, numbered as in
    ``robot.moving``), outputs ``tau[k]``. With ``sincos_inputs`` the angles come as
    ``sin[i]``, ``cos[i]`` per revolute joint i, and only sliding joints keep their ``q[k]``.
    """
    require_one_axis(robot, "id")
    builder = Builder()
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
    tau = rnea(builder, robot, state["q"], state["qd"], state["qdd"], f_ext, turns, multiplications)
    outputs = {f"tau[{k}]": builder.lift(t) for k, t in enumerate(tau)}
    return Graph(tuple(inputs), outputs)


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
    """Functions of a canonical robot as one graph; so far inverse dynamics only."""
    if tuple(functions) != ("id",):
        raise RobotError(f"--function {','.join(functions)}: only id is hardware so far")
    return trace_id(robot, external_forces, multiplications, sincos_inputs)


def require_one_axis(robot: Robot, function: str) -> None:
    """Refuse, in one line, joints that this function's hardware does not cover."""
    for joint in robot.joints:
        if joint.kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.FIXED):
            raise RobotError(
                f'{robot.name}: joint "{joint.name}" is {joint.kind.value}; hardware for '
                f"--function {function} covers revolute, continuous and prismatic joints "
                "(the golden model covers all)"
            )
