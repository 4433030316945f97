"""Base inertial parameters: the fewest combinations of all bodies' parameters that determine τ.

τ is linear in the ten parameters of each body, but not all of their changes are seen in it. A
change δ of body i's parameters that has no effect on joint i's own effort, in any motion, has none
on the Lagrangian either that depends on the joint's coordinates: fixed to the parent's body, the
same change has the same effect on all other joints. So from the leaves to the base those parts are
passed to the parents' bodies, and what remains of each body is determined by τ: the efforts of a
leaf's joint depend on the leaf alone.

Which changes joint i does not see is linear algebra. A body's force and moment are linear in its
parameters and in a, α and ωωᵀ of its frame, twelve numbers. These span a subspace over all motions,
which follows from the parent's: along a joint that turns they are trigonometric polynomials of
degree two, with a span that five angles have; along one that slides they are of degree one. No
state is sampled, and only robots whose geometry is special to seven digits are taken as special.

Gautier and Khalil 1990; Wensing, Niemeyer and Slotine 2024, "A geometric characterization of
observability in inertial parameter identification", whose spans are of velocities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from .model import Array, Inertia, JointKind, Robot, Transform, skew
from .variations import ENTRIES

# Of a body, in the order of Pinocchio's toDynamicParameters.
PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
SIZE = len(PARAMETERS)
# The order in which a body's parameters are made zero, where several may be.
PREFERRED = (0, 3, 6, 4, 5, 7, 8, 2, 1, 9)
SAME = 1e-7  # relative to the largest singular value: less is rounding, of floats or of a file
TURNS = tuple(2 * math.pi * k / 5 for k in range(5))
EVERYTHING = np.eye(12)  # a, α and the six entries of ωωᵀ
AXES = np.eye(3)


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The base parameters of a canonical robot.

    ``columns``  joint and place among `PARAMETERS` of each, in its body's canonical frame.
    ``of``       (parameters, 10 · bodies): each as a combination of the parameters of all bodies
                 that joints move, in the frames that the file gave their links.
    """

    columns: tuple[tuple[int, int], ...]
    of: Array

    def named(self, robot: Robot) -> dict[str, dict[str, float]]:
        """Name → the parameters that it is the sum of, with their factors."""
        standard = [f"{robot.joints[i].body}.{name}" for i in robot.moving for name in PARAMETERS]
        found = {}
        for (i, k), row in zip(self.columns, self.of, strict=True):
            rows = {name: float(x) for name, x in zip(standard, row, strict=True) if x}
            found[f"{robot.joints[i].body}.{PARAMETERS[k]}"] = rows
        return found


def base_parameters(robot: Robot, given: int = 0) -> BaseParameters:
    """The base parameters of a robot whose joints' axes are z.

    ``given``: leading coordinates of v whose motion is given, so that τ has none of their rows. Of
    joints that mimic others each is counted as if it moved alone: there may be fewer parameters.
    """
    count = len(robot.moving)
    owned = np.zeros((len(robot.joints), SIZE, SIZE * count))
    for b, i in enumerate(robot.moving):
        owned[i][:, SIZE * b : SIZE * (b + 1)] = _seen_from(robot.joints[i].link_frame)
    unseen = _unseen(robot, given)
    columns: list[tuple[int, int]] = []
    rows: list[Array] = []
    for i in reversed(range(len(robot.joints))):
        places, joint = _pivots(unseen[i]), robot.joints[i]
        kept = [k for k in range(SIZE) if k not in places]
        if places:
            # what is passed on has the parameters at ``places`` as they are here
            passed = unseen[i] @ np.linalg.solve(unseen[i][places], owned[i][places])
            owned[i] -= passed
            if joint.parent >= 0:
                owned[joint.parent] += _seen_from(joint.placement) @ passed
        columns = [(i, k) for k in kept] + columns
        rows = [owned[i][k] for k in kept] + rows
    of = np.array(rows).reshape(len(rows), SIZE * count)
    largest = np.abs(of).max(axis=1, keepdims=True, initial=0.0)
    return BaseParameters(tuple(columns), np.where(np.abs(of) <= SAME * largest, 0.0, of))


