"""Forward dynamics of a robot some of whose frames are held where they are, and its gradients.

q̈ and the forces λ that hold the frames solve

    M q̈ = τ - bias + Jᵀ λ      J q̈ + J̇ q̇ + μ λ = 0

Gauss's principle of least constraint, as feet on the ground ask for it (Featherstone, RBDA §8.2).
With M = Lᵀ D L, which the tree leaves as sparse as it is, Y = L⁻ᵀ Jᵀ and y = L⁻ᵀ (τ - bias):

    (Yᵀ D⁻¹ Y + μ 1) λ = -(J̇ q̇ + Yᵀ D⁻¹ y)      L q̈ = D⁻¹ (y + Y λ)

The inertia that the held directions have, Λ = (J M⁻¹ Jᵀ + μ 1)⁻¹, is the inverse of the matrix on
the left (Khatib's operational-space inertia).

A column of Y has entries only where its frame's own path to the base has, so that neither M⁻¹ nor
q̈ without contacts is computed. λ are the forces of what holds the frames, along the world's axes,
of each its origin's three directions and, where it is held as a surface, three moments.

The gradients by x, of q, q̇ and τ, solve the same system with other right sides (Carpentier,
Budhiraja and Mansard, RSS 2021); a are the frames' accelerations, ID is at the q̈ that was found:

    M ∂q̈ - Jᵀ ∂λ = ∂τ/∂x - ∂ID/∂x + ∂(Jᵀ λ)/∂x      J ∂q̈ + μ ∂λ = -∂a/∂x

A step of q_j turns all that its joint carries about z at the joint's place o, or slides it along l.
Seen along axes that turn with it, its parent's body turns back: with U, ω and α of that body, a'
and v' of its point at o, and ρ, v and ω_f of a frame,

    ∂a/∂q_j = (U z) × ρ + 2 (ω × z) × (v - v') - z × a'      or U l
    ∂α/∂q_j = (ω × z) × (ω_f - ω) - z × α                    or 0

Along the world's axes z × a comes to it, of which a = -μ λ is known. λ keeps its direction, so

    ∂(J_kᵀ λ)/∂q_j = z_j·(l_k × F + z_k × N) of k behind j      z_k·(l_j × F) of k before j

where J_k = (l_k; z_k), and λ = (F; N).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import product

from ..graph.word import spell
from ..robot.model import frozen
from .composite import Gradient
from .elimination import Elimination, Matrix, Order, without_zeros
from .interface import GraphPorts
from .kinematics import Frames, Kinematics, axes
from .motion import LinkMotion, RobotState, multiplier
from .outward import move
from .scalars import Arithmetic, Scalar, Vector
from .solver import inverse_of
from .spatial import ZERO, add, cross, dot, is_zero, matvec, scale, sub
from .steps import Inline, OneRegion
from .units import Units

Column = dict[int, Scalar]  # coordinate, or row of contacts → entry
AGAIN = "_contacts"  # of the contacts' own factors; their regions are by frame's joint


@dataclass(frozen=True)
class HeldDirection:
    """One held direction: ``axis`` of frame ``frame`` on joint ``joint``'s body."""

    frame: int
    axis: int
    joint: int


def _held_rows(frames: Frames, axes: int) -> list[HeldDirection]:
    """The first ``axes`` of all frames' six directions, frame by frame from the base outwards."""
    found = [HeldDirection(f, a, joint) for f, (joint, _) in enumerate(frames) for a in range(axes)]
    return sorted(found, key=lambda row: (row.joint, row.frame))


