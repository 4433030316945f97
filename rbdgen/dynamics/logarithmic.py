"""Inverse dynamics in logarithmic depth: sums in one frame for each tree.

Along the axes of one body c of its tree (``common_frame``), with places and moments about c's
origin O where nothing else is said, the recursions are sums over a path from the base (Σ→) or over
a subtree (Σ↓), each a few levels of additions:

    ω = Σ→ ω_J      α = Σ→ α_J + ω_λ × ω_J      U = α̂ + ωωᵀ - (ω·ω) 1
    a = -g + Σ→ U_λ ρ + a_J + 2 ω_λ × v_J + ω_J × v_J      of each body's own origin, less gravity
    F = m a + U η      N = η × a + (moment of U W Σ Wᵀ) + o × F,      η = W h
    τ = S·(Σ↓ F, Σ↓ N),      S = (s; o × s) of a turning axis s, (0; s) of a sliding one

with ω_J, v_J, α_J, a_J the joint's own rates and changes, ρ the way from the parent's origin. For
gradients everything is about O: ``fields`` has what they are made of, ``entries`` what it makes.

Recorded (``recording``) these are visits to a few templates, of each kind of joint:

    turn, joint, weight   a joint by itself (``relative``)
    edge, glue, lever     rotations and rates in one frame, by a prefix network; places
    reversed, add_of3 …   sums over paths and subtrees, two vectors at a time
    spin, fall            α and a of a body less its parent's
    axis, slip, field     S; S q̇ at O; Ψ̇, Ψ̈ and Φ
    body                  inertia, momentum, force and moment of a body
    back                  τ, columns and own entries of a joint
    pair                  entries of a joint and one above it
    push, faster          what a given q̈ adds to gradients; of graphs, where programs go twice
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ..robot.model import JointKind, Robot
from .axes import FrameChange, power
from .bodies import Mass, mass_of
from .common_frame import CommonFrame, Steps, turned
from .composite import Composite
from .motion import Motion, RobotState, multiplier
from .outward import external_force
from .repeated import by_kind, by_place, weighing
from .rnea import indices
from .scalars import Scalar, Vector
from .spatial import (
    ZERO,
    Tensor,
    Twist,
    Wrench,
    add,
    cross,
    is_zero,
    matvec,
    scale,
    sub,
    transposed,
)

NOTHING: Tensor = [ZERO, ZERO, ZERO]
AT_REST = Motion(ZERO, ZERO, ZERO)


class Still(NamedTuple):
    """A body at rest: m, W h, and W T Wᵀ where Σ = μ 1 + T; and μ."""

    inertia: Composite
    mean: Scalar


@dataclass(frozen=True)
class Logarithmic:
    """One state's sums: of accelerations of the bodies' own origins, or of points at O.

    What is of body i is in visits to "spin", "fall", "body" and "back", and its axes to "axis".
    """

    frame: CommonFrame
    state: RobotState
    about_O: bool
    _still: dict[int, Still] = field(default_factory=dict)

    def efforts(self) -> Vector:
        """τ (nv,)."""
        return self.of_wrenches(self.wrenches(self.motions()))

    @property
    def robot(self) -> Robot:
        return self.frame.robot

    @property
    def steps(self) -> Steps:
        return self.frame.steps

    def motions(self) -> dict[int, Motion]:
        """Motions of all bodies: ω, α and a, at the body's own origin or at its point at O."""
        frame, robot, parent, steps = self.frame, self.robot, self.frame.parent, self.steps
        w = steps.path_sums({i: own[0] for i, own in frame.rates.items()}, parent)
        turns = {}
        for i in w:
            above = w.get(parent[i], ZERO)
            own = frame.rates[i][0], frame.changes[i][0]
            turns[i] = steps(by_place("spin", robot, i), _spin, above, *own)
        alpha = steps.path_sums(turns, parent)
        angular = {i: Motion(w[i], alpha[i], ZERO) for i in w}
        falls = {}
        for i, own_motion in angular.items():
            above_motion = angular.get(parent[i], AT_REST)
            visit, rates, (_, a_J) = by_place("fall", robot, i), frame.rates[i], frame.changes[i]
            step = steps(visit, _fall, above_motion, rates, a_J, frame.weight.get(i, ZERO))
            if self.about_O:
                falls[i] = steps(visit, _of_O, step, above_motion, own_motion, frame.o[i])
            else:
                falls[i] = steps(visit, _of_origin, step, above_motion, frame.lever[i])
        a = steps.path_sums(falls, parent)
        return {i: Motion(w[i], alpha[i], a[i]) for i in w}

    def wrenches(self, motions: dict[int, Motion]) -> dict[int, Wrench]:
        """Force and moment about O on each whole subtree."""
        items = {}
        for i, motion in motions.items():
            own, visit, o = self.still(i), by_kind("body", self.robot, i), self.frame.o[i]
            wrench = self.steps(visit, _newton_euler, own.inertia, own.mean, motion)
            if self.state.f_ext:  # nothing on the others, whose visits are alike
                joint, here = self.robot.joints[i], self.steps.at(i)
                external = external_force(self.steps.run, here, joint, i, self.state)
                r = o if self.about_O else ZERO
                wrench = self.steps(visit, _less, wrench, self.frame.W[i], external, r)
            if not self.about_O:
                wrench = self.steps(visit, _moved, wrench, o)
            items[i] = [*wrench[0], *wrench[1]]
        total = self.steps.subtree_sums(items, self.frame.parent)
        return {i: (f[:3], f[3:]) for i, f in total.items()}

    def still(self, i: int) -> Still:
        """The mass and inertia of body ``i`` about O or its origin, in the common axes."""
        if i not in self._still:
            here, o = self.steps.at(i), self.frame.o[i] if self.about_O else None
            inertia = self.robot.joints[i].inertia
            mass = mass_of(self.steps.run, here, inertia, i, self.state.payload)
            if mass.is_known:
                parts = _apart(mass, self.about_O)
            else:
                parts = self.steps(weighing(i), _apart, mass, self.about_O)
            visit, W = by_kind("body", self.robot, i), self.frame.W[i]
            self._still[i] = Still(self.steps(visit, _inertia, W, o, *parts), parts[3])
        return self._still[i]

    def of_wrenches(self, wrenches: dict[int, Wrench]) -> Vector:
        """τ (nv,)."""
        tau: Vector = [0.0] * self.robot.nv
        for i, wrench in wrenches.items():
            visit, factor = by_place("back", self.robot, i), multiplier(self.robot.joints[i])
            efforts = self.steps(visit, _efforts, factor, self.axes[i], wrench)
            for k, effort in zip(self.coordinates(i), efforts, strict=True):
                tau[k] = self.steps.summed(i, tau[k], effort)
        return tau

    def coordinates(self, i: int) -> range:
        """The places of a joint's coordinates in q̇. A fixed joint, of which there are some before
        merge_fixed, has none."""
        return indices(self.robot.v_slices.get(i, slice(0, 0)))

    @cached_property
    def axes(self) -> dict[int, list[Twist]]:
        """S at O, of each joint's coordinates."""
        found = {}
        for i, joint in enumerate(self.robot.joints):
            visit = by_kind("axis", self.robot, i)
            found[i] = self.steps(visit, _axes, joint.kind, self.frame.W[i], self.frame.o[i])
        return found