def base_columns(robot: Robot, given: int = 0) -> tuple[tuple[int, int], ...]:
    """The columns of Y that belong to base parameters: (joint, place among `PARAMETERS`)."""
    kept = [set(range(SIZE)) - set(_pivots(own)) for own in _unseen(robot, given)]
    return tuple((i, k) for i, own in enumerate(kept) for k in sorted(own))


def _unseen(robot: Robot, given: int) -> list[Array]:
    """Per joint a basis (10, n) of the changes of its body that its own effort does not show."""
    start = np.zeros((12, 1))
    start[:3, 0] = -robot.gravity
    reached: dict[int, tuple[Array, Array]] = {-1: (_span(start), np.zeros((3, 0)))}
    found = []
    for i, joint in enumerate(robot.joints):
        reached[i] = _carried(joint.kind, joint.placement, *reached[joint.parent])
        motions = reached[i][0]
        own = i in robot.v_slices and robot.v_slices[i].start >= given
        S = _subspace(joint.kind) if own else np.zeros((6, 0))
        # Sᵀ f = Σ (motion) Sᵀ W δ is zero for all motions
        seen = [S.T @ np.tensordot(d, _wrenches(), 1) for d in motions.T]
        found.append(_null(np.vstack([np.zeros((1, SIZE)), *seen])))
    return found


def _carried(
    kind: JointKind, placement: Transform, data: Array, rates: Array
) -> tuple[Array, Array]:
    """Spans of a body's motions (12, n) and of its ω (3, m), from those of its parent."""
    if kind is JointKind.FLOATING:
        return EVERYTHING, AXES
    turns = TURNS if kind in (JointKind.REVOLUTE, JointKind.PLANAR) else (0.0,)
    slides: Sequence[Array] = [np.zeros(3)]
    if kind is JointKind.PRISMATIC:
        slides = [np.zeros(3), AXES[2]]
    elif kind is JointKind.PLANAR:
        slides = [np.zeros(3), AXES[0], AXES[1]]
    moved, turned = [np.zeros((12, 0))], [np.zeros((3, 0))]
    for angle in turns:
        c, s = math.cos(angle), math.sin(angle)
        R = placement.rotation @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        turned.append(R.T @ rates)
        for slide in slides:
            at = placement.translation + placement.rotation @ slide
            moved.append(np.array([_at(R, at, d) for d in data.T]).reshape(-1, 12).T)
    w = _span(np.hstack(turned))
    own = [np.zeros((12, 0))]
    if kind in (JointKind.REVOLUTE, JointKind.PLANAR):
        z = AXES[2]
        # α has q̈ z + ω × q̇ z, ωωᵀ has q̇ (ω zᵀ + z ωᵀ) + q̇² z zᵀ
        own.append(_packed(np.zeros(3), z, np.zeros((3, 3))))
        own.append(_packed(np.zeros(3), np.zeros(3), np.outer(z, z)))
        own += [_packed(np.zeros(3), np.cross(x, z), np.outer(x, z) + np.outer(z, x)) for x in w.T]
    for axis in _subspace(kind)[3:].T:  # a has v̇ + 2 ω × v
        if axis.any():
            own.append(_packed(axis, np.zeros(3), np.zeros((3, 3))))
            own += [_packed(2 * np.cross(x, axis), np.zeros(3), np.zeros((3, 3))) for x in w.T]
    turning = _subspace(kind)[:3]
    return _span(np.hstack([*moved, *own])), _span(np.hstack([w, turning]))