class HeldSystem:
    """The system of held frames in one state, factored.

        M δq̈ - Jᵀ δλ = effort        J δq̈ + μ δλ = -rests

    ``rows``: its held directions; ``columns``: Jᵀ, a column for each of them.
    """

    def __init__(
        self,
        one: Arithmetic,
        factors: Elimination,
        rows: Sequence[HeldDirection],
        columns: Sequence[Column],
        damping: float,
    ) -> None:
        self.one, self.rows = one, rows
        self.factors = factors
        self.Y = [factors.back(column) for column in columns]
        self.scaled: list[Column] = []
        G: Matrix = [[0.0] * len(rows) for _ in rows]
        for a, row in enumerate(rows):
            with one.region("contact", row.joint):
                inverses = {k: factors.rows[k].inverse for k in self.Y[a]}
                self.scaled.append({k: x * inverses[k] for k, x in self.Y[a].items()})
                for b in range(a + 1):
                    G[a][b] = _dot(self.scaled[a], self.Y[b])
                G[a][a] = G[a][a] + damping
        order = {a: row.joint for a, row in enumerate(rows)}
        self.contacts = Elimination.of(Inline(one, AGAIN), G, order)

    def together(self) -> HeldSystem:
        """The same in one region, for columns of derivatives: entries that are equal by symmetry
        would have regions of joints wait for each other."""
        joints = [*self.factors.order.values(), *(row.joint for row in self.rows)]
        found, first = copy(self), dict.fromkeys(joints, 0)
        found.one = OneRegion(self.one, first)
        found.factors, found.contacts = (
            replace(own, run=Inline(found.one)) for own in (self.factors, self.contacts)
        )
        return found

    def respond(self, effort: Column, rests: Column, regions: str = "") -> tuple[Column, Column]:
        """δq̈ by coordinate and δλ by row; ``regions``: those of columns of derivatives."""
        y = self.factors.back(effort, regions)
        wanted: Column = {}
        for a, row in enumerate(self.rows):
            with self.one.region(f"contact{regions}", row.joint):
                wanted[a] = -(rests.get(a, 0.0) + _dot(self.scaled[a], y))
        forces = self.contacts.solve(without_zeros(wanted), regions)
        with_forces = dict(y)
        for k, joint in self.factors.order.items():
            with self.one.region(f"held{regions}", joint):
                for a, column in enumerate(self.Y):
                    if k in column and a in forces:
                        with_forces[k] = with_forces.get(k, 0.0) + column[k] * forces[a]
        return self.factors.out(with_forces, f"_held{regions}"), forces


def gives_inertia(
    face: GraphPorts,
    kinematics: Kinematics,
    frames: Frames,
    held: tuple[int, float],
    factors: Elimination,
) -> None:
    """Lambda, of the factors of M; ``held``: how many of each frame's directions are, and μ."""
    one, (axes, damping) = face.builder, held
    rows = _held_rows(frames, axes)
    columns, _ = _seen(one, kinematics, frames, rows, moving=False)
    system = HeldSystem(one, replace(factors, run=Inline(one)), rows, columns, damping)
    inverse = inverse_of(system.contacts)
    places = [6 * row.frame + row.axis for row in rows]
    found = {tuple(sorted((places[a], places[b]))): x for (a, b), x in inverse.items()}
    for (j, i), x in sorted(found.items()):
        face.gives(spell("Lambda", i, j), x)


def _seen(
    one: Arithmetic,
    kinematics: Kinematics,
    frames: Frames,
    rows: Sequence[HeldDirection],
    moving: bool,
) -> tuple[list[Column], list[Scalar]]:
    """Jᵀ, a column for each row of contacts, and, of robots that move, J̇ q̇."""
    jacobians, drifts = {}, {}
    for f, on in enumerate(frames):
        with one.region("frame", on[0]):
            jacobians[f] = kinematics.jacobian(*on)
            drifts[f] = kinematics.drift(*on) if moving else [0.0] * 6
    columns = [
        {k: x[row.axis] for k, x in jacobians[row.frame].items() if not is_zero([x[row.axis]])}
        for row in rows
    ]
    return columns, [drifts[row.frame][row.axis] for row in rows]


@dataclass(frozen=True)
class JointStep:
    """A coordinate's step, along the world's axes: it turns all that its joint carries about
    ``axis`` and slides it along ``slide``, both with the ``factor`` of a joint that mimics.

    A carried frame at ρ from the joint's body, that moves at v and turns at ω, has derivatives

        ∂a/∂q = sway × ρ + 2 turn × v + still[0]    ∂α/∂q = turn × ω + still[1]
        ∂a/∂q̇ = fast × ρ + 2 axis × v + gain        ∂α/∂q̇ = axis × ω + fast

    the first two along axes that turn with it.
    """

    coordinate: int
    factor: float
    axis: Vector
    slide: Vector
    sway: Vector
    turn: Vector
    still: tuple[Vector, Vector]
    fast: Vector
    gain: Vector

    def by_position(self, arm: Vector, v: Vector, w: Vector) -> Vector:
        a = add(add(cross(self.sway, arm), scale(2.0, cross(self.turn, v))), self.still[0])
        return [*a, *add(cross(self.turn, w), self.still[1])]

    def by_velocity(self, arm: Vector, v: Vector, w: Vector) -> Vector:
        a = add(add(cross(self.fast, arm), scale(2.0, cross(self.axis, v))), self.gain)
        return [*a, *add(cross(self.axis, w), self.fast)]


