"""A controller that plans again in every period: a warm start, one iteration, the first effort."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..bench.ilqr import (
    FIRST,
    Array,
    Gradient,
    Points,
    Robotics,
    Tasks,
    backward,
    linearised,
    search,
    unrolled,
)


@dataclass(frozen=True)
class Reference:
    """Where loops are to be in each period, and ahead of the last, S in all.

    ``states``: x (B, S, 2n); ``hold`` (B, S, n): the efforts that keep those still; ``weights``
    (B, K, 2n): Q's diagonals at the knots of a plan; ``effort``: R.
    """

    states: Array
    hold: Array
    weights: Array
    effort: float

    def repeated(self, times: int) -> Reference:
        """All loops, then all of them again …"""
        arrays = self.states, self.hold, self.weights
        states, hold, weights = (np.tile(x, (times, 1, 1)) for x in arrays)
        return Reference(states, hold, weights, self.effort)


@dataclass(frozen=True)
class Horizon:
    """How far a plan looks: ``knots``, each ``every`` periods of ``period`` seconds apart."""

    knots: int
    every: int
    period: float

    @property
    def step(self) -> float:
        return self.every * self.period

    @property
    def ahead(self) -> int:
        """Periods to the last knot."""
        return self.every * (self.knots - 1)


class Controller:
    """Plans of many loops, B at a time; each begins where the last one of its loop left off.

    ``delay``: periods from a measurement to the effort that it leads to. The controller knows of
    it: it steps the measured state by the efforts that are under way. ``most`` (n,): the largest
    efforts. ``stuck`` (B,): in how many periods no step lowered the cost, so that the plan remained
    the last one.
    """

    def __init__(
        self,
        reference: Reference,
        horizon: Horizon,
        robot: Robotics,
        gradient: Gradient,
        delay: int,
        most: Array,
    ) -> None:
        self.reference, self.horizon, self.robot = reference, horizon, robot
        self.gradient, self.delay = gradient, delay
        self._most = most
        self._plan = self._hold(0).copy()
        self._sent = [self._plan[:, 0]] * delay
        self.stuck = np.zeros(len(reference.states), np.int64)

    def __call__(self, period: int, measured: Array) -> Array:
        """The efforts (B, n) for the period that begins ``delay`` periods after this one."""
        x, at = self._foreseen(measured), period + self.delay
        moved = np.concatenate([self._plan[:, 1:], self._plan[:, -1:]], axis=1)
        self._plan += (moved - self._plan) / self.horizon.every
        self._plan = self._improved(self._tasks(at, x), self._plan)
        efforts = np.clip(self._plan[:, 0], -self._most, self._most)
        self._sent = [*self._sent[1:], efforts] if self._sent else []
        return efforts

    def _foreseen(self, x: Array) -> Array:
        """The state when what is decided now begins to act."""
        n, h = x.shape[1] // 2, self.horizon.period
        for tau in self._sent:
            v = x[:, n:] + h * self.robot.accelerations(x[:, :n], x[:, n:], tau)
            x = np.concatenate([x[:, :n] + h * v, v], axis=1)
        return x

    def _tasks(self, at: int, x: Array) -> Tasks:
        knots = slice(at, at + self.horizon.ahead + 1, self.horizon.every)
        aims = self.reference.states[:, knots]
        own = self.reference
        return Tasks(
            ("",) * len(x), x, aims, own.weights, self._hold(at), own.effort, self.horizon.step
        )

    def _hold(self, at: int) -> Array:
        return self.reference.hold[:, at : at + self.horizon.ahead : self.horizon.every]

    def _improved(self, tasks: Tasks, U: Array) -> Array:
        """The plans after one iteration."""
        X, A = unrolled(tasks, self.robot, U)
        costs = tasks.costs(X, U)
        if (far := ~np.isfinite(costs)).any():  # a plan that left: begin again
            U = np.where(far[:, None, None], tasks.efforts, U)
            X, A = unrolled(tasks, self.robot, U)
            costs = tasks.costs(X, U)
        X, A = (np.nan_to_num(x, posinf=0.0, neginf=0.0) for x in (X, A))
        F, B = linearised(tasks, self.robot, self.gradient, X, A, U)
        ks, Ks = backward(tasks, F, B, X, U, np.full(len(U), FIRST))
        better = search(tasks, self.robot, (X, U, costs), ks, Ks)
        self.stuck += [k not in better for k in range(len(U))]
        return np.array([better[k][1] if k in better else own for k, own in enumerate(U)])


def side_by_side(gradients: Sequence[Gradient]) -> Gradient:
    """Gradients of loops that run together: the first of as many as the second, and so on."""

    def found(at: Points) -> tuple[Array, Array]:
        parts = [np.split(getattr(at, f.name), len(gradients)) for f in fields(Points)]
        results = [own(Points(*part)) for own, *part in zip(gradients, *parts, strict=True)]
        dq, dqd = zip(*results, strict=True)
        return np.concatenate(dq), np.concatenate(dqd)

    return found
