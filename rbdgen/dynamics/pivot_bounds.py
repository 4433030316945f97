"""The inertia that each joint feels, at least, in every state: what M's pivots cannot go below.

The kinetic energy of some bodies is no more than that of all. So a robot without some of its bodies
has a smaller M, in Loewner's order, and smaller Schur complements of it (Horn and Johnson, *Matrix
Analysis*, §7.7). Two of these are what is divided by:

    D_k            of M = Lᵀ D L: all below coordinate k free, all above held. It is Sᵀ Iᴬ S, with
                   Iᴬ the articulated inertia (Featherstone, RBDA §7.1)
    1 / M⁻¹_kk     all others free

The few bodies nearest to a joint bound both. Their energy at unit speed of the joint, all that is
free moving as takes least, is a function of the few angles between them; ``_least`` bounds it.

A turn by δ of what hangs on a joint of axis S changes its form of energy P, over twists, to
P(δ) = exp(δK)ᵀ P exp(δK), with K = S×. Where ±(KᵀP + PK) ≤ 2κP and P″(0) ≤ cP, so it is at all δ,
and between two angles 2h apart P is no less than the chord between its values there, but for a
factor of 1 + ½ c h² exp(4κh). Least energy is concave in the forms that it is made of (Anderson and
Duffin, "Series and parallel addition of matrices", 1969): on a chord it is least at an end. So in a
box of angles it is no less than at one of the corners, but for these factors.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, product

import numpy as np

from ..golden.tree import inertia_matrix, motion_cross, motion_subspace, motion_transform
from ..robot.model import Array, JointKind, Robot
from ..robot.rotors import drivetrains
from ..words.factor_bounds import NO_BOUNDS, PivotBounds
from . import drivetrains as gears

BELOW = {False: 2, True: 1}  # bodies that count beyond the joint's own; its parent being free
MOST_COORDINATES = 40  # of more, proofs take minutes
ANGLES = 3  # between them, at most
STEPS = 8  # boxes of a turn to begin with
NEAR = 0.75  # of the least value that is found: what it is bounded by
MOST = 60_000  # corners of boxes
ROUNDING = 1e-9  # relative, of all that is computed here
SINGULAR = 1e-13  # relative: what is as small may be zero
LARGE = 600.0  # an exponent that float64 has

Energy = Callable[[Array, Array], tuple[Array, Array]]


def pivot_bounds(robot: Robot) -> PivotBounds:
    """Lower bounds of pivots and upper bounds of M⁻¹'s diagonal; none if there is an ``obstacle``.

    Joints of several coordinates have no bounds (``without_pivot_bounds``).
    """
    if obstacle(robot):
        return NO_BOUNDS
    pivot: dict[int, float] = {}
    inverse: dict[int, float] = {}
    own = drivetrains(robot)
    for i, slot in robot.v_slices.items():
        if robot.joints[i].kind.nv == 1:
            rotor = gears.armature(own.get(slot.start, []))
            held, free = (
                rotor + _pivot_bound(robot, i, free=False),
                rotor + _pivot_bound(robot, i, free=True),
            )
            if held > 0:
                pivot[slot.start] = held
            if free > 0:
                inverse[slot.start] = 1 / free
    return PivotBounds(pivot, inverse)


def obstacle(robot: Robot) -> str:
    """The reason why a robot has no bounds; empty if it has.

    A joint without a coordinate of its own, an inertia that no body has, or too many coordinates.
    """
    if robot.nv > MOST_COORDINATES:
        return f"there are {robot.nv} coordinates, of {MOST_COORDINATES} at most"
    for joint in robot.joints:
        inertia = inertia_matrix(joint.inertia)
        if joint.mimic is not None:
            return f"joint {joint.name} mimics another"
        if np.linalg.eigvalsh(inertia)[0] < -SINGULAR * np.trace(inertia):
            return f"the inertia of link {joint.body} is no body's"
    return ""


def without_pivot_bounds(robot: Robot, given: int) -> list[str]:
    """Joints of several coordinates, but those whose motion is given: the first coordinates."""
    return [
        robot.joints[i].name
        for i, slot in robot.v_slices.items()
        if robot.joints[i].kind.nv > 1 and slot.start >= given
    ]


def _pivot_bound(robot: Robot, i: int, free: bool) -> float:
    """The inertia that a joint of one coordinate feels, at least, without its rotor; ``free``: its
    parent may move, too."""
    near = next(
        near
        for below in count(BELOW[free], -1)
        if len((near := NearBodies(robot, i, below, free)).turning) <= ANGLES
    )
    return _least(near.energy, len(near.turning)) * (1 - ROUNDING)


class NearBodies:
    """The bodies near joint ``i``: its own, ``below`` bodies beyond on each way, and its parent, if
    that is ``free`` and there is one; it turns on the base, if that is what it hangs on.

    ``turning``: the joints that turn between them. Forms of energy over twists are (N, 6, 6); N is
    1 of those that depend on no angle.
    """

    def __init__(self, robot: Robot, i: int, below: int, free: bool) -> None:
        self.robot, self.i, self.below = robot, i, below
        self.parent = robot.joints[i].parent if free else -1
        self.I = [inertia_matrix(joint.inertia)[None] for joint in robot.joints]
        self.S = [motion_subspace(joint) for joint in robot.joints]
        self.X = [
            motion_transform(j.placement.rotation, j.placement.translation) for j in robot.joints
        ]
        self.turning = self._turning(i, below)
        if self.parent >= 0 and self._turns(i):
            self.turning.append(i)

    def energy(self, at: Array, half: Array) -> tuple[Array, Array]:
        """Twice the least energy of unit speed of joint i, (N,), at angles ``at`` (N, angles), less
        what it may be below that between them, 2 ``half`` apart; and the logarithms of what each
        angle takes of it (N, angles)."""
        self._at, self._half, self._lost = at, half, np.zeros_like(at)
        A, S = self._articulated(self.i, self.below), self.S[self.i]
        if self.parent >= 0:
            if not self._turns(self.i):  # however far it slides: not bounded here
                return np.zeros(len(at)), self._lost
            A = self._turned(self.i, A, np.eye(6))
            X, p = self.X[self.i], self.parent
            # the parent moves by x: (X x + S)ᵀ A (X x + S) + xᵀ I x is least where
            # V (Vᵀ (Xᵀ A X + I) V)⁻¹ Vᵀ Xᵀ A S is -x, V spanning what it can do
            V = self.S[p] if self.robot.joints[p].parent < 0 else np.eye(6)
            pushed = V.T @ X.T @ A @ S
            resists = V.T @ (X.T @ A @ X + self.I[p]) @ V
            gives = pushed.swapaxes(1, 2) @ _solved(resists, pushed)
        else:
            gives = np.zeros((1, 1, 1))
        return np.broadcast_to((S.T @ A @ S - gives)[:, 0, 0], len(at)), self._lost

    def _turns(self, i: int) -> bool:
        return self.robot.joints[i].kind is JointKind.REVOLUTE

    def _hanging(self, i: int) -> list[int]:
        return [child for child in self.robot.children[i] if self._turns(child)]

    def _turning(self, i: int, below: int) -> list[int]:
        children = self._hanging(i) if below else []
        return [own for child in children for own in (child, *self._turning(child, below - 1))]

    def _articulated(self, i: int, below: int) -> Array:
        """Articulated inertias of body i with up to ``below`` bodies on each branch behind it."""
        from scipy.linalg import null_space  # late: a quarter of a second

        A = self.I[i]
        for child in self._hanging(i) if below else []:
            B, S = self._articulated(child, below - 1), self.S[child]
            U, X = B @ S, self.X[child]
            B = B - U @ _solved(S.T @ U, U.swapaxes(1, 2))
            A = A + X.T @ self._turned(child, B, null_space(S.T)) @ X
        return A

    def _turned(self, i: int, E: Array, within: Array) -> Array:
        """The form that joint i turns, less what it may be below its chords; ``within``: a basis of
        twists, E being zero for all others."""
        column = self.turning.index(i)
        h, q = self._half[:, column], self._at[:, column, None, None]
        K = motion_cross(self.S[i][:, 0])
        EK = E @ K
        first = EK + EK.swapaxes(1, 2)
        second = first @ K + K.T @ first
        sizes, axes = np.linalg.eigh(within.T @ E @ within)
        regular = sizes[:, 0] > SINGULAR * sizes[:, -1]
        axes = within @ (axes / np.sqrt(np.where(regular[:, None], sizes, 1.0))[:, None, :])
        rate, bent = (np.linalg.eigvalsh(axes.swapaxes(1, 2) @ d @ axes) for d in (first, second))
        twice_kappa, c = np.abs(rate).max(axis=1), np.maximum(bent[:, -1], 0.0)
        lost = np.log1p(c * h**2 / 2 * np.exp(np.minimum(2 * twice_kappa * h, LARGE)))
        self._lost[:, column] = lost
        R = np.eye(6) + np.sin(q) * K + (1 - np.cos(q)) * (K @ K)
        keeps = np.where(regular, np.exp(-lost), 0.0)[:, None, None]
        return keeps * (R.swapaxes(1, 2) @ E @ R)


def _solved(A: Array, B: Array) -> Array:
    """A⁻¹ B; of an A that is zero B is, too, and so is this."""
    size = A.shape[-1]
    singular = np.abs(np.linalg.det(A)) == 0
    return np.linalg.solve(A + singular[:, None, None] * np.eye(size), B)


def _least(energy: Energy, angles: int) -> float:
    """A lower bound over all angles: boxes are halved until their bounds are close."""
    corners = np.array(list(product((-1.0, 1.0), repeat=angles)))
    middles = np.pi * (2 * np.arange(STEPS) + 1) / STEPS
    at = np.array(list(product(middles, repeat=angles)))
    half = np.full_like(at, np.pi / STEPS)
    bound, best, points = np.inf, np.inf, 0
    while True:
        shape = len(at), len(corners), angles
        there = (at[:, None] + corners * half[:, None]).reshape(shape[0] * shape[1], angles)
        low, lost = energy(there, np.repeat(half, len(corners), axis=0))
        best = min(best, float((low * np.exp(lost.sum(axis=1))).min()))
        low, lost = low.reshape(shape[:2]).min(axis=1), lost.reshape(shape).max(axis=1)
        points += len(there)
        again = low < NEAR * best
        if points > MOST or not again.any():
            return min(bound, float(low.min()))
        bound = min(bound, float(low[~again].min(initial=np.inf)))
        at, half, lost = at[again], half[again], lost[again]
        # in two, where most is lost
        rows, widest = np.arange(len(at)), lost.argmax(axis=1)
        half[rows, widest] /= 2
        step = np.zeros_like(half)
        step[rows, widest] = half[rows, widest]
        at, half = np.concatenate([at - step, at + step]), np.concatenate([half, half])
