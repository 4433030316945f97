"""Terms of gradients in a common frame: axes as fields, composites of subtrees, and columns.

Everything is about O, seen by an observer in steady motion with c's origin (``logarithmic``),

    v = Σ→ of linear velocities at O,  v_c = 0      a_O = -g + Σ→ (U_λ - U) o + …

and composites are plain subtree sums; the columns of ``composite`` meet every ancestor's axis
without being carried to it.

M and gradients in one frame: the columns of all coordinates meet the axes above them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice, product

from ..graph.visits import Visit
from ..robot.model import JointKind
from .axes import Axis, FrameChange
from .composite import (
    Column,
    Composite,
    Gradient,
    among_own,
    body_alone,
    column_of,
    no_gradient,
    turning,
    with_descendant,
)
from .logarithmic import Logarithmic, Still
from .motion import Motion, multiplier
from .networks import plus
from .repeated import by_kind, by_place, pairing
from .scalars import Scalar, Vector
from .spatial import (
    ZERO,
    Twist,
    Wrench,
    add,
    cross,
    matvec,
    scale,
    skew,
    sub,
    tensor_sum,
    wrench_sum,
)
from .winograd import Largest, dots_with_descendant, in_pairs


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
    """τ, and all that its gradients are made of; ``sums``: about O."""
    motions = sums.motions()
    velocities = _velocities(sums)
    bodies = _bodies(sums, motions, velocities)
    wrenches = sums.wrenches(motions)
    composites = _composites(sums, bodies)
    fields = {i: _fields(sums, i, motions, velocities) for i in motions}
    own: dict[int, list[Column]] = {}
    above: dict[int, list[Column]] = {}
    for k, axes in fields.items():
        visit = by_place("back", sums.robot, k)
        own[k] = sums.steps(visit, _columns, axes, composites[k])
        above[k] = sums.steps(visit, _turning, axes, own[k], wrenches[k])
    return Gathered(sums.of_wrenches(wrenches), composites, fields, own, above)


def _columns(axes: list[Axis], whole: Composite) -> list[Column]:
    return [column_of(axis, whole) for axis in axes]


def _turning(axes: list[Axis], columns: list[Column], wrench: Wrench) -> list[Column]:
    pairs = zip(axes, columns, strict=True)
    return [turning(axis.S, column, wrench) for axis, column in pairs]


def accelerated(sums: Logarithmic, found: Gathered, qdd: Mapping[int, Scalar]) -> Gathered:
    """The same at an acceleration that is ``qdd`` (by place in q̇) more; without its τ.

    What q̈ adds is linear in it and takes no second recursion:

        A = Σ→ S q̈      Δf = I A_λ + Σ↓ G1 q̈      ΔΨ̈ = A_λ × S      ΔF2 = I ΔΨ̈
    """
    robot, parent = sums.robot, sums.frame.parent
    ways: dict[int, Vector] = {}
    pushed: dict[int, Vector] = {}
    for i, columns in found.own.items():
        more = [qdd.get(k, 0.0) for k in sums.coordinates(i)]
        visit, factor = by_place("push", robot, i), multiplier(robot.joints[i])
        ways[i], pushed[i] = sums.steps(visit, _pushed, factor, found.fields[i], columns, more)
    moved = sums.steps.path_sums(ways, parent)
    below = sums.steps.subtree_sums(pushed, parent)
    fields: dict[int, list[Axis]] = {}
    own: dict[int, list[Column]] = {}
    above: dict[int, list[Column]] = {}
    for i, columns in found.own.items():
        A = moved.get(parent[i], [0.0] * 6)
        before = found.composites[i], found.fields[i], columns, found.above[i]
        visit = by_place("faster", robot, i)
        fields[i], own[i], above[i] = sums.steps(visit, _faster, A, below[i], *before)
    return Gathered([], found.composites, fields, own, above)


def _pushed(
    factor: float, axes: list[Axis], columns: list[Column], qdd: Vector
) -> tuple[Vector, Vector]:
    """S q̈ and G1 q̈ of a joint."""
    way, pushed = [0.0] * 6, [0.0] * 6
    for axis, column, x in zip(axes, columns, qdd, strict=True):
        force, moment = column.G1
        change = factor * x
        way = plus(way, scale(change, [*axis.S[0], *axis.S[1]]))
        pushed = plus(pushed, scale(change, [*force, *moment]))
    return way, pushed


def _faster(
    A: Vector,
    below: Vector,
    whole: Composite,
    axes: list[Axis],
    columns: list[Column],
    seen: list[Column],
) -> tuple[list[Axis], list[Column], list[Column]]:
    """A joint's axes and columns where its parent is accelerated by A more."""
    x, y = A[:3], A[3:]
    more = wrench_sum(whole.inertia_times((x, y)), (below[:3], below[3:]))
    fields, own, above = [], [], []
    for axis, column, other in zip(axes, columns, seen, strict=True):
        s, sigma = axis.S
        turned_along = cross(x, s), add(cross(x, sigma), cross(y, s))
        fields.append(replace(axis, second=wrench_sum(axis.second, turned_along)))
        wrench = whole.inertia_times(turned_along)
        own.append(replace(column, F2=wrench_sum(column.F2, wrench)))
        other = replace(other, F2=wrench_sum(other.F2, wrench))
        above.append(turning(axis.S, other, more))
    return fields, own, above