def _steps(kinematics: Kinematics, j: int, moved: LinkMotion) -> list[JointStep]:
    """The coordinates of joint ``j``, which moves as ``moved`` at the q̈ that was found."""
    joint, R = kinematics.robot.joints[j], kinematics.placed[j].R
    above, (w_J, v_J) = moved.above, moved.rates
    turning, sliding, v_o = matvec(R, above.w), matvec(R, v_J), kinematics.rates[j][1]
    faster, found = add(scale(2.0, above.w), w_J), []
    for n, (z, l) in enumerate(axes(joint.kind)):
        axis, turn = matvec(R, z), matvec(R, cross(above.w, z))
        # U_λ l - z × a' - 2 (ω_λ × z) × v',  - z × α' - (ω_λ × z) × ω_λ
        still = sub(
            matvec(R, add(matvec(above.U(), l), cross(above.a, z))),
            scale(2.0, cross(turn, sub(v_o, sliding))),
        )
        turned = sub(matvec(R, cross(above.alpha, z)), cross(turn, turning))
        # (2 ω_λ + ω_J) × l + z × v_J - 2 z × v_o
        gain = add(matvec(R, cross(faster, l)), cross(axis, sub(sliding, scale(2.0, v_o))))
        found.append(
            JointStep(
                kinematics.robot.v_slices[j].start + n,
                multiplier(joint),
                axis,
                matvec(R, l),
                matvec(R, matvec(above.U(), z)),
                turn,
                (still, turned),
                matvec(R, cross(faster, z)),
                gain,
            )
        )
    return found


@dataclass(frozen=True)
class HeldSlopes:
    """Derivatives of what holds frames: ``rests``, of the accelerations of each held row by q and
    by q̇, a column for each coordinate, and ``weights``, of Jᵀ λ by q, by row and column."""

    rests: tuple[list[Column], list[Column]]
    weights: dict[tuple[int, int], Scalar]


def held_slopes(
    kinematics: Kinematics,
    frames: Frames,
    system: HeldSystem,
    forces: Column,
    moved: Mapping[int, LinkMotion],
    damping: float,
) -> HeldSlopes:
    """The same at a solution; ``moved``: the robot's motion at its q̈, without gravity."""
    one, robot, steps = kinematics.builder, kinematics.robot, {}
    for j in sorted({j for i, _ in frames for j in kinematics.path(i)}):
        with one.region("step_held", j):
            steps[j] = _steps(kinematics, j, moved[j])
    rests: tuple[list[Column], list[Column]]
    rests = [{} for _ in range(robot.nv)], [{} for _ in range(robot.nv)]
    # v_k × F and v_k × F + z_k × N, of all frames that a joint's coordinate moves
    pushed: dict[tuple[int, int], tuple[Vector, Vector]] = {}
    for f, (i, frame) in enumerate(frames):
        rows = {row.axis: a for a, row in enumerate(system.rows) if row.frame == f}
        force = [forces.get(rows.get(n, -1), 0.0) for n in range(6)]
        with one.region("frame_held", i):
            twist, on = kinematics.twist(i, frame), kinematics.placed[i]
            at = add(on.p, matvec(on.R, frame.translation.tolist()))
            v, w = twist[:3], twist[3:]
            for j in kinematics.path(i):
                arm = sub(at, kinematics.placed[j].p)
                for n, step in enumerate(steps[j]):
                    by_q, by_v = step.by_position(arm, v, w), step.by_velocity(arm, v, w)
                    # z × a, with a = -μ λ
                    back = [cross(force[:3], step.axis), cross(force[3:], step.axis)]
                    by_q = add(by_q, scale(damping, [*back[0], *back[1]]))
                    for columns, values in zip(rests, (by_q, by_v), strict=True):
                        column = columns[step.coordinate]
                        for axis, a in rows.items():
                            column[a] = column.get(a, 0.0) + step.factor * values[axis]
                    linear = add(step.slide, cross(step.axis, arm))
                    near = cross(linear, force[:3])
                    both = near, add(near, cross(step.axis, force[3:]))
                    had = pushed.get((j, n), (ZERO, ZERO))
                    pushed[j, n] = add(had[0], both[0]), add(had[1], both[1])
    weights: dict[tuple[int, int], Scalar] = {}
    for (k, n), (j, m) in product(pushed, pushed):
        own, other = steps[k][n], steps[j][m]
        place = own.coordinate, other.coordinate
        with one.region("weight_held", k):
            share: Scalar = 0.0
            if j in kinematics.path(k):
                share = dot(other.axis, pushed[k, n][1])
            elif k in kinematics.path(j):
                share = dot(own.axis, pushed[j, m][0])
            weights[place] = weights.get(place, 0.0) + own.factor * other.factor * share
    return HeldSlopes(rests, weights)


