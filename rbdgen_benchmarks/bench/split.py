"""ΔID in two parts, for who shares the work with a coprocessor (Plancher et al., RA-L 2021, §IV).

The first part is inverse dynamics, which gives each body's velocity v, acceleration a and force f;
the second takes them and gives the gradients, by Carpentier's recursion. With M⁻¹ times them on the
host that is their *split* codesign; *fused* is ``did``, *completely fused* ``difd``.

Words ``v[i].wx`` … ``v[i].vz``, ``a[i].wx`` …, ``f[i].fx`` … ``f[i].nz`` are of joint i's body in
its own frame, in the units of the graphs, which are the same in both; f is what the joint passes
on, of its whole subtree. For joints with one axis each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rbdgen.dynamics.interface import WRENCH, GraphPorts
from rbdgen.dynamics.motion import LinkMotion, RobotState
from rbdgen.dynamics.outward import move
from rbdgen.dynamics.recursive import motions, recursive_gradient
from rbdgen.dynamics.rnea import gather
from rbdgen.dynamics.scalars import Scalar, Vector
from rbdgen.dynamics.spatial import Wrench, is_zero
from rbdgen.dynamics.steps import Inline
from rbdgen.dynamics.units import Units, consistent_units
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.graph.word import spell
from rbdgen.robot.model import JointKind, Robot, RobotError

TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")
ONE_AXIS = (JointKind.REVOLUTE, JointKind.PRISMATIC)


def motion(robot: Robot) -> Graph:
    """``q``, ``qd``, ``qdd`` → ``v``, ``a``, ``f`` of every body; RobotError for other joints."""
    face, unit = _face(robot)
    nv = robot.nv
    q, qd, qdd = (face.vector(name, nv, range(nv)) for name in ("q", "qd", "qdd"))
    moved, found = _whole(face, robot, RobotState(q, qd, qdd), unit)
    for i, (v, a) in motions(robot, moved, unit, face.builder).items():
        for name, value in _words(i, v, a, found[i]):
            face.gives(name, value)
    return face.graph()


def slopes(robot: Robot) -> Graph:
    """``q``, ``qd``, ``v``, ``a``, ``f`` → ``dtau_dq``, ``dtau_dqd``; RobotError as before.

    Words that are zero in every state, of the bodies near the base, are no inputs.
    """
    face, unit = _face(robot)
    nv = robot.nv
    q, qd = (face.vector(name, nv, range(nv)) for name in ("q", "qd"))
    moved = move(Inline(face.builder), robot, RobotState(q, qd, [0.0] * nv), unit)
    there = motion(robot).outputs
    given, whole = {}, {}
    for i in range(len(robot.joints)):
        v, a, f = (
            [face.given(name) if name in there else 0.0 for name in names] for names in _names(i)
        )
        given[i] = (v[:3], v[3:]), (a[:3], a[3:])
        whole[i] = f[:3], f[3:]
    found = recursive_gradient(face.builder, robot, moved, whole, unit, given=given)
    for name, entries in (("dtau_dq", found.dtau_dq), ("dtau_dqd", found.dtau_dqd)):
        for i, row in enumerate(entries):
            for j, value in enumerate(row):
                face.gives(spell(name, i, j), value)
    return face.graph()


def product(robot: Robot, entries: Sequence[str]) -> Graph:
    """``Minv`` (lower triangle) and ``entries`` of ∂τ/∂q, ∂τ/∂q̇ → ``dqdd_dq``, ``dqdd_dqd``."""
    face = GraphPorts(Builder())
    nv = robot.nv
    lower = {(i, j): face.given(spell("Minv", i, j)) for i in range(nv) for j in range(i + 1)}
    given = {name: face.given(name) for name in entries}
    with face.builder.region("minv", 0):
        for to, of in (("dqdd_dq", "dtau_dq"), ("dqdd_dqd", "dtau_dqd")):
            for i in range(nv):
                for j in range(nv):
                    total: Scalar = 0.0
                    for k in range(nv):
                        if (name := spell(of, k, j)) in given:
                            total = total + lower[max(i, k), min(i, k)] * given[name]
                    if not is_zero([total]):
                        face.gives(spell(to, i, j), -total)
    return face.graph()


def _face(robot: Robot) -> tuple[GraphPorts, Units]:
    for joint in robot.joints:
        if joint.kind not in ONE_AXIS or joint.mimic:
            raise RobotError(f'{robot.name}: joint "{joint.name}" has not one axis of its own')
        if not joint.drivetrain.is_zero:
            raise RobotError(
                f'{robot.name}: joint "{joint.name}" has a rotor, damping or friction, which these '
                "parts leave out"
            )
    return GraphPorts(Builder()), consistent_units(robot)[0]


def _whole(
    face: GraphPorts, robot: Robot, state: RobotState, unit: Units
) -> tuple[dict[int, LinkMotion], dict[int, Wrench]]:
    moved = move(Inline(face.builder), robot, state, unit)
    whole: dict[int, Wrench] = {}
    gather(Inline(face.builder), robot, moved, unit, observe=whole.__setitem__)
    return moved, whole


def _names(i: int) -> Iterator[list[str]]:
    for kind, axes in (("v", TWIST), ("a", TWIST), ("f", WRENCH)):
        yield [spell(kind, i, axis=axis) for axis in axes]


def _words(i: int, *pairs: tuple[Vector, Vector]) -> Iterator[tuple[str, Scalar]]:
    for names, (first, last) in zip(_names(i), pairs, strict=True):
        yield from zip(names, (*first, *last), strict=True)
