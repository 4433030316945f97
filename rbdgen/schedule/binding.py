"""Which products become hardware multipliers and which become logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op
from ..graph.sincos import SinCos
from ..passes.constants import Recipe, Sum, cheapest, depth
from ..target import Style, Target


@dataclass(frozen=True)
class Binding:
    """Which products are hardware multipliers and which are logic."""

    style: Mapping[Node, Style]  # of every MUL
    sincos: Mapping[Node, Style]  # of every angle: its unit's own products
    multipliers: int  # hardware multipliers used


def hardware_multipliers(a_width: int, b_width: int, limit: int) -> int:
    """Hardware multipliers that a product takes when each takes at most ``limit`` bits."""
    return (1 + (a_width > limit)) * (1 + (b_width > limit))


def bind(fixed: FixedGraph, target: Target) -> Binding:
    """Hardware multipliers for the widest products first, until the part has no more.

    The narrow products of the sine units are the cheapest in logic and are the first to go.
    """
    wanted: list[tuple[int, int, bool, Node]] = []
    for node in fixed.graph.nodes:
        if node.op is Op.MUL:
            widths = [fixed.formats[a].width for a in node.args]
            cost = hardware_multipliers(widths[0], widths[1], target.multiplier_width)
            wanted.append((widths[0] * widths[1], cost, False, node))
    for angle, node in angles(fixed).items():
        unit = fixed.sincos(node)
        cost = unit.products * hardware_multipliers(
            unit.slope_width, unit.delta_width, target.multiplier_width
        )
        wanted.append((unit.slope_width * unit.delta_width, cost, True, angle))
    wanted.sort(key=lambda w: (-w[0], w[3].index))
    style: dict[Node, Style] = {}
    sincos: dict[Node, Style] = {}
    used = 0
    for _, cost, is_angle, node in wanted:
        fits = used + cost <= target.multipliers
        used += cost if fits else 0
        (sincos if is_angle else style)[node] = "dsp" if fits else "logic"
    return Binding(style, sincos, used)


def angles(fixed: FixedGraph) -> dict[Node, Node]:
    """Angle → one of the SIN, COS that read it: both come from one unit."""
    found: dict[Node, Node] = {}
    for node in fixed.graph.nodes:
        if node.op in (Op.SIN, Op.COS):
            found.setdefault(node.args[0], node)
    return found


def sincos_radians(spec: SinCos) -> tuple[Recipe, int]:
    """The additions that turn δ to radians, and the cycles until δ meets its multiplier.

    The table takes two (block RAM and its output register), each addition one.
    """
    recipe, exponent = cheapest(float(spec.radians[0]), 0.0)
    assert isinstance(recipe, Sum)  # 2π is no power of two
    shifts = recipe.left_shift + exponent, recipe.right_shift + exponent
    recipe = replace(recipe, left_shift=shifts[0], right_shift=shifts[1])
    return recipe, max(2, depth(recipe))


def sincos_latency(spec: SinCos, product_latency: int) -> int:
    """Cycles of a sine and cosine unit: table, products, sum, quadrant and sign."""
    _, start = sincos_radians(spec)
    return start + spec.order * (product_latency + 1) + 2