def _velocities(sums: Logarithmic) -> dict[int, Vector]:
    """Linear velocities at O, as the observer sees them: of each body, and -1 - i of the base
    under joint i."""
    frame, robot = sums.frame, sums.robot
    ways = {}
    for i, rates in frame.rates.items():
        kind, visit = robot.joints[i].kind, by_kind("slip", robot, i)
        if kind is JointKind.REVOLUTE:  # σ is there, and σ q̇ is less
            ((_, sigma),) = sums.axes[i]
            ways[i] = sums.steps(visit, scale, frame.relative[i].rates[0][2], sigma)
        else:
            ways[i] = sums.steps(visit, _slip, rates, frame.o[i])
    found = frame.from_centre(ways)
    for i in robot.children[-1]:
        found[-1 - i] = sums.steps(by_place("field", robot, i), sub, found[i], ways[i])
    return found


def _slip(rates: Twist, o: Vector) -> Vector:
    """A joint's own velocity at O."""
    w_J, v_J = rates
    return add(v_J, cross(o, w_J))


def _fields(
    sums: Logarithmic, i: int, motions: dict[int, Motion], velocities: dict[int, Vector]
) -> list[Axis]:
    """The joint's axes, which move along with its parent."""
    frame, joint = sums.frame, sums.robot.joints[i]
    above = motions.get(joint.parent, Motion(ZERO, ZERO, frame.weight.get(i, ZERO)))
    v = velocities[joint.parent if joint.parent >= 0 else -1 - i]
    visit = by_place("field", sums.robot, i)
    return sums.steps(
        visit, _moving, joint.kind, above, v, frame.rates[i], frame.o[i], sums.axes[i]
    )


def _moving(
    kind: JointKind, above: Motion, v: Vector, rates: Twist, o: Vector, axes: list[Twist]
) -> list[Axis]:
    """Axes, and what becomes of them; ``v``: of the parent, at O."""
    several, U = kind in (JointKind.PLANAR, JointKind.FLOATING), above.U()
    w_J, slip = rates
    v_J = add(slip, cross(o, w_J))
    found = []
    for n, (s, sigma) in enumerate(axes):
        # Ψ̇ = (ω × s; ω × σ + v × s)
        first = cross(above.w, s), add(cross(above.w, sigma), cross(v, s))
        # Ψ̈ = (U s; U σ + 2 v × ṡ + a × s)
        second = (
            matvec(U, s),
            add(matvec(U, sigma), add(scale(2.0, cross(v, first[0])), cross(above.a, s))),
        )
        # Φ = 2 Ψ̇ + ξ × S, ξ × S being 0 of a joint's only coordinate
        rate = scale(2.0, first[0]), scale(2.0, first[1])
        if several:
            rate = (
                add(rate[0], cross(w_J, s)),
                add(rate[1], add(cross(w_J, sigma), cross(v_J, s))),
            )
        found.append(Axis(n, 1.0, (s, sigma), first, second, rate))
    return found


def _bodies(
    sums: Logarithmic, motions: dict[int, Motion], velocities: dict[int, Vector]
) -> dict[int, Vector]:
    """Each body's μ, inertia and momentum about O as one vector."""
    found: dict[int, Vector] = {}
    for i, motion in motions.items():
        visit, still = by_kind("body", sums.robot, i), sums.still(i)
        found[i] = sums.steps(visit, _momentum, still, motion.w, velocities[i])
    return found


def _momentum(still: Still, w: Vector, v: Vector) -> Vector:
    own, mean = still
    body = body_alone(own.m, own.h, own.S, w)
    body = body.seen_after(FrameChange(None, ZERO, v))
    body.L = tensor_sum(body.L, skew(scale(mean, w)))
    return [mean, *_flat(body)]


