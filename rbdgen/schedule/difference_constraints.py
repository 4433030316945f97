"""Difference constraints on whole numbers, and the times and sizes that schedules share.

Longest paths and cheapest solutions are found under constraints that bound differences below. Sizes
are those of a part's small memories and fan-out; times, in nanoseconds, those of operations that
are chained within a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..graph.graph import source
from ..graph.node import Node, Op
from .plan import Channel
from .units import normalising, shifting

BANK = 16  # words of one LUT-RAM
LONGEST_RING = BANK + 1  # cycles that a value waits in a LUT-RAM and the register behind it
ADDRESSED = 200  # bits of memory that one copy of an address reaches
READ = 72  # the same of an address that is read at: every bit is a load, not every fourth
LOADS = 400  # registers that one copy of a phase's bit enables


def capacity(channel: Channel) -> int:
    """Tokens the channel has room for: what the schedule asks for, in whole LUT-RAMs."""
    return -(-channel.depth // BANK) * BANK


@dataclass(frozen=True)
class Delay:
    """The delay of one operation, ns, with the wires in between.

    ``enter``: from the operands to the result, or to the first register where there are registers
    inside; ``leave``: from the last of those to the result; ``check``: from the result to where
    its overflow bit is registered.
    """

    enter: float
    leave: float = 0.0
    check: float = 0.0


def delay(fixed: FixedGraph, target: Target, node: Node) -> Delay:
    """The node's own delays."""
    ns, out = target.delays, fixed.formats[node]
    widths = [fixed.formats[source(a)].width for a in node.args]
    check = 2 * ns.lut if fixed.overflowing(node) else 0.0
    match node.op:
        case Op.INPUT:
            return Delay(0.0)
        case Op.ADD | Op.SUB | Op.NEG:
            return Delay(ns.sum(max(out.width, *widths) + 1), check=check)
        case Op.SATURATE:
            found = 3 if fixed.saturates_by_bits(node) else 1  # levels of LUTs behind the sum
            return Delay(ns.sum(max(out.width, *widths) + 1) + found * ns.lut, check=check)
        case Op.SELECT:
            return Delay(ns.lut, check=check)
        case Op.MUL:
            rounding = ns.sum(out.width + 1) if out.rounded else 0.0
            return Delay(ns.product(target.hardware_multipliers(*widths)) + rounding, check=check)
        case Op.SCALE:
            first, *_ = shifting(fixed.scale(node).steps)
            return Delay(ns.sum(widths[1]) + len(first) * ns.lut, ns.sum(out.width + 1), check)
        case Op.SIN | Op.COS:  # the first addition of the distance in radians
            return Delay(ns.sum(fixed.sincos(node).phase))
        case Op.MANTISSA | Op.EXPONENT:  # whether the first 2^j bits are empty, and by it a shift
            steps = normalising(fixed.reciprocal(node).steps)[0]
            luts = sum(levels(1 << j) + 1 for j in steps)
            return Delay(luts * ns.lut, check=check)
    raise ValueError(f"no delay for {node.op.value}")


def gathering(target: Target, bits: int) -> float:
    """ns of an OR of so many bits."""
    return levels(bits) * target.delays.lut


def levels(inputs: int) -> int:
    """The levels of a tree of LUTs with four inputs each."""
    count = 0
    while inputs > 1:
        inputs, count = -(-inputs // 4), count + 1
    return max(count, 1)


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