def _spin(above: Vector, w_J: Vector, alpha_J: Vector) -> Vector:
    """α - α_λ = α_J + ω_λ × ω_J."""
    return add(alpha_J, cross(above, w_J))


def _fall(above: Motion, rates: Twist, a_J: Vector, weight: Vector) -> Vector:
    """a_J + 2 ω_λ × v_J + ω_J × v_J, and the weight of a joint on the base."""
    w_J, v_J = rates
    coriolis = add(scale(2.0, cross(above.w, v_J)), cross(w_J, v_J))
    return add(add(a_J, coriolis), weight)


def _of_O(step: Vector, above: Motion, own: Motion, o: Vector) -> Vector:
    """The acceleration of the body's point at O: + (U_λ - U) o."""
    U = [sub(a, b) for a, b in zip(above.U(), own.U(), strict=True)]
    return add(step, matvec(U, o))


def _of_origin(step: Vector, above: Motion, lever: Vector) -> Vector:
    """The acceleration of the body's own origin: + U_λ ρ."""
    return add(step, matvec(above.U(), lever))


def _apart(mass: Mass, about_O: bool) -> tuple[Scalar, Vector, Tensor, Scalar]:
    """m, h, T and μ, what of Σ need not be turned. About O that is ½ tr J, where products with ω
    take its part; else an entry that stands alone in its row, so that T has a row of zeros."""
    mean = mass.half
    if not about_O:
        alone = [k for k in (1, 0, 2) if is_zero([*mass.J[k][:k], *mass.J[k][k + 1 :]])]
        mean = mass.half - mass.J[alone[0]][alone[0]] if alone else 0.0
    left = mass.half - mean
    T = [[(left if j == k else 0.0) - x for k, x in enumerate(row)] for j, row in enumerate(mass.J)]
    return mass.m, mass.h, T, mean


