"""Trajectory optimisation of textbooks: differential dynamic programming, dense, in float64.

Gauss-Newton's Hessian (iLQR; Tassa, Erez and Todorov 2012), with a line search and a
regularisation. `backward` takes any linearised problem; `solve` is of a robot whose input is q̈.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..robot.model import Array, Robot
from .articulated import rnea
from .derivatives import rnea_derivatives
from .kinematics import frame_jacobians, frame_poses

LENGTHS = (1.0, 0.4, 0.15, 0.05)  # of steps
LEAST, MOST, EASED = 1e-6, 1e6, 5.0  # of the regularisation


class Quadratic(NamedTuple):
    """Costs of batches of problems around a trajectory, by x and u at each of N steps.

    Slopes ``x`` (B, N, m), ``u`` (B, N, n); Hessians ``xx`` (B, N, m, m), ``ux`` (B, N, n, m) and
    ``uu`` (B, N, n, n); of the last state ``last_x`` (B, m) and ``last_xx`` (B, m, m).
    """

    x: Array
    u: Array
    xx: Array
    ux: Array
    uu: Array
    last_x: Array
    last_xx: Array


class Gains(NamedTuple):
    """u = k + K (x − x̄) of each step: k (B, N, n), K (B, N, n, m); ``fall`` (B,): by what the costs
    of the quadratic problems fall, twice."""

    k: Array
    K: Array
    fall: Array


def backward(F: Array, B: Array, costs: Quadratic, mu: Array) -> Gains:
    """The Riccati recursion of x₊ = F x + B u: F (B, N, m, m), B (B, N, m, n); ``mu`` (B,)."""
    n = B.shape[-1]
    ks, Ks = np.zeros_like(costs.u), np.zeros_like(costs.ux)
    fall = np.zeros(len(F))
    v, V = costs.last_x, costs.last_xx
    with np.errstate(all="ignore"):
        for k in reversed(range(F.shape[1])):
            f, b = F[:, k], B[:, k]
            ft, bt = np.swapaxes(f, 1, 2), np.swapaxes(b, 1, 2)
            Qx, Qu = costs.x[:, k] + _times(ft, v), costs.u[:, k] + _times(bt, v)
            VB = V @ b
            Qxx, Qux = costs.xx[:, k] + ft @ V @ f, costs.ux[:, k] + np.swapaxes(VB, 1, 2) @ f
            Quu = costs.uu[:, k] + bt @ VB
            # k = −(Quu + μ)⁻¹ Qu, K = −(Quu + μ)⁻¹ Qux
            right = np.concatenate([Qu[:, :, None], Qux], axis=2)
            gains = -np.linalg.solve(Quu + mu[:, None, None] * np.eye(n), right)
            gain, K = gains[:, :, 0], gains[:, :, 1:]
            Kt, Qxu = np.swapaxes(K, 1, 2), np.swapaxes(Qux, 1, 2)
            # v = Qx + Kᵀ Quu k + Kᵀ Qu + Qux ᵀk;  V = Qxx + Kᵀ Quu K + Kᵀ Qux + Quxᵀ K
            v = Qx + _times(Kt, _times(Quu, gain) + Qu) + _times(Qxu, gain)
            V = Qxx + Kt @ Quu @ K + Kt @ Qux + Qxu @ K
            V = 0.5 * (V + np.swapaxes(V, 1, 2))
            ks[:, k], Ks[:, k] = gain, K
            fall -= np.sum(Qu * gain, axis=1)
    return Gains(ks, Ks, fall)


def _times(A: Array, x: Array) -> Array:
    return (A @ x[:, :, None])[:, :, 0]


@dataclass(frozen=True)
class Limits:
    """Limits of q, q̇, q̈ and τ, (4, n) each, and the ``stiffness`` (4,) of what is beyond them."""

    lower: Array
    upper: Array
    stiffness: Array


@dataclass(frozen=True)
class ToolCost:
    """Aims of a link's frame: ``p`` (N + 1, 3) and ``R`` (N + 1, 3, 3), and their weights, (N + 1,
    3) and (N + 1,): half of Σ p_weight (p − p')² + ½ R_weight |R − R'|²."""

    link: str
    p: Array
    R: Array
    p_weight: Array
    R_weight: Array


@dataclass(frozen=True)
class Problem:
    """Half of Σ weight (x − aim)² + effort (τ − hold)² + acceleration q̈², x = (q, q̇).

    ``step`` [s]; ``aim``, ``weight`` (N + 1, 2n); ``hold`` (N, n) [N·m]; ``effort``,
    ``acceleration`` (n,). ``tool``: and what it costs; ``limits``: of an augmented Lagrangian.
    """

    step: float
    aim: Array
    weight: Array
    hold: Array
    effort: Array
    acceleration: Array
    tool: ToolCost | None = None
    limits: Limits | None = None

    def beyond(self, numbers: Array) -> Array:
        """Parts (N + 1, 4n) of q, q̇, q̈ and τ that are beyond limits which are kept."""
        if self.limits is None:
            return 0 * numbers
        within = np.clip(numbers, np.ravel(self.limits.lower), np.ravel(self.limits.upper))
        off = np.where(self._stiffness > 0, numbers - within, 0.0)
        half = numbers.shape[1] // 2
        off[0, :half] = off[-1, half:] = 0  # what was measured; what there is not
        return off

    @property
    def _stiffness(self) -> Array:
        n = len(self.effort)
        return np.zeros(4 * n) if self.limits is None else np.repeat(self.limits.stiffness, n)

    def pressure(self, plan: Plan, more: Array) -> tuple[Array, Array]:
        """Slopes and weights (N + 1, 4n) of the penalty, with multipliers by their stiffness."""
        off = self.beyond(plan.numbers + more)
        return self._stiffness * off, self._stiffness * (off != 0)


@dataclass(frozen=True)
class Plan:
    """States (N + 1, 2n), q̈ and τ (N, n), the gains K (N, n, 2n) of q̈ on x, and the cost;
    after how many iterations. ``excess`` (N + 1, 4n): multipliers of limits by their stiffness."""

    x: Array
    qdd: Array
    tau: Array
    K: Array
    cost: float
    excess: Array = field(default_factory=lambda: np.zeros(()))
    iterations: int = 0

    @property
    def numbers(self) -> Array:
        """All of q, q̇, q̈ and τ, (N + 1, 4n), zeros for the last two of the last knot."""
        inputs = np.concatenate([self.qdd, self.tau], axis=1)
        return np.concatenate([self.x, np.pad(inputs, ((0, 1), (0, 0)))], axis=1)


def start(robot: Robot, problem: Problem, x: Array, qdd: Array) -> Plan:
    """The motion of accelerations (N, n) from x (2n,) on."""
    N, n = qdd.shape
    none, more = np.zeros((N, n, 2 * n)), np.zeros((N + 1, 4 * n))
    still = Plan(np.zeros((N + 1, 2 * n)), qdd, 0 * qdd, none, 0.0, more)
    return _moved(robot, problem, still, x, 0 * qdd)


def solve(
    robot: Robot,
    problem: Problem,
    plan: Plan,
    iterations: int = 100,
    tolerance: float = 1e-9,
    slack: float = 1e-4,
) -> Plan:
    """The best motion from ``plan``'s first state on.

    It ends when an iteration cannot lower the cost by more than ``tolerance`` of it, and what is
    beyond limits changes multipliers by no more than ``slack``.
    """
    mu, done = 0.0, 0
    while done < iterations and mu <= MOST:
        done += 1
        F, B, costs = quadratic(robot, problem, plan)
        own = backward(F[None], B[None], Quadratic(*(x[None] for x in costs)), np.array([mu]))
        plan = replace(plan, K=own.K[0])
        if 0.5 * own.fall[0] <= tolerance * abs(plan.cost):
            more = problem.beyond(plan.numbers + plan.excess)
            if np.abs(more - plan.excess).max() <= slack:
                break
            plan = replace(plan, excess=more)
            plan, mu = replace(plan, cost=cost_of(robot, problem, plan)), 0.0
            continue
        for length in LENGTHS:  # the longest one that lowers the cost
            steps = length * own.k[0]
            new = _moved(robot, problem, plan, plan.x[0], steps)
            if new.cost < plan.cost:
                plan, mu = new, mu / EASED if mu > LEAST else 0.0
                break
        else:
            mu = 10 * mu if mu > 0 else LEAST
    return replace(plan, iterations=done)


def quadratic(robot: Robot, problem: Problem, plan: Plan) -> tuple[Array, Array, Quadratic]:
    """F (N, 2n, 2n) and B (N, 2n, n) of the steps, and the costs around the plan."""
    N, n = plan.qdd.shape
    h, one, states = problem.step, np.eye(n), plan.x[:-1]
    # q̇₊ = q̇ + h q̈, q₊ = q + h q̇₊
    F = np.broadcast_to(np.block([[one, h * one], [0 * one, one]]), (N, 2 * n, 2 * n))
    B = np.broadcast_to(np.concatenate([h * h * one, h * one]), (N, 2 * n, n))
    slopes = rnea_derivatives(robot, states[:, :n], states[:, n:], plan.qdd)
    Dx, Du = np.concatenate([slopes.dtau_dq, slopes.dtau_dqd], axis=2), slopes.M
    pressed, hard = problem.pressure(plan, plan.excess)
    W = np.stack([np.diag(own) for own in problem.effort + hard[:-1, 3 * n :]])
    residual = problem.effort * (plan.tau - problem.hold) + pressed[:-1, 3 * n :]
    Dxt, Dut = np.swapaxes(Dx, 1, 2), np.swapaxes(Du, 1, 2)
    x = problem.weight * (plan.x - problem.aim) + pressed[:, : 2 * n]
    Q = np.stack([np.diag(own) for own in problem.weight + hard[:, : 2 * n]])
    if problem.tool:
        slope, hessian = _of_tool(robot, problem.tool, plan.x[:, :n])
        x[:, :n] += slope
        Q[:, :n, :n] += hessian
    u = problem.acceleration * plan.qdd + pressed[:-1, 2 * n : 3 * n]
    R = np.stack([np.diag(own) for own in problem.acceleration + hard[:-1, 2 * n : 3 * n]])
    costs = Quadratic(
        x[:-1] + _times(Dxt, residual),
        u + _times(Dut, residual),
        Q[:-1] + Dxt @ W @ Dx,
        Dut @ W @ Dx,
        R + Dut @ W @ Du,
        x[-1],
        Q[-1],
    )
    return F, B, costs


def _of_tool(robot: Robot, tool: ToolCost, q: Array) -> tuple[Array, Array]:
    """Slopes (N + 1, n) and Gauss-Newton's Hessians (N + 1, n, n) of what a tool costs."""
    p, R = (own[:, 0] for own in frame_poses(robot, q, [tool.link]))
    J = frame_jacobians(robot, q, [tool.link])[:, 0]
    # |R − R'|² has the slope 2 Σ R'_i × R_i by a turn, of columns
    turn = 0.5 * np.sum(np.cross(tool.R, R, axis=1), axis=2)
    slope = np.concatenate([tool.p_weight * (p - tool.p), tool.R_weight[:, None] * turn], axis=1)
    weight = np.concatenate([tool.p_weight, np.repeat(tool.R_weight[:, None], 3, axis=1)], axis=1)
    Jt = np.swapaxes(J, 1, 2)
    return _times(Jt, slope), Jt @ (weight[:, :, None] * J)


def _moved(robot: Robot, problem: Problem, plan: Plan, at: Array, k: Array) -> Plan:
    """The motion of q̈ + k + K (x' − x) from x' = ``at`` on."""
    N, n = plan.qdd.shape
    states, inputs = np.zeros((N + 1, 2 * n)), plan.qdd + k
    states[0] = at
    for i in range(N):
        inputs[i] += plan.K[i] @ (states[i] - plan.x[i])
        qd = states[i, n:] + problem.step * inputs[i]
        states[i + 1] = np.concatenate([states[i, :n] + problem.step * qd, qd])
    tau = rnea(robot, states[:-1, :n], states[:-1, n:], inputs)
    moved = replace(plan, x=states, qdd=inputs, tau=tau)
    return replace(moved, cost=cost_of(robot, problem, moved))


def cost_of(robot: Robot, problem: Problem, plan: Plan) -> float:
    """The cost of a motion, and of what is beyond limits with its multipliers."""
    total = (
        np.sum(problem.weight * (plan.x - problem.aim) ** 2)
        + np.sum(problem.effort * (plan.tau - problem.hold) ** 2)
        + np.sum(problem.acceleration * plan.qdd**2)
    )
    slopes, _ = problem.pressure(plan, plan.excess)
    total += np.sum(slopes * problem.beyond(plan.numbers + plan.excess))
    if tool := problem.tool:
        p, R = (own[:, 0] for own in frame_poses(robot, plan.x[:, : robot.nv], [tool.link]))
        total += np.sum(tool.p_weight * (p - tool.p) ** 2)
        total += 0.5 * np.sum(tool.R_weight[:, None, None] * (R - tool.R) ** 2)
    return 0.5 * float(total)
