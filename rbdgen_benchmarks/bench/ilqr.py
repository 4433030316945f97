"""Trajectory optimisation with a gradient that may be rough: iLQR, many trajectories at a time.

Gauss-Newton differential dynamic programming (Tassa, Erez and Todorov 2012) with a line search and
a regularisation. Roll-outs, costs, M⁻¹ and the solution of each quadratic problem are float64;
∂q̈/∂q and ∂q̈/∂q̇ alone are somebody else's, as in Plancher et al. 2021, whose words they have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rbdgen.golden import ilqr as golden

Array = NDArray[np.float64]

KNOTS = 64
STEP = 1.0 / (KNOTS - 1)  # s; a second in all
ALPHAS = tuple(0.5**k for k in range(10))
LEAST, MOST = 1e-9, 1e6  # of the regularisation, beyond which there is no more progress
EASED, FIRST = 5.0, 1e-6
FAR = 1e4  # rad, rad/s: a roll-out that is there has failed
NO_MORE = 1e-8  # relative: of a step, where no target is given


@dataclass(frozen=True)
class Tasks:
    """Trajectories to be found, x = (q, q̇): cost ½ Σ (x − aim)ᵀ Q (x − aim) + ½ R |u − hold|².

    ``start`` (B, 2n), ``aims`` and ``weights`` (B, K, 2n), Q's diagonals, at K knots that are
    ``step`` seconds apart; ``hold`` (B, K − 1, n): the efforts from which the search starts, or
    (B, 1, n), the same at all knots; ``effort``: R.
    """

    names: tuple[str, ...]
    start: Array
    aims: Array
    weights: Array
    hold: Array
    effort: float
    step: float = STEP

    @property
    def joints(self) -> int:
        return int(self.hold.shape[-1])

    @property
    def efforts(self) -> Array:
        """``hold`` at every knot but the last, (B, K − 1, n)."""
        tasks, knots, _ = self.aims.shape
        return np.broadcast_to(self.hold, (tasks, knots - 1, self.joints))

    def of(self, own: NDArray[np.intp]) -> Tasks:
        """Some of them."""
        start, aims, weights, hold = (
            x[own] for x in (self.start, self.aims, self.weights, self.hold)
        )
        names = tuple(self.names[k] for k in own)
        return Tasks(names, start, aims, weights, hold, self.effort, self.step)

    def costs(self, X: Array, U: Array) -> Array:
        """Costs of trajectories: X (B, K, 2n), U (B, K − 1, n) → (B,); infinite if too far."""
        with np.errstate(over="ignore", invalid="ignore"):
            states = np.sum(self.weights * (X - self.aims) ** 2, axis=(1, 2))
            efforts = np.sum((U - self.hold) ** 2, axis=(1, 2))
            total = 0.5 * (states + self.effort * efforts)
        found: Array = np.where(np.isfinite(total), total, np.inf)
        return found


@dataclass(frozen=True)
class Robotics:
    """A robot's q̈ and M⁻¹ in float64, for states (N, n) → (N, n) and (N, n, n)."""

    accelerations: Callable[[Array, Array, Array], Array]  # of q, q̇, τ
    inverse: Callable[[Array], Array]  # of q


