"""What gradients are made of in one frame: axes as fields, composites of subtrees, and columns.

Everything is about O, seen by an observer in steady motion with c's origin (``logarithmic``),

    v = Σ→ of linear velocities at O,  v_c = 0      a_O = -g + Σ→ (U_λ - U) o + …

and composites are plain subtree sums; the columns of ``composite`` meet every ancestor's axis
without being carried to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..robot.model import JointKind
from .axes import Axis, Step
from .composite import Column, Composite, body_alone, column_of, turning
from .logarithmic import Logarithmic
from .motion import Motion
from .networks import path_sums, plus, subtree_sums
from .scalars import Scalar, Vector
from .spatial import ZERO, add, cross, matvec, scale, skew, sub, tensor_sum, wrench_sum


@dataclass(frozen=True)
class Gathered:
    """Efforts, and of each joint: composite, axes and columns, its own and as its ancestors see
    them."""

    tau: Vector
    composites: dict[int, Composite]
    fields: dict[int, list[Axis]]
    own: dict[int, list[Column]]
    above: dict[int, list[Column]]


def gathered(sums: Logarithmic) -> Gathered:
    """τ, and all that its gradients are made of."""
    motions = sums.motions(about_O=True)
    velocities = _velocities(sums)
    bodies = _bodies(sums, motions, velocities)
    wrenches = sums.wrenches(motions, about_O=True)
    composites = _composites(sums, bodies)
    fields = {i: _fields(sums, i, motions, velocities) for i in motions}
    own: dict[int, list[Column]] = {}
    above: dict[int, list[Column]] = {}
    for k, axes in fields.items():
        with sums.at(k):
            own[k] = [column_of(axis, composites[k]) for axis in axes]
            above[k] = [
                turning(axis.S, column, wrenches[k])
                for axis, column in zip(axes, own[k], strict=True)
            ]
    return Gathered(sums.efforts(wrenches), composites, fields, own, above)


def accelerated(sums: Logarithmic, found: Gathered, qdd: Mapping[int, Scalar]) -> Gathered:
    """The same at an acceleration that is ``qdd`` (by place in q̇) more; without its τ.

    What q̈ adds is linear in it and takes no second recursion:

        A = Σ→ S q̈      Δf = I A_λ + Σ↓ G1 q̈      ΔΨ̈ = A_λ × S      ΔF2 = I ΔΨ̈
    """
    parent, at = sums.frame.parent, sums.at
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
            for before, column, seen in zip(found.fields[i], columns, found.above[i], strict=True):
                s, sigma = before.S
                turned_along = cross(x, s), add(cross(x, sigma), cross(y, s))
                axis = replace(before, second=wrench_sum(before.second, turned_along))
                wrench = found.composites[i].inertia_times(turned_along)
                fields[i].append(axis)
                own[i].append(replace(column, F2=wrench_sum(column.F2, wrench)))
                seen = replace(seen, F2=wrench_sum(seen.F2, wrench))
                above[i].append(turning(axis.S, seen, more))
    return Gathered([], found.composites, fields, own, above)


def _velocities(sums: Logarithmic) -> dict[int, Vector]:
    """Linear velocities at O, as the observer sees them: of each body, and -1 - i of the base
    under joint i."""
    frame = sums.frame
    steps, at = {}, sums.at
    for i, (w_J, v_J) in frame.rates.items():
        with at(i):
            if sums.robot.joints[i].kind is JointKind.REVOLUTE:  # σ is there, and σ q̇ is less
                ((_, _, (_, sigma)),) = sums.axes[i]
                steps[i] = scale(frame.relative[i].rates[0][2], sigma)
            else:
                steps[i] = add(v_J, cross(frame.o[i], w_J))
    found = frame.from_centre(steps, at)
    for i, joint in enumerate(sums.robot.joints):
        if joint.parent < 0:
            with at(i):
                found[-1 - i] = sub(found[i], steps[i])
    return found


def _fields(
    sums: Logarithmic, i: int, motions: dict[int, Motion], velocities: dict[int, Vector]
) -> list[Axis]:
    """The joint's axes, which move along with its parent."""
    parent = sums.robot.joints[i].parent
    above = motions.get(parent, Motion(ZERO, ZERO, sums.frame.weight.get(i, ZERO)))
    v, U = velocities[parent if parent >= 0 else -1 - i], above.U()
    several = sums.robot.joints[i].kind in (JointKind.PLANAR, JointKind.FLOATING)
    w_J, slip = sums.frame.rates[i]
    found = []
    with sums.at(i):
        v_J = add(slip, cross(sums.frame.o[i], w_J))
        for index, factor, (s, sigma) in sums.axes[i]:
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
    sums: Logarithmic, motions: dict[int, Motion], velocities: dict[int, Vector]
) -> dict[int, Vector]:
    """Each body's μ, inertia and momentum about O as one vector."""
    found: dict[int, Vector] = {}
    for i, motion in motions.items():
        with sums.at(i):
            still, w, mean = sums.inertia(i, True), motion.w, sums.mean(i, True)
            body = body_alone(still.m, still.h, still.S, w)
            body = body.seen_after(Step(None, ZERO, velocities[i]))
            body.L = tensor_sum(body.L, skew(scale(mean, w)))
            found[i] = [mean, *_flat(body)]
    return found


def _composites(sums: Logarithmic, bodies: dict[int, Vector]) -> dict[int, Composite]:
    """Inertia and momentum of each whole subtree."""
    total = subtree_sums(bodies, sums.frame.parent, sums.at)
    found = {}
    for i, (mean, *flat) in total.items():
        with sums.at(i):
            found[i] = _folded(mean, flat)
    return found


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
