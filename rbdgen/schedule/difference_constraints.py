"""Whole numbers whose differences are bounded below: longest paths, and the cheapest solution."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

# Differences from which on interior points, and from there a vertex, are sooner than a simplex: the
# same cost, and five times as fast at 64000.
MANY = 40_000


class ScheduleError(RuntimeError):
    """A schedule that breaks one of its own rules: a defect of the scheduler."""


class DifferenceConstraints:
    """Whole numbers x with x_to - x_of ≥ gap, minimising a weighted sum of differences."""

    def __init__(self) -> None:
        self.number: dict[object, int] = {}
        self.of: list[int] = []
        self.to: list[int] = []
        self.gap: list[int] = []
        self.cost: list[float] = []

    def variable(self, key: object) -> int:
        if key not in self.number:
            self.number[key] = len(self.number)
            self.cost.append(0.0)
        return self.number[key]

    def after(self, to: object, of: object, gap: int) -> None:
        """x_to ≥ x_of + gap."""
        self.of.append(self.variable(of))
        self.to.append(self.variable(to))
        self.gap.append(gap)

    def shorten(self, to: object, of: object, weight: float) -> None:
        """Each cycle between the two costs ``weight``."""
        self.cost[self.variable(to)] += weight
        self.cost[self.variable(of)] -= weight

    def earliest(self) -> list[int]:
        """The smallest non-negative solution: longest paths, found in topological order."""
        follows: list[list[int]] = [[] for _ in self.number]
        missing = [0] * len(self.number)
        for edge, (of, to) in enumerate(zip(self.of, self.to, strict=True)):
            follows[of].append(edge)
            missing[to] += 1
        x = [0] * len(self.number)
        ready = [v for v, count in enumerate(missing) if count == 0]
        done = 0
        while ready:
            v = ready.pop()
            done += 1
            for edge in follows[v]:
                to = self.to[edge]
                x[to] = max(x[to], x[v] + self.gap[edge])
                missing[to] -= 1
                if missing[to] == 0:
                    ready.append(to)
        if done < len(x):
            raise ScheduleError("regions wait for each other in a circle")
        return x

    def solve(self, fixed: Mapping[object, int], horizon: int) -> dict[object, int]:
        """The cheapest solution with some variables given."""
        # Half a second, which commands that schedule nothing need not wait for.
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        rows = np.arange(len(self.gap)).repeat(2)
        columns = np.array([self.of, self.to]).T.ravel()
        signs = np.tile([1.0, -1.0], len(self.gap))
        matrix = csr_array((signs, (rows, columns)), (len(self.gap), len(self.number)))
        bounds = [(0.0, float(horizon))] * len(self.number)
        for key, at in fixed.items():
            bounds[self.number[key]] = (at, at)
        result = linprog(
            self.cost,
            A_ub=matrix,
            b_ub=-np.array(self.gap, float),
            bounds=bounds,
            method="highs" if len(self.gap) < MANY else "highs-ipm",
        )
        if not result.success:
            raise ScheduleError(f"no schedule: {result.message}")
        return {key: round(result.x[v]) for key, v in self.number.items()}
