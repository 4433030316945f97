"""Which products become hardware multipliers and which become logic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..design.target import Style, Target
from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op
from ..graph.reciprocal import Reciprocal
from ..graph.sincos import SinCos
from ..words.constant_multiply import Recipe, Sum, cheapest, depth


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
            widths = [fixed.formats[a].width for a in node.args]
            cost = target.hardware_multipliers(widths[0], widths[1])
            wanted.append((widths[0] * widths[1], cost, style, node))
    for angle, node in angles(fixed).items():
        unit = fixed.sincos(node)
        cost = unit.products * target.hardware_multipliers(unit.slope_width, unit.delta_width)
        wanted.append((unit.slope_width * unit.delta_width, cost, sincos, angle))
    for pivot, node in pivots(fixed).items():
        products = fixed.reciprocal(node).products
        cost = sum(target.hardware_multipliers(a, b) for a, b in products)
        wanted.append((max(a * b for a, b in products), cost, recip, pivot))
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


def sincos_latency(spec: SinCos, product_latency: int) -> int:
    """Cycles of a sine and cosine unit: table, products, sum, quadrant and sign.

    The table takes two (block RAM and its output register). Meanwhile δ is turned to radians, a
    cycle for each addition.
    """
    start = max(2, depth(multiple(spec.radians[0])))
    return start + spec.order * (product_latency + 1) + 2


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
