"""Inverse dynamics and its gradients in logarithmic depth: sums in one frame for each tree.

Along the axes of one body c of its tree (``common_frame``), with places and moments about c's
origin O where nothing else is said, the recursions are sums over a path from the base (Σ→) or over
a subtree (Σ↓), each a few levels of additions:

    ω = Σ→ ω_J      α = Σ→ α_J + ω_λ × ω_J      U = α̂ + ωωᵀ - (ω·ω) 1
    a = -g + Σ→ U_λ ρ + a_J + 2 ω_λ × v_J + ω_J × v_J      of each body's own origin, less gravity
    F = m a + U η      N = η × a + (moment of U W Σ Wᵀ) + o × F,      η = W h
    τ = S·(Σ↓ F, Σ↓ N),      S = (s; o × s) of a turning axis s, (0; s) of a sliding one

with ω_J, v_J, α_J, a_J the joint's own rates and changes, ρ the way from the parent's origin. For
gradients everything is about O, seen by an observer in steady motion with c's origin,

    v = Σ→ of linear velocities at O,  v_c = 0      a_O = -g + Σ→ (U_λ - U) o + …

and composites are plain subtree sums; the columns of ``composite`` meet every ancestor's axis
without being carried to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from typing import Any

from ..robot.model import Joint, JointKind, Robot
from .axes import Axis, Step, power
from .bodies import Mass, mass_of
from .common_frame import SUMS, CommonFrame, joined_roots, turned
from .composite import (
    Column,
    Composite,
    Gradient,
    among_own,
    body_alone,
    column_of,
    put,
    turning,
    with_descendant,
)
from .forces import external_wrench
from .motion import Motion, State, multiplier
from .networks import path_sums, plus, subtree_sums
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
    skew,
    sub,
    tensor_sum,
    transposed,
    wrench_sum,
)
from .winograd import Largest, dots_with_descendant, in_pairs

NOTHING: Tensor = [ZERO, ZERO, ZERO]
AT_REST = Motion(ZERO, ZERO, ZERO)


@dataclass(frozen=True)
class Gathered:
    """Efforts, and of each joint: composite, axes and columns, its own and as its ancestors see
    them."""

    tau: Vector
    composites: dict[int, Composite]
    fields: dict[int, list[Axis]]
    own: dict[int, list[Column]]
    above: dict[int, list[Column]]


@dataclass(frozen=True)
class Logarithmic:
    """One state's sums. A tree is one region, ("sums", i) with i its first joint, ``again``
    appended: a region for each level would cost a cycle at each crossing, 9 of iiwa's 58.
    """

    arithmetic: Arithmetic
    frame: CommonFrame
    state: State
    again: str = ""
    largest: Largest | None = None  # with it entries of gradients are Winograd's inner products

    def efforts_alone(self) -> Vector:
        """τ (nv,), accelerations being of the bodies' own origins."""
        return self._efforts(self._wrenches(self.motions(about_O=False), about_O=False))

    def gathered(self) -> Gathered:
        """τ, and all that its gradients are made of."""
        motions = self.motions(about_O=True)
        velocities = self._velocities()
        bodies = self._bodies(motions, velocities)
        wrenches = self._wrenches(motions, about_O=True)
        composites = self._composites(bodies)
        fields = {i: self._fields(i, motions, velocities) for i in motions}
        own: dict[int, list[Column]] = {}
        above: dict[int, list[Column]] = {}
        for k, axes in fields.items():
            with self.at(k):
                own[k] = [column_of(axis, composites[k]) for axis in axes]
                above[k] = [
                    turning(axis.S, column, wrenches[k])
                    for axis, column in zip(axes, own[k], strict=True)
                ]
        return Gathered(self._efforts(wrenches), composites, fields, own, above)

    def gradient(self, found: Gathered) -> Gradient:
        """M, ∂τ/∂q and ∂τ/∂q̇: every coordinate's column, and what it is to all above it."""
        n, fields = self.robot.nv, found.fields
        met: dict[int, list[tuple[Axis, Axis, Column]]] = defaultdict(list)
        gradient = Gradient(*([[0.0] * n for _ in range(n)] for _ in range(3)))
        for k, axes in fields.items():
            with self.at(k):
                own = list(zip(axes, found.own[k], strict=True))
                for axis, (of, column) in product(axes, own):
                    _put_among_own(gradient, axis, of, column)
                above = self.robot.joints[k].parent
                while above >= 0:
                    seen = list(zip(axes, found.above[k], strict=True))
                    for axis, (of, column) in product(fields[above], seen):
                        if self.largest is None:
                            values = list(with_descendant(axis, column))
                            _put_with_descendant(gradient, axis, of, values)
                        else:
                            met[self._region[k]].append((axis, of, column))
                    above = self.robot.joints[above].parent
        if self.largest is not None:
            for region, together in met.items():
                with self.at(region):
                    _put_in_pairs(gradient, together, self.largest)
        return gradient

    def accelerated(self, found: Gathered, qdd: Mapping[int, Scalar]) -> Gathered:
        """The same at an acceleration that is ``qdd`` (by place in q̇) more; without its τ.

        What q̈ adds is linear in it and takes no second recursion:

            A = Σ→ S q̈      Δf = I A_λ + Σ↓ G1 q̈      ΔΨ̈ = A_λ × S      ΔF2 = I ΔΨ̈
        """
        parent, at = self.frame.parent, self.at
        steps: dict[int, Vector] = {}
        pushed: dict[int, Vector] = {}
        for i, columns in found.own.items():
            with at(i):
                steps[i], pushed[i] = [0.0] * 6, [0.0] * 6
                for axis, column in zip(found.fields[i], columns, strict=True):
                    force, moment = column.G1
                    change = axis.factor * qdd.get(axis.index, 0.0)
                    steps[i] = plus(steps[i], scale(change, [*axis.S[0], *axis.S[1]]))
                    pushed[i] = plus(pushed[i], scale(change, [*force, *moment]))
        moved = path_sums(steps, parent, at)
        below = subtree_sums(pushed, parent, at)
        fields: dict[int, list[Axis]] = {}
        own: dict[int, list[Column]] = {}
        above: dict[int, list[Column]] = {}
        for i, columns in found.own.items():
            with at(i):
                A = moved.get(parent[i], [0.0] * 6)
                x, y = A[:3], A[3:]
                carried = found.composites[i].inertia_times((x, y))
                more = wrench_sum(carried, (below[i][:3], below[i][3:]))
                fields[i], own[i], above[i] = [], [], []
                for before, column, seen in zip(
                    found.fields[i], columns, found.above[i], strict=True
                ):
                    s, sigma = before.S
                    turned_along = cross(x, s), add(cross(x, sigma), cross(y, s))
                    axis = replace(before, second=wrench_sum(before.second, turned_along))
                    wrench = found.composites[i].inertia_times(turned_along)
                    fields[i].append(axis)
                    own[i].append(replace(column, F2=wrench_sum(column.F2, wrench)))
                    seen = replace(seen, F2=wrench_sum(seen.F2, wrench))
                    above[i].append(turning(axis.S, seen, more))
        return Gathered([], found.composites, fields, own, above)

    @property
    def robot(self) -> Robot:
        return self.frame.robot

    @cached_property
    def _region(self) -> dict[int, int]:
        return joined_roots(self.robot)

    def at(self, i: int) -> AbstractContextManager[Any]:
        """The region of body i."""
        return self.arithmetic.region(SUMS + self.again, self._region[i])

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

    def _wrenches(self, motions: dict[int, Motion], about_O: bool) -> dict[int, Wrench]:
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
        force, moment = _newton_euler(body, self._mean(i, about_O), motion)
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
        left = mass.half - self._mean(i, about_O)
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

    def _mean(self, i: int, about_O: bool) -> Scalar:
        """μ, what of Σ need not be turned. About O ½ tr J, where products with ω take its part;
        else an entry that stands alone in its row, so that T has a row of zeros."""
        mass = self._masses[i]
        if about_O:
            return mass.half
        alone = [k for k in (1, 0, 2) if is_zero([*mass.J[k][:k], *mass.J[k][k + 1 :]])]
        return mass.half - mass.J[alone[0]][alone[0]] if alone else 0.0

    def _efforts(self, wrenches: dict[int, Wrench]) -> Vector:
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
            with self.arithmetic.region(SUMS, self._region[i]):
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

    def _velocities(self) -> dict[int, Vector]:
        """Linear velocities at O, as the observer sees them: of each body, and -1 - i of the base
        under joint i."""
        frame = self.frame
        steps, at = {}, self.at
        for i, (w_J, v_J) in frame.rates.items():
            with at(i):
                if self.robot.joints[i].kind is JointKind.REVOLUTE:  # σ is there, and σ q̇ is less
                    ((_, _, (_, sigma)),) = self.axes[i]
                    steps[i] = scale(frame.relative[i].rates[0][2], sigma)
                else:
                    steps[i] = add(v_J, cross(frame.o[i], w_J))
        found = frame.from_centre(steps, at)
        for i, joint in enumerate(self.robot.joints):
            if joint.parent < 0:
                with at(i):
                    found[-1 - i] = sub(found[i], steps[i])
        return found

    def _fields(
        self, i: int, motions: dict[int, Motion], velocities: dict[int, Vector]
    ) -> list[Axis]:
        """The joint's axes, which move along with its parent."""
        parent = self.robot.joints[i].parent
        above = motions.get(parent, Motion(ZERO, ZERO, self.frame.weight.get(i, ZERO)))
        v, U = velocities[parent if parent >= 0 else -1 - i], above.U()
        several = self.robot.joints[i].kind in (JointKind.PLANAR, JointKind.FLOATING)
        w_J, slip = self.frame.rates[i]
        found = []
        with self.at(i):
            v_J = add(slip, cross(self.frame.o[i], w_J))
            for index, factor, (s, sigma) in self.axes[i]:
                # Ψ̇ = (ω × s; ω × σ + v × s)
                first = cross(above.w, s), add(cross(above.w, sigma), cross(v, s))
                # Ψ̈ = (U s; U σ + 2 v × ṡ + a × s)
                second = (
                    matvec(U, s),
                    add(
                        matvec(U, sigma),
                        add(scale(2.0, cross(v, first[0])), cross(above.a, s)),
                    ),
                )
                # Φ = 2 Ψ̇ + ξ × S, ξ × S being 0 of a joint's only coordinate
                rate = scale(2.0, first[0]), scale(2.0, first[1])
                if several:
                    rate = (
                        add(rate[0], cross(w_J, s)),
                        add(rate[1], add(cross(w_J, sigma), cross(v_J, s))),
                    )
                found.append(Axis(index, factor, (s, sigma), first, second, rate))
        return found

    def _bodies(
        self, motions: dict[int, Motion], velocities: dict[int, Vector]
    ) -> dict[int, Vector]:
        """Each body's μ, inertia and momentum about O as one vector."""
        found: dict[int, Vector] = {}
        for i, motion in motions.items():
            with self.at(i):
                still, w, mean = self.inertia(i, True), motion.w, self._mean(i, True)
                body = body_alone(still.m, still.h, still.S, w)
                body = body.seen_after(Step(None, ZERO, velocities[i]))
                body.L = tensor_sum(body.L, skew(scale(mean, w)))
                found[i] = [mean, *_flat(body)]
        return found

    def _composites(self, bodies: dict[int, Vector]) -> dict[int, Composite]:
        """Inertia and momentum of each whole subtree."""
        total = subtree_sums(bodies, self.frame.parent, self.at)
        found = {}
        for i, (mean, *flat) in total.items():
            with self.at(i):
                found[i] = _folded(mean, flat)
        return found


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


