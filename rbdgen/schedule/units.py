"""The shared units of a folded datapath: hardware multipliers, and the units that hold them.

Adders are not shared: one of 18 bits is as large as the multiplexer in front of one operand, and
the register behind it keeps the sum for a whole initiation interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ..design.target import Style, Target
from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op
from .binding import Binding, angles, pivots

Job = tuple[str, Node]  # what starts at once: an operation, ("sincos", angle), ("recip", pivot)


def job(node: Node) -> Job:
    """Sine and cosine of an angle are one job, and so are both parts of a reciprocal."""
    if node.op in (Op.SIN, Op.COS):
        return "sincos", node.args[0]
    if node.op in (Op.MANTISSA, Op.EXPONENT):
        return "recip", node.args[0]
    return node.op.value, node


def nodes_of(fixed: FixedGraph, own: Job) -> list[Node]:
    """The nodes whose results a job gives."""
    name, node = own
    if name not in ("sincos", "recip"):
        return [node]
    return [user for user in fixed.graph.users[node] if job(user) == own]


@dataclass(frozen=True, order=True)
class UnitKind:
    """Units that can stand for each other: any of them takes any of the kind's jobs.

    ``name``: mul, sincos or recip. ``widths``: of the operands. ``numbers`` tell units of one
    width apart. ``style``: of its products.
    """

    name: str
    widths: tuple[int, ...]
    numbers: tuple[int, ...] = ()
    style: Style = "dsp"


@dataclass(frozen=True)
class Jobs:
    """The kinds of unit that a graph needs.

    ``each``: hardware multipliers in one unit. ``of``: the jobs of a kind, in the graph's order.
    ``widths``: of each product's operands, the wider one first.
    """

    kind: Mapping[Job, UnitKind]
    each: Mapping[UnitKind, int]
    of: Mapping[UnitKind, list[Job]] = field(default_factory=dict)
    widths: Mapping[Job, tuple[int, int]] = field(default_factory=dict)

    def units(self, interval: int) -> dict[UnitKind, int]:
        """How many of each kind serve all its jobs once every ``interval`` cycles."""
        return {kind: -(-len(jobs) // interval) for kind, jobs in self.of.items()}

    def multipliers(self, interval: int) -> int:
        """Hardware multipliers at an initiation interval."""
        return self.hardware(self.units(interval))

    def hardware(self, units: Mapping[UnitKind, int]) -> int:
        """Hardware multipliers of so many units."""
        return sum(self.each[kind] * n for kind, n in units.items())

    def least_interval(self, multipliers: int) -> int:
        """The smallest initiation interval within a budget of hardware multipliers.

        Raises:
            ValueError: one unit of each kind is already more; says how many that takes.
        """
        longest = max((len(jobs) for jobs in self.of.values()), default=1)
        for interval in range(1, longest + 1):
            if self.multipliers(interval) <= multipliers:
                return interval
        raise ValueError(f"it takes at least {self.multipliers(longest)} hardware multipliers")

    def in_logic(self, budget: int) -> Jobs:
        """Each job on a unit of its own, and products in logic, the cheapest first, until the rest
        fits a ``budget`` of hardware multipliers, or is no product."""
        left = self.multipliers(1) - budget
        kind, each = dict(self.kind), dict(self.each)
        for own in sorted(self.widths, key=lambda j: (math.prod(self.widths[j]), j[1].index)):
            if left <= 0:
                break
            left -= each[kind[own]]
            kind[own] = replace(kind[own], widths=self.widths[own], style="logic")
            each[kind[own]] = 0
        return Jobs(kind, each, _by_kind(kind), self.widths)


def _by_kind(kind: Mapping[Job, UnitKind]) -> dict[UnitKind, list[Job]]:
    found: dict[UnitKind, list[Job]] = {}
    for own in sorted(kind, key=lambda j: (j[1].index, j[0])):
        found.setdefault(kind[own], []).append(own)
    return found


def shared_jobs(
    fixed: FixedGraph, target: Target, apart: Callable[[Node], int] = lambda _: 0
) -> Jobs:
    """Everything in the graph that takes a hardware multiplier.

    Products that are ``apart``, of other numbers, share no multiplier.
    """
    # one kind for each number of hardware multipliers and of wide operands, as wide as its widest
    classes: dict[tuple[int, int, bool, bool], dict[Job, tuple[int, int]]] = {}
    for node in fixed.graph.nodes:
        if node.op is Op.MUL:
            a, b = sorted((fixed.formats[x].width for x in node.args), reverse=True)
            wide = a > target.multiplier_width, b > target.multiplier_width
            key = apart(node), target.hardware_multipliers(a, b), *wide
            classes.setdefault(key, {})[job(node)] = a, b
    kind: dict[Job, UnitKind] = {}
    each: dict[UnitKind, int] = {}
    products = {own: ab for members in classes.values() for own, ab in members.items()}
    for (number, cost, *_), members in sorted(classes.items()):
        widths = tuple(max(w[k] for w in members.values()) for k in (0, 1))
        own = UnitKind("mul", widths, (number,) if number else ())
        each[own] = cost
        kind |= dict.fromkeys(members, own)
    turns = max((fixed.formats[angle].width for angle in angles(fixed)), default=0)
    for node in angles(fixed).values():
        unit = fixed.sincos(node)
        own = UnitKind("sincos", (turns,), (unit.phase, unit.width))
        each[own] = unit.products * target.hardware_multipliers(unit.slope_width, unit.delta_width)
        kind[job(node)] = own
    for node in pivots(fixed).values():
        spec = fixed.reciprocal(node)
        own = UnitKind("recip", (spec.operand,), (spec.top, spec.steps, spec.width))
        each[own] = sum(target.hardware_multipliers(a, b) for a, b in spec.products)
        kind[job(node)] = own
    return Jobs(kind, each, _by_kind(kind), products)


def all_hardware(
    fixed: FixedGraph, multipliers: int, kind: Mapping[Job, UnitKind] | None = None
) -> Binding:
    """The binding in which products are hardware multipliers, but for what a ``kind`` says."""
    of = kind or {}
    return Binding(
        {
            n: of[job(n)].style if job(n) in of else "dsp"
            for n in fixed.graph.nodes
            if n.op is Op.MUL
        },
        dict.fromkeys(angles(fixed), "dsp"),
        multipliers,
        dict.fromkeys(pivots(fixed), "dsp"),
    )