def give_held(
    face: GraphPorts,
    functions: Collection[str],
    state: RobotState,
    kinematics: Kinematics,
    held: tuple[Frames, tuple[int, float], int],
    factors: Elimination,
    effort: Column,
    gradient: Callable[[Column], Gradient],
) -> None:
    """qdd_c and lambda_c, and their derivatives, of ``effort`` (τ - bias) and the factors of M.

    ``held``: frames, how many of each one's directions are held and μ, and multiplications of a
    rotation. ``gradient``: that of τ at an acceleration.
    """
    frames, (axes, damping), multiplications = held
    one, rows = kinematics.builder, _held_rows(frames, axes)
    columns, drifts = _seen(one, kinematics, frames, rows, moving=True)
    # by joints, where M may be of one region
    system = HeldSystem(one, replace(factors, run=Inline(one)), rows, columns, damping)
    qdd, forces = system.respond(effort, dict(enumerate(drifts)))
    face.gives_vector("qdd_c", qdd)
    for a, row in enumerate(rows):
        if a in forces:
            face.gives(spell("lambda_c", row.frame, row.axis), forces[a])
    if "dcfd" not in functions:
        return
    robot = replace(kinematics.robot, gravity=frozen(ZERO))
    there = replace(state, qdd=[qdd.get(k, 0.0) for k in range(robot.nv)])
    moved = move(Inline(one, "_held"), robot, there, Units(), multiplications)
    slopes = held_slopes(kinematics, frames, system, forces, moved, damping)
    _gives_slopes(face, system.together(), slopes, gradient(qdd))


def _gives_slopes(ports: GraphPorts, system: HeldSystem, own: HeldSlopes, at: Gradient) -> None:
    """Derivatives of qdd_c and lambda_c by q, q̇ and τ; ``at``: gradients of τ at the q̈ found."""
    one, order = system.one, system.factors.order
    sides: list[tuple[str, list[Column], list[Column]]] = []
    for name, matrix, rests, weights in (
        ("dq", at.dtau_dq, own.rests[0], own.weights),
        ("dqd", at.dtau_dqd, own.rests[1], {}),
    ):
        sides.append((name, [_right(one, order, name, c, matrix, weights) for c in order], rests))
    sides.append(("dtau", [{c: 1.0} for c in order], [{} for _ in own.rests[0]]))
    for name, efforts, rests in sides:
        for c, effort in zip(order, efforts, strict=True):
            qdd, forces = system.respond(effort, rests[c], f"_{name}")
            for k, value in qdd.items():
                if name != "dtau":
                    ports.gives(spell(f"dqdd_c_{name}", k, c), value)
                elif k <= c:  # symmetric, and rows from the base on take the fewest products
                    ports.gives(spell(f"dqdd_c_{name}", c, k), value)
            for a, row in enumerate(system.rows):
                if a in forces:
                    ports.gives(spell(f"dlambda_c_{name}", row.frame, row.axis, c), forces[a])


def _right(
    one: Arithmetic,
    order: Order,
    name: str,
    c: int,
    matrix: Matrix,
    weights: Mapping[tuple[int, int], Scalar],
) -> Column:
    """A column of ∂(Jᵀ λ) - ∂ID."""
    found: Column = {}
    for k, joint in order.items():
        with one.region(f"back_{name}", joint):
            found[k] = weights.get((k, c), 0.0) - matrix[k][c]
    return without_zeros(found)


def _dot(a: Column, b: Column) -> Scalar:
    total: Scalar = 0.0
    for k, x in a.items():
        if k in b:
            total = total + x * b[k]
    return total