def _flat(body: Composite) -> Vector:
    """m, h, the upper triangle of Σ, p and L as one vector."""
    upper = [body.S[i][j] for i in range(3) for j in range(i, 3)]
    return [body.m, *body.h, *upper, *body.p, *(x for row in body.L for x in row)]


def _folded(mean: Scalar, flat: Vector) -> Composite:
    """The composite of such a vector, the mean back in its Σ."""
    m, *rest = flat
    h, (xx, xy, xz, yy, yz, zz), p, L = rest[:3], rest[3:9], rest[9:12], rest[12:]
    S = [[xx + mean, xy, xz], [xy, yy + mean, yz], [xz, yz, zz + mean]]
    return Composite(m, h, S, p, [L[:3], L[3:6], L[6:]])


def _put_among_own(gradient: Gradient, axis: Axis, own: Axis, column: Column) -> None:
    """Entries of two coordinates of one joint."""
    M, dq, dqd = gradient
    values = among_own(axis, column)
    put(dq, axis, own, next(values))
    put(dqd, axis, own, next(values))
    if axis.index >= own.index:
        _put_both(M, axis, own, next(values))


def _put_with_descendant(gradient: Gradient, axis: Axis, k: Axis, values: Vector) -> None:
    """``with_descendant``'s entries of a joint's coordinate and one, ``k``, of a joint below."""
    M, dq, dqd = gradient
    put(dq, k, axis, values[0])
    put(dqd, k, axis, values[1])
    put(dq, axis, k, values[2])
    put(dqd, axis, k, values[3])
    _put_both(M, axis, k, values[4])


def _put_in_pairs(
    gradient: Gradient, met: list[tuple[Axis, Axis, Column]], largest: Largest
) -> None:
    """The same of all such coordinates of a tree, made together."""
    dots = [dots_with_descendant(axis, column) for axis, _, column in met]
    found = iter(in_pairs([dot for own in dots for dot in own], largest))
    for (axis, k, _), own in zip(met, dots, strict=True):
        _put_with_descendant(gradient, axis, k, list(islice(found, len(own))))


def _put_both(matrix: list[Vector], a: Axis, b: Axis, value: Scalar) -> None:
    """Into a symmetric matrix: twice into the diagonal if two joints share a coordinate."""
    put(matrix, a, b, value)
    if a is not b:
        put(matrix, b, a, value)
