"""The units of a datapath: products in hardware or in logic, and operations that share units.

Adders are not shared: one of 18 bits is as large as the multiplexer in front of one operand, and
the register behind it keeps the sum for a whole initiation interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..design.target import Style, Target
from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op
from ..graph.reciprocal import Reciprocal
from ..graph.sincos import SinCos
from ..words.constant_multiply import Recipe, Sum, cheapest, depth

# Factors of a product of second order, in a sine unit, that LUTs multiply in every part: fewer of
# them than one hardware multiplier's share of a part's. At most three levels of sums add the rows.
SHORT = 12
SHORT_LATENCY = 4

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
    for (number, *_), members in sorted(classes.items()):
        a, b = (max(w[k] for w in members.values()) for k in (0, 1))
        own = UnitKind("mul", (a, b), (number,) if number else ())
        each[own] = target.hardware_multipliers(a, b)
        kind |= dict.fromkeys(members, own)
    turns = max((fixed.formats[angle].width for angle in angles(fixed)), default=0)
    for node in angles(fixed).values():
        unit = fixed.sincos(node)
        own = UnitKind("sincos", (turns,), (unit.phase, unit.width))
        each[own] = multipliers_of(fixed, target, node)
        kind[job(node)] = own
    for node in pivots(fixed).values():
        spec = fixed.reciprocal(node)
        own = UnitKind("recip", (spec.operand,), (spec.top, spec.steps, spec.width))
        each[own] = multipliers_of(fixed, target, node)
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


@dataclass(frozen=True)
class Binding:
    """Which products are hardware multipliers and which are logic."""

    style: Mapping[Node, Style]  # of every MUL
    sincos: Mapping[Node, Style]  # of every angle: its unit's own products
    multipliers: int  # hardware multipliers used
    recip: Mapping[Node, Style] = field(default_factory=dict)  # of every operand of a reciprocal

    def style_of(self, job: tuple[str, Node]) -> Style:
        """The style of a job's products."""
        kind, node = job
        return {"mul": self.style, "sincos": self.sincos, "recip": self.recip}[kind][node]


def bind(fixed: FixedGraph, target: Target) -> Binding:
    """Hardware multipliers for the widest products first, until the part has no more.

    The narrow products of the sine and reciprocal units are the cheapest in logic and are the
    first to go.
    """
    style: dict[Node, Style] = {}
    sincos: dict[Node, Style] = {}
    recip: dict[Node, Style] = {}
    wanted: list[tuple[int, int, dict[Node, Style], Node]] = []
    for node in fixed.graph.nodes:
        if node.op is Op.MUL:
            size = math.prod(fixed.formats[a].width for a in node.args)
            wanted.append((size, multipliers_of(fixed, target, node), style, node))
    for angle, node in angles(fixed).items():
        unit = fixed.sincos(node)
        size = unit.slope_width * unit.delta_width
        wanted.append((size, multipliers_of(fixed, target, node), sincos, angle))
    for pivot, node in pivots(fixed).items():
        size = max(a * b for a, b in fixed.reciprocal(node).products)
        wanted.append((size, multipliers_of(fixed, target, node), recip, pivot))
    wanted.sort(key=lambda w: (-w[0], w[3].index))
    used = 0
    for _, cost, styles, node in wanted:
        fits = used + cost <= target.multipliers
        used += cost if fits else 0
        styles[node] = "dsp" if fits else "logic"
    return Binding(style, sincos, used, recip)


def angles(fixed: FixedGraph) -> dict[Node, Node]:
    """Angle → one of the SIN, COS that read it: both come from one unit."""
    return _read_by(fixed, (Op.SIN, Op.COS))


def pivots(fixed: FixedGraph) -> dict[Node, Node]:
    """Operand → one of the MANTISSA, EXPONENT that read it: both come from one unit."""
    return _read_by(fixed, (Op.MANTISSA, Op.EXPONENT))


def _read_by(fixed: FixedGraph, ops: tuple[Op, ...]) -> dict[Node, Node]:
    found: dict[Node, Node] = {}
    for node in fixed.graph.nodes:
        if node.op in ops:
            found.setdefault(node.args[0], node)
    return found


def multiple(value: int) -> Recipe:
    """The additions that make ``value`` times a word; it is no power of two."""
    recipe, exponent = cheapest(float(value), 0.0)
    assert isinstance(recipe, Sum)
    shifts = recipe.left_shift + exponent, recipe.right_shift + exponent
    return replace(recipe, left_shift=shifts[0], right_shift=shifts[1])


@dataclass(frozen=True)
class UnitProduct:
    """A product inside a unit: bits of its operands, how it is made, and its cycles."""

    a: int
    b: int
    style: Style
    latency: int


def sincos_products(spec: SinCos, target: Target, style: Style) -> list[UnitProduct]:
    """The products of a sine and cosine unit in turn; ``style``: of those that are not short."""
    found = []
    for a, b in spec.products:
        if 0 < a == b == spec.short_width <= SHORT:
            found.append(UnitProduct(a, b, "logic", SHORT_LATENCY))
        else:
            found.append(UnitProduct(a, b, style, target.multiplier_latency(a, b, style)))
    return found


def multipliers_of(fixed: FixedGraph, target: Target, node: Node) -> int:
    """Hardware multipliers of a product, or of the unit that gives a sine or a reciprocal."""
    if node.op is Op.MUL:
        a, b = (fixed.formats[arg].width for arg in node.args)
        products = [(a, b)]
    elif node.op in (Op.SIN, Op.COS):
        made = sincos_products(fixed.sincos(node), target, "dsp")
        products = [(own.a, own.b) for own in made if own.style == "dsp"]
    else:
        products = [*fixed.reciprocal(node).products]
    return sum(target.hardware_multipliers(a, b) for a, b in products)


def sincos_latency(spec: SinCos, product_latencies: Sequence[int]) -> int:
    """Cycles of a sine and cosine unit: table, products, sum, quadrant and sign.

    ``product_latencies``: of each product; those for sine and cosine are made at once.

    The table takes two (block RAM and its output register). Meanwhile δ is turned to radians, a
    cycle for each addition.
    """
    start = max(2, depth(multiple(spec.radians[0])))
    return start + sum(product_latencies[::2]) + spec.order + 2


def normalising(steps: int) -> list[list[int]]:
    """The steps, as powers of two, of each cycle of a normalisation: one, and two at last."""
    powers = list(reversed(range(steps)))
    return [*([j] for j in powers[:-2]), powers[-2:]]


def reciprocal_latency(spec: Reciprocal, product_latencies: Sequence[int]) -> int:
    """Cycles of a reciprocal unit: normalisation, table, products, the line, 2 becomes 2 - ulp.

    The table's address register is that of the last normalising cycle. The Newton step adds its
    products, a sum, and the same limit again.
    """
    return len(normalising(spec.steps)) + 1 + sum(product_latencies) + (4 if spec.newton else 2)


def shifting(steps: int) -> list[list[int]]:
    """The steps, as powers of two, of each cycle of a barrel shifter; a rounding adder follows.

    The first cycle finds out how far to shift, too.
    """
    powers = list(range(steps))
    return [powers[:2], *(powers[k : k + 3] for k in range(2, steps, 3))]
