"""q ⊕ w of a joint and its derivatives, E = ∂(q ⊕ w)/∂q and J = ∂(q ⊕ w)/∂w.

E and J are 1 but for floating and planar joints (Solà et al., *A micro Lie theory*, 2018). What
they need of the angle |ω| of a step, sines over it and so on, are series in ω·ω: no root is taken.

The directions of a robot's coordinates are here, too: how inputs change along them, and their Lie
brackets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from ..graph.node import Node
from ..robot.model import JointKind, Robot
from .motion import RobotState, multiplier
from .scalars import Scalar, Vector
from .spatial import (
    ZERO,
    Rotation,
    Tensor,
    Twist,
    add,
    cross,
    dot,
    outer,
    product,
    scale,
    skew,
    tensor_sum,
    transposed,
)

TERMS = 8  # of a series: at half a radian a step the first that is left out is below 1e-18
ONE: Tensor = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
# Where (linear, angular) has the coordinates of such a joint.
PLACES = {JointKind.FLOATING: (0, 1, 2, 3, 4, 5), JointKind.PLANAR: (0, 1, 5)}


@dataclass(frozen=True)
class ExpMap:
    """A joint's coordinates after a step; ``E`` and ``J`` by rows, none where both are 1."""

    q: Vector
    E: list[Vector] | None = None
    J: list[Vector] | None = None

    def along(self, w: Vector) -> Vector:
        """J w."""
        if self.J is None:
            return w
        return [_total(a * b for a, b in zip(row, w, strict=True)) for row in self.J]

    def turned(self, k: int) -> Vector:
        """A column of E."""
        return [1.0] if self.E is None else [row[k] for row in self.E]


def moved(kind: JointKind, q: Vector, w: Vector) -> ExpMap:
    """A joint's coordinates ``q`` after a step ``w`` (nv,) in their tangent space."""
    if kind not in PLACES:
        return ExpMap([q[0] + w[0]])
    places = PLACES[kind]
    six: Vector = [0.0] * 6
    for place, value in zip(places, w, strict=True):
        six[place] = value
    u, omega = six[:3], six[3:]
    square = dot(omega, omega)
    slide, turn = _exponential(u, omega, square)
    # E = Ad exp(w)⁻¹ = [ Rᵀ  −Rᵀ p× ;  0  Rᵀ ]
    back = transposed(turn)
    E = _blocks(back, _negative(product(back, skew(slide))), back)
    J = _blocks(*_jacobian(u, omega, square))
    if kind is JointKind.PLANAR:
        c, s = q[2:]
        c1, s1 = turn[0][0], turn[1][0]
        x, y = slide[:2]
        after: Vector = [
            q[0] + (c * x - s * y),
            q[1] + (s * x + c * y),
            c * c1 - s * s1,
            s * c1 + c * s1,
        ]
    else:
        origin = add(q[:3], Rotation.of_quaternion(q[3:]).forward(slide))
        after = [*origin, *_times(q[3:], _quaternion(omega, square))]
    return ExpMap(after, *([[M[i][j] for j in places] for i in places] for M in (E, J)))


def _exponential(u: Vector, omega: Vector, square: Scalar) -> tuple[Vector, Tensor]:
    """p and R of exp(u, ω): R = 1 + a ω̂ + b ω̂², p = u + b ω × u + c ω × (ω × u)."""
    a, b, c = (_sine(square, n) for n in (1, 2, 3))
    turning, once = skew(scale(a, omega)), cross(omega, u)
    R = tensor_sum(ONE, tensor_sum(turning, _squared(omega, square, b)))
    return add(u, add(scale(b, once), scale(c, cross(omega, once)))), R


def _jacobian(u: Vector, omega: Vector, square: Scalar) -> tuple[Tensor, Tensor, Tensor]:
    """The blocks of J = Σ (−ad)ᵏ / (k + 1)!: of linear by linear, linear by angular, angular by
    angular. Barfoot, *State Estimation for Robotics*, eq. 7.86, with ω̂ û ω̂ = −(ω·u) ω̂::

        1 − b ω̂ + c ω̂²        −(½ − m s) û + c (u ωᵀ + ω uᵀ − 2 d) − (2 m − c) d ω̂ − 2 n d ω̂²
    """
    b, c, m = (_sine(square, n) for n in (2, 3, 4))
    n = _series(square, [(k + 1) / math.factorial(2 * k + 5) for k in range(TERMS)])
    d = dot(omega, u)
    turning = tensor_sum(
        tensor_sum(ONE, skew(scale(b, [-x for x in omega]))), _squared(omega, square, c)
    )
    mixed = outer(u, omega)
    both = _less(2.0 * d, tensor_sum(mixed, transposed(mixed)))
    skewed = skew(scale(-1.0, add(scale(0.5 - m * square, u), scale((2.0 * m - c) * d, omega))))
    off = tensor_sum([scale(c, row) for row in both], skewed)
    return turning, tensor_sum(off, _squared(omega, square, -2.0 * n * d)), turning