@dataclass(frozen=True)
class Points:
    """Where gradients are wanted: q, q̇, q̈, τ (N, n), M⁻¹ (N, n, n)."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    Minv: Array


# ∂q̈/∂q and ∂q̈/∂q̇, each (N, n, n)
Gradient = Callable[[Points], tuple[Array, Array]]


@dataclass(frozen=True)
class Found:
    """Costs of each task after 0, 1, 2 … iterations; ``largest`` (B, 2): |q̇|, |q̈| on the way."""

    costs: tuple[tuple[float, ...], ...]
    largest: Array


def solve(
    tasks: Tasks,
    robot: Robotics,
    gradient: Gradient,
    iterations: int,
    targets: Array | None = None,
) -> Found:
    """Each task until its cost is at most its target (B,), or there is no more progress."""
    U = tasks.efforts.copy()
    X, A = unrolled(tasks, robot, U)
    J = tasks.costs(X, U)
    costs = [[float(cost)] for cost in J]
    mu = np.full(len(J), FIRST)
    n, moved, going = tasks.joints, np.arange(len(J)), np.arange(len(J))
    F = np.zeros((*U.shape[:2], 2 * n, 2 * n))
    B = np.zeros((*U.shape[:2], 2 * n, n))
    largest = np.zeros((len(J), 2))
    for _ in range(iterations):
        if not len(going):
            break
        own = tasks.of(going)
        for k, seen in enumerate((X[going][:, :-1, n:], A[going])):
            largest[going, k] = np.maximum(largest[going, k], np.abs(seen).max((1, 2)))
        if len(moved):  # where no step helped, the model is the last one's
            at = X[moved], A[moved], U[moved]
            F[moved], B[moved] = linearised(tasks.of(moved), robot, gradient, *at)
        ks, Ks = backward(own, F[going], B[going], X[going], U[going], mu[going])
        better = search(own, robot, (X[going], U[going], J[going]), ks, Ks)
        stopped: list[bool] = []
        for k, task in enumerate(going):
            if (new := better.get(k)) is None:
                mu[task] = max(10 * mu[task], FIRST)
                done = mu[task] > MOST
            else:
                gain = 1.0 - new[3] / J[task]
                X[task], U[task], A[task], J[task] = new
                mu[task] = max(mu[task] / EASED, LEAST)
                done = gain < NO_MORE if targets is None else J[task] <= targets[task]
            costs[task].append(float(J[task]))
            stopped.append(bool(done))
        moved = np.array(
            [t for k, t in enumerate(going) if k in better and not stopped[k]], dtype=np.intp
        )
        going = going[~np.array(stopped)]
    return Found(tuple(map(tuple, costs)), largest)


def unrolled(tasks: Tasks, robot: Robotics, U: Array) -> tuple[Array, Array]:
    """States (B, K, 2n) and accelerations (B, K − 1, n) of efforts U (B, K − 1, n)."""
    still, zeros = np.zeros_like(tasks.aims), np.zeros((*U.shape, 2 * tasks.joints))
    return roll(tasks, robot, still, U.copy(), U * 0, zeros)


def roll(
    tasks: Tasks, robot: Robotics, X: Array, U: Array, ks: Array, Ks: Array
) -> tuple[Array, Array]:
    """States and accelerations, semi-implicit Euler, of u + k + K (x − X); U becomes those."""
    n = tasks.joints
    new, A = np.zeros_like(X), np.zeros_like(U)
    new[:, 0] = tasks.start
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(U.shape[1]):
            U[:, k] += ks[:, k] + np.einsum("bij,bj->bi", Ks[:, k], new[:, k] - X[:, k])
            q, qd = new[:, k, :n], new[:, k, n:]
            safe = np.isfinite(U[:, k]).all(1) & (np.abs(new[:, k]).max(1) < FAR)
            near = np.reshape(safe, (-1, 1))
            taken = [np.where(near, x, 0.0) for x in (q, qd, U[:, k])]
            A[:, k] = np.where(near, robot.accelerations(*taken), np.inf)
            new[:, k + 1, n:] = qd + tasks.step * A[:, k]
            new[:, k + 1, :n] = q + tasks.step * new[:, k + 1, n:]
    return new, A


def linearised(
    tasks: Tasks, robot: Robotics, gradient: Gradient, X: Array, A: Array, U: Array
) -> tuple[Array, Array]:
    """x₊ ≈ F x + B u of each step: F (B, K − 1, 2n, 2n), B (B, K − 1, 2n, n)."""
    n, shape, h = tasks.joints, U.shape[:2], tasks.step
    q, qd = X[:, :-1, :n].reshape(-1, n), X[:, :-1, n:].reshape(-1, n)
    Minv = robot.inverse(q)
    points = Points(q, qd, A.reshape(-1, n), U.reshape(-1, n), Minv)
    dq, dqd = gradient(points)
    F, B = np.zeros((len(q), 2 * n, 2 * n)), np.zeros((len(q), 2 * n, n))
    # q̇₊ = q̇ + h q̈, q₊ = q + h q̇₊
    F[:, n:, :n], F[:, n:, n:], B[:, n:] = h * dq, np.eye(n) + h * dqd, h * Minv
    F[:, :n, :n], F[:, :n, n:] = np.eye(n) + h * F[:, n:, :n], h * F[:, n:, n:]
    B[:, :n] = h * B[:, n:]
    return F.reshape(*shape, 2 * n, 2 * n), B.reshape(*shape, 2 * n, n)


def backward(
    tasks: Tasks, F: Array, B: Array, X: Array, U: Array, mu: Array
) -> tuple[Array, Array]:
    """k (B, K − 1, n) and K (B, K − 1, n, 2n) of the quadratic problems."""
    n, own = tasks.joints, np.arange(2 * tasks.joints)
    slopes, Q = tasks.weights * (X - tasks.aims), np.zeros((*X.shape, 2 * n))
    Q[:, :, own, own] = tasks.weights
    R = np.broadcast_to(tasks.effort * np.eye(n), (*U.shape, n))
    efforts, none = tasks.effort * (U - tasks.hold), np.zeros((*U.shape, 2 * n))
    costs = golden.Quadratic(slopes[:, :-1], efforts, Q[:, :-1], none, R, slopes[:, -1], Q[:, -1])
    return golden.backward(F, B, costs, mu)[:2]


def search(
    tasks: Tasks,
    robot: Robotics,
    at: tuple[Array, Array, Array],
    ks: Array,
    Ks: Array,
) -> dict[int, tuple[Array, Array, Array, float]]:
    """Task → states, efforts, accelerations and cost of the longest step that lowers its cost."""
    X, U, J = at
    found: dict[int, tuple[Array, Array, Array, float]] = {}
    left = np.flatnonzero(np.isfinite(Ks).all((1, 2, 3)) & np.isfinite(ks).all((1, 2)))
    # the whole step first, then all shorter ones at once of what it does not help
    for alphas in (ALPHAS[:1], ALPHAS[1:]):
        if not len(left):
            break
        each, many = np.tile(left, len(alphas)), np.repeat(alphas, len(left))
        own, new = tasks.of(each), U[each].copy()
        states, A = roll(own, robot, X[each], new, many[:, None, None] * ks[each], Ks[each])
        costs = own.costs(states, new)
        for row in np.flatnonzero(np.less(costs, J[each])):
            step = states[row], new[row], A[row], float(costs[row])
            found.setdefault(int(each[row]), step)
        left = np.array([k for k in left if k not in found], dtype=np.intp)
    return found
