"""Frames that are held where they are: motions, and forward dynamics with their forces.

The motions of a robot that leave frames where they are: the nearest ones to any others.

    x - W Jᵀ (J W Jᵀ + E)⁻¹ (J x + r)

is near x, by the weights W, and has J x' + r nearly zero. E, small beside J W Jᵀ, lets the frames
give way where they cannot be held without rates that have no bound, as by a straight limb.

Forward dynamics of a robot some of whose frames are held where they are: q̈ and their forces.

    M q̈ = τ - bias + Jᵀ λ      J q̈ + J̇ q̇ + μ λ = 0

Gauss's principle of least constraint, as feet on the ground ask for it (Featherstone, RBDA §8.2).
With M = Lᵀ D L, which the tree leaves as sparse as it is, Y = L⁻ᵀ Jᵀ and y = L⁻ᵀ (τ - bias):

    (Yᵀ D⁻¹ Y + μ 1) λ = -(J̇ q̇ + Yᵀ D⁻¹ y)      L q̈ = D⁻¹ (y + Y λ)

The inertia that the held directions have, Λ = (J M⁻¹ Jᵀ + μ 1)⁻¹, is the inverse of the matrix on
the left (Khatib's operational-space inertia).

A column of Y has entries only where its frame's own path to the base has, so that neither M⁻¹ nor
q̈ without contacts is computed. λ are the forces of what holds the frames, along the world's axes,
of each its origin's three directions and, where it is held as a surface, three moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..graph.word import spell
from .elimination import Elimination, Matrix
from .interface import GraphPorts
from .kinematics import Frames, Kinematics
from .scalars import Arithmetic, Scalar
from .solver import inverse_of
from .spatial import is_zero
from .steps import Inline

Vector = dict[int, Scalar]  # coordinate → entry
REGIONS = "_grip"


class Grip:
    """The constraint of held frames in one state: ``rows`` of J, W and E by their diagonals."""

    def __init__(
        self,
        one: Arithmetic,
        rows: Sequence[Vector],
        weights: Sequence[float],
        yielding: Sequence[float],
    ) -> None:
        self.one, self.rows = one, rows
        self.weighted = [{k: x * weights[k] for k, x in row.items()} for row in rows]
        self.factors = self._factors(yielding)

    def _factors(self, yielding: Sequence[float]) -> Elimination:
        G: Matrix = [[0.0] * len(self.rows) for _ in self.rows]
        for a, row in enumerate(self.weighted):
            for b in range(a + 1):
                G[a][b] = _dot(row, self.rows[b])
            G[a][a] = G[a][a] + yielding[a]
        return Elimination.of(Inline(self.one, REGIONS), G, dict.fromkeys(range(len(self.rows)), 0))

    def held(self, motion: Vector, rests: Sequence[Scalar], slip: float = 0.0) -> Vector:
        """The nearest to ``motion`` x with J x' + r = 0, of ``rests`` r by row; or, by a share
        ``slip``, towards x itself."""
        moves = {a: _dot(row, motion) + rests[a] for a, row in enumerate(self.rows)}
        by = self.factors.solve(moves)
        found = dict(motion)
        for a, row in enumerate(self.weighted):
            for k, x in row.items():
                if a in by:
                    found[k] = found.get(k, 0.0) - x * by[a] * (1 - slip)
        return found


def slowed(one: Arithmetic, motion: Vector, limits: Sequence[float]) -> Vector:
    """The motion, all of it as much slower as brings each coordinate within ± its limit."""
    largest: Scalar = 1.0
    for k, x in motion.items():
        share = x * (1 / limits[k])
        for side in (share, -share):
            largest = one.select(largest - side, side, largest)
    slower = one.recip(largest)
    return {k: x * slower for k, x in motion.items()}


AGAIN = "_contacts"  # of the contacts' own factors; their regions are by frame's joint
Column = dict[int, Scalar]  # coordinate, or row of contacts → entry


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


def gives_held(
    face: GraphPorts,
    kinematics: Kinematics,
    frames: Frames,
    held: tuple[int, float],
    factors: Elimination,
    effort: Column,
) -> None:
    """qdd_c and lambda_c, of ``effort`` (τ - bias) and the factors of M.

    ``held``: how many of each frame's directions are, and μ.
    """
    one, (axes, damping) = face.builder, held
    factors = replace(factors, run=Inline(one))  # by joints, where M may be of one region
    rows = _held_rows(frames, axes)
    columns, drifts = _seen(one, kinematics, frames, rows, moving=True)
    *Y, y = [factors.back(column) for column in (*columns, effort)]
    forces = _forces(one, factors, rows, Y, y, drifts, damping)
    with_forces = dict(y)
    for k, joint in factors.order.items():
        with one.region("held", joint):
            for a, column in enumerate(Y):
                if k in column and a in forces:
                    with_forces[k] = with_forces.get(k, 0.0) + column[k] * forces[a]
    face.gives_vector("qdd_c", factors.out(with_forces, "_held"))
    for a, row in enumerate(rows):
        if a in forces:
            face.gives(spell("lambda_c", row.frame, row.axis), forces[a])


def gives_inertia(
    face: GraphPorts,
    kinematics: Kinematics,
    frames: Frames,
    held: tuple[int, float],
    factors: Elimination,
) -> None:
    """Lambda, of the factors of M; ``held`` as for `gives_held`."""
    one, (axes, damping) = face.builder, held
    factors = replace(factors, run=Inline(one))
    rows = _held_rows(frames, axes)
    columns, _ = _seen(one, kinematics, frames, rows, moving=False)
    Y = [factors.back(column) for column in columns]
    G: Matrix = [[0.0] * len(rows) for _ in rows]
    for a, row in enumerate(rows):
        with one.region("contact", row.joint):
            _fill(G, a, _over_pivots(factors, Y[a]), Y, damping)
    order = {a: row.joint for a, row in enumerate(rows)}
    inverse = inverse_of(Elimination.of(Inline(one, AGAIN), G, order))
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


def _forces(
    one: Arithmetic,
    factors: Elimination,
    rows: Sequence[HeldDirection],
    Y: Sequence[Column],
    y: Column,
    drifts: Sequence[Scalar],
    damping: float,
) -> Column:
    """λ, by row."""
    order = {a: row.joint for a, row in enumerate(rows)}
    G: Matrix = [[0.0] * len(rows) for _ in rows]
    wanted: Column = {}
    for a, row in enumerate(rows):
        with one.region("contact", row.joint):
            scaled = _over_pivots(factors, Y[a])
            _fill(G, a, scaled, Y, damping)
            wanted[a] = -(drifts[a] + _dot(scaled, y))
    return Elimination.of(Inline(one, AGAIN), G, order).solve(wanted)


def _over_pivots(factors: Elimination, column: Column) -> Column:
    """D⁻¹ y."""
    return {k: x * factors.rows[k].inverse for k, x in column.items()}


def _fill(G: Matrix, a: int, scaled: Column, Y: Sequence[Column], damping: float) -> None:
    """Row ``a`` of Yᵀ D⁻¹ Y + μ 1, its lower triangle; ``scaled``: D⁻¹ times its column of Y."""
    for b in range(a + 1):
        G[a][b] = _dot(scaled, Y[b])
    G[a][a] = G[a][a] + damping


def _dot(a: Column, b: Column) -> Scalar:
    total: Scalar = 0.0
    for k, x in a.items():
        if k in b:
            total = total + x * b[k]
    return total