def _composites(sums: Logarithmic, bodies: dict[int, Vector]) -> dict[int, Composite]:
    """Inertia and momentum of each whole subtree."""
    total = sums.steps.subtree_sums(bodies, sums.frame.parent)
    return {
        i: sums.steps(by_place("back", sums.robot, i), _folded, flat) for i, flat in total.items()
    }


def _flat(body: Composite) -> Vector:
    """m, h, the upper triangle of Σ, p and L as one vector."""
    upper = [body.S[i][j] for i in range(3) for j in range(i, 3)]
    return [body.m, *body.h, *upper, *body.p, *(x for row in body.L for x in row)]


def _folded(total: Vector) -> Composite:
    """The composite of μ and such a vector, μ back in its Σ."""
    mean, m, *rest = total
    h, (xx, xy, xz, yy, yz, zz), p, L = rest[:3], rest[3:9], rest[9:12], rest[12:]
    S = [[xx + mean, xy, xz], [xy, yy + mean, yz], [xz, yz, zz + mean]]
    return Composite(m, h, S, p, [L[:3], L[3:6], L[6:]])


ENTRIES = 5  # that two coordinates have, as ``with_descendant`` gives them
Meeting = tuple[float, list[Axis], list[Column]]  # a factor; of a joint, and of one below it


def gradient(sums: Logarithmic, found: Gathered, largest: Largest | None = None) -> Gradient:
    """M, ∂τ/∂q and ∂τ/∂q̇: every coordinate's column, and what it is to all above it.

    With ``largest`` entries of two joints are Winograd's inner products, made together in a tree.
    """
    robot, steps = sums.robot, sums.steps
    M, dq, dqd = made = no_gradient(robot.nv)
    together: dict[int, dict[tuple[int, int], Meeting]] = defaultdict(dict)

    def put(body: int, matrix: list[Vector], i: int, j: int, value: Scalar) -> None:
        matrix[i][j] = steps.summed(body, matrix[i][j], value)

    def put_below(k: int, above: int, entries: list[Vector]) -> None:
        pairs = product(sums.coordinates(above), sums.coordinates(k))
        for (l, c), values in zip(pairs, entries, strict=True):
            put(k, dq, c, l, values[0])
            put(k, dqd, c, l, values[1])
            put(k, dq, l, c, values[2])
            put(k, dqd, l, c, values[3])
            put(k, M, l, c, values[4])
            put(k, M, c, l, values[4])  # twice into the diagonal if the two share a coordinate

    for k, axes in found.fields.items():
        factor = multiplier(robot.joints[k])
        own = steps(by_place("back", robot, k), _own_entries, factor**2, axes, found.own[k])
        pairs = product(sums.coordinates(k), repeat=2)
        for (l, c), values in zip(pairs, own, strict=True):
            for matrix, value in zip((dq, dqd, M), values, strict=False):
                put(k, matrix, l, c, value)
            if c < l:
                put(k, M, c, l, values[2])
        above = robot.joints[k].parent
        while above >= 0:
            both = multiplier(robot.joints[above]) * factor
            met = both, found.fields[above], found.above[k]
            if largest is None:
                put_below(k, above, steps(pairing(robot, k, above), _entries, met))
            else:
                together[steps.region[k]][k, above] = met
            above = robot.joints[above].parent
    for tree, meetings in together.items():
        entries = steps(Visit("pairs", (tree,)), _in_pairs, list(meetings.values()), largest)
        for pair, own in zip(meetings, entries, strict=True):
            put_below(*pair, own)
    return made


def _own_entries(factor: float, axes: list[Axis], columns: list[Column]) -> list[Vector]:
    """∂τ/∂q, ∂τ/∂q̇ and, below the diagonal and on it, M of all coordinates of a joint."""
    return [
        [factor * x for x in islice(among_own(axis, column), 3 if l >= c else 2)]
        for l, axis in enumerate(axes)
        for c, column in enumerate(columns)
    ]


def _entries(met: Meeting) -> list[Vector]:
    """``with_descendant``'s entries of all coordinates of two joints."""
    factor, axes, columns = met
    return [
        [factor * x for x in with_descendant(axis, column)]
        for axis, column in product(axes, columns)
    ]


def _in_pairs(meetings: list[Meeting], largest: Largest) -> list[list[Vector]]:
    """The same of several meetings, made together."""
    each = [(both, list(product(axes, columns))) for both, axes, columns in meetings]
    dots = [dot for _, own in each for pair in own for dot in dots_with_descendant(*pair)]
    found = iter(in_pairs(dots, largest))
    return [[[both * x for x in islice(found, ENTRIES)] for _ in own] for both, own in each]
