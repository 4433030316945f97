"""The directions of a robot's coordinates: how inputs change along them, how they commute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from ..graph.node import Node
from ..robot.model import JointKind, Robot
from .motion import RobotState, multiplier
from .scalars import Scalar
from .spatial import ZERO, Rotation, Twist, add, cross, dot

Made = Callable[[], Scalar]
_UNIT = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])


def seeds(robot: Robot, state: RobotState, order: Mapping[int, int]) -> dict[str, dict[int, Made]]:
    """Input of a graph → coordinate k of ``order`` → what makes its derivative along q_k.

    Along the tangent space of q: a floating joint's directions are twists of its body's own axes.
    """
    found: dict[str, dict[int, Made]] = {}
    for i in robot.moving:
        joint, first = robot.joints[i], robot.v_slices[i].start
        own = list(state.q[robot.q_slices[i]])
        match joint.kind:
            case JointKind.FLOATING:
                rates = [_floating(own, m) for m in range(6)]
            case JointKind.PLANAR:
                rates = [_planar(own, m) for m in range(3)]
            case _ if i in state.turns:
                sin, cos = state.turns[i]
                own, m = [sin, cos], multiplier(joint)
                rates = [[_times(m, cos), _times(-m, sin)]]
            case _:
                rates = [[_times(1.0, 1.0)]]
        for n, changes in enumerate(rates):
            for word, change in zip(own, changes, strict=True):
                if isinstance(word, Node) and first + n in order:
                    found.setdefault(word.name, {})[first + n] = change
    return found


def _times(factor: float, x: Scalar) -> Made:
    return lambda: factor * x


def _floating(q: list[Scalar], m: int) -> list[Made]:
    """Derivatives of (x, y, z, quaternion x, y, z, w) by component m of a twist, linear first."""
    if m < 3:  # ṗ = R v
        still = [_times(0.0, 0.0)] * 4
        return [lambda k=k: Rotation.of_quaternion(q[3:]).matrix[k][m] for k in range(3)] + still
    s, v, w = _UNIT[m - 3], q[3:6], q[6]
    # half of the quaternion times (s, 0): (w s + v × s, -v·s)
    turned = [lambda k=k: 0.5 * add([w * x for x in s], cross(v, s))[k] for k in range(3)]
    return [_times(0.0, 0.0)] * 3 + [*turned, lambda: -0.5 * dot(v, s)]


def _planar(q: list[Scalar], m: int) -> list[Made]:
    """Derivatives of (x, y, cos, sin) by component m of (v_x, v_y, ω)."""
    _, _, cos, sin = q
    zero = _times(0.0, 0.0)
    return [
        [_times(1.0, cos), _times(1.0, sin), zero, zero],
        [_times(-1.0, sin), _times(1.0, cos), zero, zero],
        [zero, zero, _times(-1.0, sin), _times(1.0, cos)],
    ][m]


@cache
def brackets(kind: JointKind) -> list[list[list[int]]]:
    """γ_mjk (nv, nv, nv) of a joint's directions: [e_j, e_k] = Σ γ_mjk e_m, each -1, 0 or 1."""
    match kind:
        case JointKind.FLOATING:
            axes: list[Twist] = [(ZERO, s) for s in _UNIT] + [(s, ZERO) for s in _UNIT]
        case JointKind.PLANAR:
            axes = [(ZERO, _UNIT[0]), (ZERO, _UNIT[1]), (_UNIT[2], ZERO)]
        case _:
            return [[[0]]]
    found = []
    for s, sigma in axes:
        rows = []
        for a, b in axes:
            # (a; b) × (c; d) = (a × c; a × d + b × c)
            both = [(cross(a, c), add(cross(a, d), cross(b, c))) for c, d in axes]
            rows.append([round(dot(s, x) + dot(sigma, y)) for x, y in both])
        found.append(rows)
    return found
