"""M⁻¹ from articulated-body inertias: Dadu-RBD's MMinvGen (Yang et al., MICRO 2023, Algorithm 2).

On the way back every joint is freed from what hangs on it: Iᴬ loses U D⁻¹ Uᵀ, and F collects what
the joints below it do; on the way out P is the acceleration that they cause. Joints of several
coordinates are freed one coordinate after the other. An articulated inertia maps a twist
(x; y) to moment J x + H y and force Hᵀ x + N y.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..robot.model import Robot
from .axes import Axis, FrameChange, axes_of, power, steps_to_parent, twist_before, wrench_after
from .bodies import Mass
from .elimination import Entries
from .motion import LinkMotion
from .scalars import Arithmetic, Scalar
from .spatial import (
    ZERO,
    Tensor,
    Twist,
    Wrench,
    add,
    is_zero,
    matvec,
    outer,
    product,
    scale,
    skew,
    symmetric,
    tensor_sum,
    transposed,
)
from .units import Units, scaled


@dataclass
class Articulated:
    """J and N are symmetric."""

    J: Tensor
    H: Tensor
    N: Tensor

    def plus(self, other: Articulated) -> Articulated:
        return Articulated(
            symmetric(tensor_sum(self.J, other.J)),
            tensor_sum(self.H, other.H),
            symmetric(tensor_sum(self.N, other.N)),
        )

    def times(self, twist: Twist) -> Wrench:
        x, y = twist
        moment = add(matvec(self.J, x), matvec(self.H, y))
        return add(matvec(transposed(self.H), x), matvec(self.N, y)), moment

    def without(self, U: Wrench, share: Wrench) -> Articulated:
        """Less U shareᵀ, where share = D⁻¹ U."""
        force, moment = U
        minus = [scale(-1.0, v) for v in share]
        return Articulated(
            symmetric(tensor_sum(self.J, outer(moment, minus[1]))),
            tensor_sum(self.H, outer(moment, minus[0])),
            symmetric(tensor_sum(self.N, outer(force, minus[0]))),
        )

    def seen_after(self, step: FrameChange) -> Articulated:
        J, H, N = self.J, self.H, self.N
        if (R := step.rotation) is not None:
            J, H, N = R.tensor(J), R.tensor(H), R.tensor(N)
        if is_zero(step.r):
            return Articulated(J, H, N)
        r = skew(step.r)
        # H + r̂ N,   J + r̂ Hᵀ - H r̂ - r̂ N r̂ = J + r̂ Hᵀ + (r̂ (H + r̂ N)ᵀ)ᵀ
        moved = tensor_sum(H, [list(row) for row in product(r, N)])
        J = tensor_sum(J, product(r, transposed(H)))
        J = symmetric(tensor_sum(J, transposed(product(r, transposed(moved)))))
        return Articulated(J, moved, N)


def mass_matrix_inverse(
    arithmetic: Arithmetic, robot: Robot, moved: dict[int, LinkMotion], unit: Units
) -> Entries:
    """M⁻¹ (nv, nv), lower triangle, zeros left out.

    Regions ("articulated", i) on the way back, ("inverse", i) on the way out. Every coordinate
    must belong to one joint: with folded mimic joints the tree is none in q̇.
    """
    passed: dict[int, tuple[Articulated, dict[int, Wrench]]] = {}
    rows: dict[int, dict[int, Scalar]] = {}
    freed: dict[int, list[tuple[Axis, Wrench]]] = {}
    for i in reversed(range(len(robot.joints))):
        joint = robot.joints[i]
        with arithmetic.region("articulated", i):
            body = _own(moved[i].mass, unit)
            F: dict[int, Wrench] = {}
            for child in robot.children[i]:
                body = body.plus(passed[child][0])
                F |= passed[child][1]
            freed[i] = []
            for axis in reversed(axes_of(robot, i, moved[i], unit)):
                U = body.times(axis.S)
                # a rotor resists the joint alone: nothing of it goes on to the parent
                rotor = _over(joint.drivetrain.armature, axis.factor**2)
                D_inverse = arithmetic.recip(power(axis.S, U) + rotor)
                row = {k: -(power(axis.S, f) * D_inverse) for k, f in F.items()}
                rows[axis.index] = row | {axis.index: D_inverse}
                share = scale(D_inverse, U[0]), scale(D_inverse, U[1])
                freed[i].append((axis, share))
                F = {
                    k: (add(F[k][0], scale(row[k], U[0])), add(F[k][1], scale(row[k], U[1])))
                    for k in F
                } | {axis.index: share}
                body = body.without(U, share)
            if joint.parent >= 0:
                for step in steps_to_parent(joint, moved[i], moved[joint.parent].motion, unit):
                    body = body.seen_after(step)
                    F = {k: wrench_after(f, step) for k, f in F.items()}
                passed[i] = body, F
    return _outward(arithmetic, robot, moved, unit, rows, freed)


def _over(number: Scalar, by: float) -> Scalar:
    """A quotient; of a number that is not known, the product that takes no reciprocal."""
    return number / by if isinstance(number, float | int) else (1 / by) * number


def _outward(
    arithmetic: Arithmetic,
    robot: Robot,
    moved: dict[int, LinkMotion],
    unit: Units,
    rows: dict[int, dict[int, Scalar]],
    freed: dict[int, list[tuple[Axis, Wrench]]],
) -> Entries:
    """M⁻¹[i, :] -= D⁻¹ Uᵀ X P_λ;  P = S M⁻¹[i, :] + X P_λ."""
    order = sorted(rows)
    factor = {axis.index: axis.factor for axes in freed.values() for axis, _ in axes}
    inverse: Entries = {}
    P: dict[int, dict[int, Twist]] = {}
    for i, joint in enumerate(robot.joints):
        with arithmetic.region("inverse", i):
            here: dict[int, Twist] = {}
            if joint.parent >= 0:
                steps = steps_to_parent(joint, moved[i], moved[joint.parent].motion, unit)
                here = {k: twist_before(x, steps) for k, x in P[joint.parent].items()}
            for axis, share in reversed(freed[i]):
                for k in (k for k in order if k >= axis.index):
                    value: Scalar = rows[axis.index].get(k, 0.0)
                    if k in here:
                        value = value - power(here[k], share)
                    if is_zero([value]):
                        continue
                    inverse[k, axis.index] = (1 / (factor[k] * axis.factor)) * value
                    x, y = here.get(k, (ZERO, ZERO))
                    s, sigma = axis.S
                    here[k] = add(x, scale(value, s)), add(y, scale(value, sigma))
            P[i] = here
    return inverse


def _own(mass: Mass, unit: Units) -> Articulated:
    A = unit.acceleration
    (m,) = scaled([mass.m], 1 / A**2)
    N = [[m if j == k else 0.0 for k in range(3)] for j in range(3)]
    return Articulated(symmetric(mass.J), skew(scaled(mass.h, 1 / A)), N)
