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
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..robot.model import Joint, JointKind, Robot
from .axes import Step, power
from .bodies import Mass, mass_of
from .common_frame import SUMS, CommonFrame, joined_roots, turned
from .composite import Composite
from .forces import external_wrench
from .motion import Motion, State, multiplier
from .networks import path_sums, subtree_sums
from .rnea import indices
from .scalars import Arithmetic, Scalar, Vector
from .spatial import (
    ZERO,
    ConstantRotation,
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


@dataclass(frozen=True)
class Logarithmic:
    """One state's sums. A tree is one region, ("sums", i) with i its first joint, ``again``
    appended: a region for each level would cost a cycle at each crossing, 9 of iiwa's 58.
    """

    arithmetic: Arithmetic
    frame: CommonFrame
    state: State
    again: str = ""

    def efforts_alone(self) -> Vector:
        """τ (nv,), accelerations being of the bodies' own origins."""
        return self.efforts(self.wrenches(self.motions(about_O=False), about_O=False))

    @property
    def robot(self) -> Robot:
        return self.frame.robot

    @cached_property
    def region(self) -> dict[int, int]:
        return joined_roots(self.robot)

    def at(self, i: int) -> AbstractContextManager[Any]:
        """The region of body i."""
        return self.arithmetic.region(SUMS + self.again, self.region[i])

    def motions(self, about_O: bool) -> dict[int, Motion]:
        """Of all bodies: ω, α and a, of the body's own origin or of its point at O."""
        frame, parent, at = self.frame, self.frame.parent, self.at
        w = path_sums({i: rates[0] for i, rates in frame.rates.items()}, parent, at)
        turns: dict[int, Vector] = {}
        for i in w:
            with at(i):
                # α = α_λ + α_J + ω_λ × ω_J
                coriolis = cross(w.get(parent[i], ZERO), frame.rates[i][0])
                turns[i] = add(frame.changes[i][0], coriolis)
        alpha = path_sums(turns, parent, at)
        angular = {i: Motion(w[i], alpha[i], ZERO) for i in w}
        steps: dict[int, Vector] = {}
        for i, own in angular.items():
            with at(i):
                above = angular.get(parent[i], AT_REST)
                (w_J, v_J), (_, a_J) = frame.rates[i], frame.changes[i]
                coriolis = add(scale(2.0, cross(above.w, v_J)), cross(w_J, v_J))
                step = add(add(a_J, coriolis), frame.weight.get(i, ZERO))
                if about_O:
                    U = [sub(a, b) for a, b in zip(above.U(), own.U(), strict=True)]
                    steps[i] = add(step, matvec(U, frame.o[i]))
                else:
                    steps[i] = add(step, matvec(above.U(), frame.lever[i]))
        a = path_sums(steps, parent, at)
        return {i: Motion(w[i], alpha[i], a[i]) for i in w}

    def wrenches(self, motions: dict[int, Motion], about_O: bool) -> dict[int, Wrench]:
        """Force and moment about O on each whole subtree."""
        items: dict[int, Vector] = {}
        for i, motion in motions.items():
            with self.at(i):
                force, moment = self._of_body(i, motion, about_O)
                items[i] = [*force, *moment]
        total = subtree_sums(items, self.frame.parent, self.at)
        return {i: (f[:3], f[3:]) for i, f in total.items()}

    def _of_body(self, i: int, motion: Motion, about_O: bool) -> Wrench:
        body = self.inertia(i, about_O)
        force, moment = _newton_euler(body, self.mean(i, about_O), motion)
        if about_O:
            force, moment = self._less_external(i, force, moment, self.frame.o[i])
        else:
            force, moment = self._less_external(i, force, moment, ZERO)
            moment = add(moment, cross(self.frame.o[i], force))
        return force, moment

    def _less_external(self, i: int, force: Vector, moment: Vector, r: Vector) -> Wrench:
        if i not in self.state.f_ext:
            return force, moment
        W = self.frame.W[i]
        link = self.robot.joints[i].link_frame
        frame, at = ConstantRotation(link.rotation), link.translation.tolist()
        external = external_wrench(frame, at, self.state.f_ext[i], 1.0)
        f, n = (matvec(W, v) for v in external)
        return sub(force, f), sub(moment, add(n, cross(r, f)))

    def inertia(self, i: int, about_O: bool) -> Composite:
        """The body at rest, about O or its origin: m, W h, and W T Wᵀ where Σ = μ 1 + T."""
        mass, W = self._masses[i], self.frame.W[i]
        left = mass.half - self.mean(i, about_O)
        T = [
            [(left if j == k else 0.0) - x for k, x in enumerate(row)]
            for j, row in enumerate(mass.J)
        ]
        own = Composite(mass.m, matvec(W, mass.h), turned(W, T), ZERO, NOTHING)
        return own.seen_after(Step(None, self.frame.o[i], ZERO)) if about_O else own

    @cached_property
    def _masses(self) -> dict[int, Mass]:
        """What each body weighs."""
        found = {}
        for i, joint in enumerate(self.robot.joints):
            with self.at(i):
                found[i] = mass_of(joint.inertia, i, self.state.payload)
        return found

    def mean(self, i: int, about_O: bool) -> Scalar:
        """μ, what of Σ need not be turned. About O ½ tr J, where products with ω take its part;
        else an entry that stands alone in its row, so that T has a row of zeros."""
        mass = self._masses[i]
        if about_O:
            return mass.half
        alone = [k for k in (1, 0, 2) if is_zero([*mass.J[k][:k], *mass.J[k][k + 1 :]])]
        return mass.half - mass.J[alone[0]][alone[0]] if alone else 0.0

    def efforts(self, wrenches: dict[int, Wrench]) -> Vector:
        """τ (nv,)."""
        tau: Vector = [0.0] * self.robot.nv
        for i, wrench in wrenches.items():
            with self.at(i):
                for index, factor, S in self.axes[i]:
                    tau[index] += factor * power(S, wrench)
        return tau

    @cached_property
    def axes(self) -> dict[int, list[tuple[int, float, Twist]]]:
        """Of each joint's coordinates: the place in q̇, the factor, and S at O."""
        found = {}
        for i, joint in enumerate(self.robot.joints):
            with self.arithmetic.region(SUMS, self.region[i]):
                found[i] = self._axes(i, joint)
        return found

    def _axes(self, i: int, joint: Joint) -> list[tuple[int, float, Twist]]:
        if i not in self.robot.v_slices:  # a fixed joint; there are some before merge_fixed
            return []
        columns = transposed(self.frame.W[i])
        slides = [(ZERO, s) for s in columns]
        turns = [(s, cross(self.frame.o[i], s)) for s in columns]
        found = {
            JointKind.REVOLUTE: turns[2:],
            JointKind.PRISMATIC: slides[2:],
            JointKind.PLANAR: [*slides[:2], turns[2]],
            JointKind.FLOATING: [*slides, *turns],
        }[joint.kind]
        at = indices(self.robot.v_slices[i])
        return [(k, multiplier(joint), S) for k, S in zip(at, found, strict=True)]


def _newton_euler(body: Composite, mean: float, motion: Motion) -> Wrench:
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