def _squared(omega: Vector, square: Scalar, factor: Scalar) -> Tensor:
    """factor ω̂² = factor (ω ωᵀ − ω·ω)."""
    return _less(factor * square, outer(omega, scale(factor, omega)))


def _less(x: Scalar, T: Tensor) -> Tensor:
    """T − x 1."""
    return [[own - (x if i == j else 0.0) for j, own in enumerate(r)] for i, r in enumerate(T)]


def _quaternion(omega: Vector, square: Scalar) -> Vector:
    """(x, y, z, w) of a turn by ω: (sin(θ/2) / θ) ω, cos(θ/2)."""
    terms = range(TERMS)
    part = _series(square, [0.5 / 4**k / math.factorial(2 * k + 1) for k in terms])
    return [*scale(part, omega), _series(square, [1 / 4**k / math.factorial(2 * k) for k in terms])]


def _times(p: Vector, q: Vector) -> Vector:
    """The product of two quaternions (x, y, z, w)."""
    (a, s), (b, t) = ((own[:3], own[3]) for own in (p, q))
    return [*add(add(scale(s, b), scale(t, a)), cross(a, b)), s * t - dot(a, b)]


def _sine(square: Scalar, n: int) -> Scalar:
    """1/n! − s/(n + 2)! + …: sin θ / θ, (1 − cos θ) / θ² and so on for n = 1, 2 …, s = θ²."""
    return _series(square, [1 / math.factorial(2 * k + n) for k in range(TERMS)])


def _series(square: Scalar, coefficients: list[float]) -> Scalar:
    """Σ ± coefficient squareᵏ, by Horner's rule."""
    total: Scalar = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = coefficient - square * total
    return total


def _blocks(top: Tensor, mixed: Tensor, low: Tensor) -> list[Vector]:
    return [*([*a, *b] for a, b in zip(top, mixed, strict=True)), *([*ZERO, *row] for row in low)]


def _negative(T: Tensor) -> Tensor:
    return [[-x for x in row] for row in T]


def _total(terms: Iterable[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for term in terms:
        total = total + term
    return total


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
                rates = [[_scaled(m, cos), _scaled(-m, sin)]]
            case _:
                rates = [[_scaled(1.0, 1.0)]]
        for n, changes in enumerate(rates):
            for word, change in zip(own, changes, strict=True):
                if isinstance(word, Node) and first + n in order:
                    found.setdefault(word.name, {})[first + n] = change
    return found


def _scaled(factor: float, x: Scalar) -> Made:
    return lambda: factor * x


def _floating(q: list[Scalar], m: int) -> list[Made]:
    """Derivatives of (x, y, z, quaternion x, y, z, w) by component m of a twist, linear first."""
    if m < 3:  # ṗ = R v
        still = [_scaled(0.0, 0.0)] * 4
        return [lambda k=k: Rotation.of_quaternion(q[3:]).matrix[k][m] for k in range(3)] + still
    s, v, w = _UNIT[m - 3], q[3:6], q[6]
    # half of the quaternion times (s, 0): (w s + v × s, -v·s)
    turned = [lambda k=k: 0.5 * add([w * x for x in s], cross(v, s))[k] for k in range(3)]
    return [_scaled(0.0, 0.0)] * 3 + [*turned, lambda: -0.5 * dot(v, s)]


def _planar(q: list[Scalar], m: int) -> list[Made]:
    """Derivatives of (x, y, cos, sin) by component m of (v_x, v_y, ω)."""
    _, _, cos, sin = q
    zero = _scaled(0.0, 0.0)
    return [
        [_scaled(1.0, cos), _scaled(1.0, sin), zero, zero],
        [_scaled(-1.0, sin), _scaled(1.0, cos), zero, zero],
        [zero, zero, _scaled(-1.0, sin), _scaled(1.0, cos)],
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