def _inertia(W: Tensor, o: Vector | None, m: Scalar, h: Vector, T: Tensor, _: Scalar) -> Composite:
    """A body's along the axes of c, about O if it is at ``o``."""
    own = Composite(m, matvec(W, h), turned(W, T), ZERO, NOTHING)
    return own if o is None else own.seen_after(FrameChange(None, o, ZERO))


def _newton_euler(body: Composite, mean: Scalar, motion: Motion) -> Wrench:
    """F = m a + U h,  N = h × a + 2 vee(skew part of U T) + 2 μ α,  where Σ = μ 1 + T."""
    U, P, T = motion.U(), motion.products(), body.S
    force = add(scale(body.m, motion.a), matvec(U, body.h))
    # (U T)_zy - (U T)_yz = T_yy U_zy - T_zz U_yz + T_xy U_zx - T_xz U_yx + T_yz (U_zz - U_yy)
    spin = [
        T[y][y] * U[z][y]
        - T[z][z] * U[y][z]
        + (T[x][y] * U[z][x] - T[x][z] * U[y][x])
        + T[y][z] * (P[z][z] - P[y][y])
        for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    ]
    moment = add(add(spin, scale(2.0 * mean, motion.alpha)), cross(body.h, motion.a))
    return force, moment


def _less(wrench: Wrench, W: Tensor, external: Wrench, r: Vector) -> Wrench:
    """The wrench less the external force, which is in the body's axes and acts at ``r``."""
    f, n = (matvec(W, v) for v in external)
    return sub(wrench[0], f), sub(wrench[1], add(n, cross(r, f)))


def _moved(wrench: Wrench, o: Vector) -> Wrench:
    """The wrench about O of a force at ``o``."""
    force, moment = wrench
    return force, add(moment, cross(o, force))


def _efforts(factor: float, axes: list[Twist], wrench: Wrench) -> Vector:
    return [factor * power(S, wrench) for S in axes]


def _axes(kind: JointKind, W: Tensor, o: Vector) -> list[Twist]:
    columns = transposed(W)
    slides = [(ZERO, s) for s in columns]
    turns = [(s, cross(o, s)) for s in columns]
    return {
        JointKind.REVOLUTE: turns[2:],
        JointKind.PRISMATIC: slides[2:],
        JointKind.PLANAR: [*slides[:2], turns[2]],
        JointKind.FLOATING: [*slides, *turns],
        JointKind.FIXED: [],
    }[kind]