def _subspace(kind: JointKind) -> Array:
    """S (6, nv) of a joint along z, angular part first."""
    S = np.zeros((6, kind.nv))
    match kind:
        case JointKind.REVOLUTE:
            S[2, 0] = 1.0
        case JointKind.PRISMATIC:
            S[5, 0] = 1.0
        case JointKind.PLANAR:
            S[3, 0] = S[4, 1] = S[2, 2] = 1.0
        case JointKind.FLOATING:
            S[3:, :3] = S[:3, 3:] = AXES
        case JointKind.FIXED:
            pass
    return S


def _packed(a: Array, alpha: Array, P: Array) -> Array:
    """A motion (12, 1) of a, α and P = ωωᵀ."""
    return np.array([*a, *alpha, *(P[entry] for entry in ENTRIES)])[:, None]


def _unpacked(d: Array) -> tuple[Array, Array, Array]:
    """a, α and P; U = α̂ + P - tr(P) 1 has the acceleration a + U r of a point."""
    P = np.zeros((3, 3))
    for (i, j), x in zip(ENTRIES, d[6:], strict=True):
        P[i, j] = P[j, i] = x
    return d[:3], d[3:6], P


def _at(R: Array, p: Array, d: Array) -> Array:
    """The parent's motion seen from a frame at ``p`` with axes R."""
    a, alpha, P = _unpacked(d)
    U = skew(alpha) + P - np.trace(P) * AXES
    return _packed(R.T @ (a + U @ p), R.T @ alpha, R.T @ P @ R)[:, 0]


@cache
def _wrenches() -> Array:
    """(12, 6, 10): moment and force, as a motion's numbers and a body's parameters have them."""
    found = np.zeros((12, 6, SIZE))
    for n, d in enumerate(EVERYTHING):
        a, alpha, P = _unpacked(d)
        U = skew(alpha) + P - np.trace(P) * AXES
        found[n, 3:, 0] = a
        found[n, 3:, 1:4] = U
        found[n, :3, 1:4] = -skew(a)  # h × a
        for k, (i, j) in enumerate(ENTRIES, 4):
            J = np.zeros((3, 3))
            J[i, j] = J[j, i] = 1.0
            PJ = P @ J  # J α + ω × J ω
            turned = [PJ[1, 2] - PJ[2, 1], PJ[2, 0] - PJ[0, 2], PJ[0, 1] - PJ[1, 0]]
            found[n, :3, k] = J @ alpha + turned
    return found


def _seen_from(pose: Transform) -> Array:
    """(10, 10): a body's parameters in the frame in which its own is at ``pose``."""
    found = np.zeros((SIZE, SIZE))
    for k in range(SIZE):
        x = np.eye(SIZE)[k]
        J = np.zeros((3, 3))
        for (i, j), value in zip(ENTRIES, x[4:], strict=True):
            J[i, j] = J[j, i] = value
        moved = Inertia(x[0], x[1:4], J).seen_from(pose)
        found[:, k] = [moved.mass, *moved.h, *(moved.J[entry] for entry in ENTRIES)]
    return found


def _span(vectors: Array) -> Array:
    """An orthonormal basis of the columns."""
    norms = np.linalg.norm(vectors, axis=0)
    vectors = vectors[:, norms > 0] / norms[norms > 0]
    if not vectors.size:
        return vectors[:, :0]
    left, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
    return np.asarray(left[:, sizes > SAME * sizes[0]])


def _null(rows: Array) -> Array:
    """A basis (10, n) of what all rows are zero for."""
    _, sizes, right = np.linalg.svd(rows)
    rank = int(np.count_nonzero(sizes > SAME * max(float(sizes[0]), 1e-300)))
    return np.asarray(right[rank:].T)


def _pivots(basis: Array) -> list[int]:
    """Places at which the vectors of a basis (10, n) are independent, the `PREFERRED` first."""
    found: list[int] = []
    for k in PREFERRED:
        trial = [*found, k]
        if np.linalg.matrix_rank(basis[trial], tol=SAME) == len(trial):
            found = trial
    return found
