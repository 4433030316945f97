"""Constants as few additions of shifted copies: the search behind ``constant_multiply``.

A constant is, up to a power of two, an odd *fundamental*. One addition makes 2^k ± 1 from 1; a
second combines that with 1 or with itself; and so on. Dempster and Macleod (1994) call the
adders needed its cost. A constant here may be anything within a tolerance, which usually saves
one addition in three: the table of all fundamentals of cost 1 to 3 is sorted by mantissa, and
the cheapest inside the tolerance wins.

Multiplication by a constant becomes additions of shifted copies, shared per operand.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op, Region
from ..passes.sums import RegionalBuilder
from .ranges import Ranges
from .wordlength import GUARD, SMALLEST, needed_fraction

LARGEST = 1 << 22  # odd fundamentals up to here; shifts up to 21
SHIFTS = range(1, 22)


@dataclass(frozen=True)
class Sum:
    """left · 2^left_shift + sign · right · 2^right_shift; a recipe is a Sum or 1 (the operand)."""

    left: Recipe
    left_shift: int
    sign: int
    right: Recipe
    right_shift: int

    @property
    def value(self) -> float:
        return math.ldexp(value(self.left), self.left_shift) + self.sign * math.ldexp(
            value(self.right), self.right_shift
        )

    @property
    def depth(self) -> int:
        return 1 + max(depth(self.left), depth(self.right))


Recipe = Sum | int


def value(recipe: Recipe) -> float:
    return recipe.value if isinstance(recipe, Sum) else float(recipe)


def depth(recipe: Recipe) -> int:
    return recipe.depth if isinstance(recipe, Sum) else 0


def parts(recipe: Recipe) -> set[Recipe]:
    """The distinct sums of a recipe: as many as it costs additions."""
    if not isinstance(recipe, Sum):
        return set()
    return {recipe} | parts(recipe.left) | parts(recipe.right)


@dataclass(frozen=True)
class Table:
    """Fundamentals of one cost, sorted by mantissa in [1, 2), and how each is made."""

    mantissa: np.ndarray  # (n,)
    make: np.ndarray  # (n, 5): left, left shift, sign, right, right shift

    def recipe(self, row: int) -> Recipe:
        left, left_shift, sign, right, right_shift = (int(x) for x in self.make[row])
        return Sum(_recipe_of(left), left_shift, sign, _recipe_of(right), right_shift)


@cache
def _recipe_of(fundamental: int) -> Recipe:
    """The recipe of an odd integer of cost 0, 1 or 2."""
    if fundamental == 1:
        return 1
    made = _known()[fundamental]
    return Sum(_recipe_of(made[0]), made[1], made[2], _recipe_of(made[3]), made[4])


@cache
def _known() -> dict[int, tuple[int, int, int, int, int]]:
    return {**_combine([1], [1]), **_cost_two()} | _combine([1], [1])


@cache
def _cost_two() -> dict[int, tuple[int, int, int, int, int]]:
    ones = _combine([1], [1])
    found: dict[int, tuple[int, int, int, int, int]] = {}
    for u in sorted(ones):
        for made in (_combine([u], [1]), _combine([1], [u]), _combine([u], [u])):
            for number, how in made.items():
                if number not in ones:
                    found.setdefault(number, how)
    return found


def _combine(lefts: list[int], rights: list[int]) -> dict[int, tuple[int, int, int, int, int]]:
    """Odd numbers left · 2^k ± right, smallest shift first."""
    found: dict[int, tuple[int, int, int, int, int]] = {}
    for left in lefts:
        for right in rights:
            for k in SHIFTS:
                for sign in (1, -1):
                    number = (left << k) + sign * right
                    if 1 < number < LARGEST:
                        found.setdefault(number, (left, k, sign, right, 0))
                    elif 1 < -number < LARGEST:
                        found.setdefault(-number, (right, 0, -1, left, k))
    return found


@cache
def tables() -> tuple[Table, ...]:
    """Fundamentals of cost 1, 2 and 3."""
    ones = _combine([1], [1])
    twos = _cost_two()
    u1, u2 = np.array([1, *ones]), np.array(list(twos))
    rows: list[np.ndarray] = []
    shift = np.array(SHIFTS)
    for left, right in ((u2, np.array([1])), (np.array([1]), u2), (u1, u1)):
        a, k, s, b = np.meshgrid(left, shift, [1, -1], right, indexing="ij")
        rows.append(np.stack([a, k, s, b, np.zeros_like(a)], -1).reshape(-1, 5))
    # u·(2^k ± 1), and u with the smaller fundamental that it was made from
    inner = np.array([max(twos[u][0], twos[u][3]) for u in twos])
    for left, right in ((u2, u2), (u2, inner), (inner, u2)):
        a, k, s = np.meshgrid(left, shift, [1, -1], indexing="ij")
        b = np.broadcast_to(right[:, None, None], a.shape)
        rows.append(np.stack([a, k, s, b, np.zeros_like(a)], -1).reshape(-1, 5))
    three = np.concatenate(rows)
    number = (three[:, 0] << three[:, 1]) + three[:, 2] * three[:, 3]
    three = three[(number > 1) & (number < LARGEST * 64)]
    return (_table(ones), _table(twos), _sorted(three))


def _table(made: dict[int, tuple[int, int, int, int, int]]) -> Table:
    return _sorted(np.array([made[number] for number in made]))


def _sorted(make: np.ndarray) -> Table:
    number = make[:, 0] * 2.0 ** make[:, 1] + make[:, 2] * make[:, 3] * 2.0 ** make[:, 4]
    mantissa = np.frexp(number)[0] * 2
    order = np.argsort(mantissa, kind="stable")
    return Table(mantissa[order], make[order])


def cheapest(constant: float, tolerance: float) -> tuple[Recipe, int]:
    """(recipe, e): recipe · 2^e is within ``tolerance`` of the positive ``constant``.

    Fewest additions first, then the shortest chain, then the smallest error.
    """
    mantissa, exponent = math.frexp(constant)
    mantissa, exponent = mantissa * 2, exponent - 1
    slack = math.ldexp(tolerance, -exponent)
    for whole in (1.0, 2.0):
        if abs(mantissa - whole) <= slack:
            return 1, exponent + (whole == 2.0)
    for table in tables():
        low = np.searchsorted(table.mantissa, mantissa - slack)
        high = np.searchsorted(table.mantissa, mantissa + slack, side="right")
        if low < high:
            near = np.argsort(np.abs(table.mantissa[low:high] - mantissa), kind="stable")[:16]
            recipe = min((table.recipe(int(low + r)) for r in near), key=depth)
            return recipe, exponent - math.frexp(value(recipe))[1] + 1
    return _cost_four(mantissa, slack, exponent) or signed_digits(constant, tolerance)


def _cost_four(mantissa: float, slack: float, exponent: int) -> tuple[Recipe, int] | None:
    """A fundamental of cost 3 plus a power of two, or times 2^k ± 1."""
    table = tables()[2]
    powers = [sign * 2.0**k for k in range(-24, 3) for sign in (1, -1)]
    factors = [2.0**k + sign for k in SHIFTS for sign in (1, -1) if k > 1 or sign > 0]
    wanted = np.array([mantissa - p for p in powers] + [mantissa / f for f in factors])
    slacks = np.array([slack] * len(powers) + [slack / f for f in factors])
    fraction, scale = np.frexp(np.abs(wanted))
    fraction, scale = fraction * 2, scale - 1
    low = np.searchsorted(table.mantissa, fraction - np.ldexp(slacks, -scale))
    high = np.searchsorted(table.mantissa, fraction + np.ldexp(slacks, -scale), side="right")
    found: list[tuple[int, int, Recipe, int]] = []
    for w in np.flatnonzero((low < high) & (wanted != 0)):
        inner = table.recipe(int(low[w] + high[w]) // 2)
        shift = int(scale[w]) - math.frexp(value(inner))[1] + 1
        if w < len(powers):
            sign, k = (1 if powers[w] > 0 else -1), round(math.log2(abs(powers[w])))
            above = wanted[w] > 0
            recipe = Sum(inner, shift, sign, 1, k) if above else Sum(1, k, -1, inner, shift)
        else:
            k, sign = divmod(int(w) - len(powers) + 1, 2)  # factors start with 2^1 + 1 alone
            recipe = Sum(inner, shift + k + 1, 1 if sign == 0 else -1, inner, shift)
        found.append((recipe.depth, int(w), recipe, exponent))
    best = [
        f
        for f in sorted(found, key=lambda f: f[:2])
        if abs(value(f[2]) - mantissa) <= slack * 1.001
    ]
    return (best[0][2], best[0][3]) if best else None


def signed_digits(constant: float, tolerance: float) -> tuple[Recipe, int]:
    """Canonical signed digits, most significant first, summed as a balanced tree."""
    digits: list[tuple[int, int]] = []  # (sign, exponent)
    rest = constant
    while abs(rest) > tolerance:
        exponent = round(math.log2(abs(rest) / 1.5) + 0.5)
        sign = 1 if rest > 0 else -1
        digits.append((sign, exponent))
        rest -= sign * math.ldexp(1.0, exponent)
    if not digits:
        return 1, math.frexp(constant)[1] - 1
    terms: list[tuple[int, Recipe, int]] = [(sign, 1, exponent) for sign, exponent in digits]
    while len(terms) > 1:
        paired = [
            (a[0], Sum(a[1], a[2], a[0] * b[0], b[1], b[2]), 0)
            for a, b in zip(terms[::2], terms[1::2], strict=False)
        ]
        terms = paired + ([terms[-1]] if len(terms) % 2 else [])
    return terms[0][1], terms[0][2]


def one_addition(
    constant: float, tolerance: float, available: list[Recipe]
) -> tuple[Recipe, int] | None:
    """The constant from what other constants of the same operand made already, or one more sum."""
    for u in available:
        exponent = round(math.log2(constant / value(u)))
        if abs(math.ldexp(value(u), exponent) - constant) <= tolerance:
            return u, exponent
    own = np.array([value(v) for v in available])
    deep = np.array([depth(v) for v in available])
    best: tuple[tuple[int, float], Recipe] | None = None
    for u, of_u in zip(available, own.tolist(), strict=True):
        top = math.frexp(constant / of_u)[1]
        shifts = np.arange(top - 22, top + 2)
        rest = (constant - np.ldexp(of_u, shifts))[:, None]
        size = np.abs(rest)
        j = np.full((len(shifts), len(own)), top - 40)
        np.rint(np.log2(size / own, where=size > 0, out=j + 0.0), out=j, casting="unsafe")
        error = np.abs(rest - np.copysign(np.ldexp(own, j), rest))
        k, v = np.nonzero(error <= tolerance)
        if len(k):
            first = np.lexsort((error[k, v], np.maximum(deep[v], depth(u))))[0]  # stable
            row, column = int(k[first]), int(v[first])
            sign = 1 if rest[row, 0] > 0 else -1
            recipe = Sum(u, int(shifts[row]), sign, available[column], int(j[row, column]))
            rank = recipe.depth, float(error[row, column])
            if best is None or rank < best[0]:
                best = rank, recipe
    return (best[1], 0) if best else None


SLACK = 1.0  # of the last bit that is kept of the product


def tolerances(
    graph: Graph,
    ranges: Ranges,
    width: int,
    chosen: Mapping[Node, int] | None = None,
    guard: int = GUARD,
) -> dict[Node, float]:
    """The tolerance of each MULC's constant: one last bit where its operand is largest.

    ``chosen``: fraction bits of each node, in place of those that ``width`` and ``guard`` allow.
    """
    needed = needed_fraction(graph, ranges, width, guard) if chosen is None else chosen
    return {
        node: SLACK * 2.0 ** -needed[node] / max(ranges.bound[node.args[0]], SMALLEST)
        for node in graph.nodes
        if node.op is Op.MULC
    }


def has_constants(graph: Graph) -> bool:
    """Whether anything is multiplied by a constant that is no power of two."""
    return any(node.op is Op.MULC and not node.is_shift for node in graph.nodes)


def constant_multiply(graph: Graph, tolerance: Mapping[Node, float]) -> Graph:
    """Replace each MULC but powers of two; ``tolerance[node]`` is its constant's slack.

    All constants of one operand in one region are planned together, the most exacting first: what
    one of them made, the others may use. A constant below its slack is zero.
    """
    plans = _plans(graph, tolerance)
    builder = RegionalBuilder()
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        args = [new[a] for a in node.args]
        with builder.in_region(node.region):
            if node in plans:
                recipe, exponent = plans[node]
                new[node] = builder.mul(2.0**exponent, _build(builder, recipe, args[0]))
            elif node.op is Op.MULC and node.value <= tolerance[node]:
                new[node] = builder.const(0.0)  # never as much as a last bit
            else:
                new[node] = builder.same(node, args)
    return graph.made(new)


def moved(graph: Graph, tolerance: Mapping[Node, float]) -> dict[Node, float]:
    """The change of each MULC's constant by ``constant_multiply``."""
    plans = _plans(graph, tolerance)
    found: dict[Node, float] = {}
    for node in graph.nodes:
        if node in plans:
            recipe, exponent = plans[node]
            found[node] = abs(math.ldexp(value(recipe), exponent) - node.value)
        elif node.op is Op.MULC:
            found[node] = node.value if node.value <= tolerance[node] else 0.0
    return found


def _plans(graph: Graph, tolerance: Mapping[Node, float]) -> dict[Node, tuple[Recipe, int]]:
    """The additions of each MULC that is no power of two, and not below its slack."""
    plans: dict[Node, tuple[Recipe, int]] = {}
    by_operand: dict[tuple[Node, Region | None], list[Node]] = defaultdict(list)
    for node in graph.nodes:
        if node.op is Op.MULC and not node.is_shift and node.value > tolerance[node]:
            by_operand[node.args[0], node.region].append(node)
    for nodes in by_operand.values():
        available: list[Recipe] = [1]
        for node in sorted(nodes, key=lambda n: (tolerance[n] / n.value, n.index)):
            plan = cheapest(node.value, tolerance[node])
            if len(available) > 1 and len(parts(plan[0])) > 1:
                plan = one_addition(node.value, tolerance[node], available) or plan
            plans[node] = plan
            for part in sorted(parts(plan[0]), key=lambda p: (depth(p), value(p))):
                if part not in available:
                    available.append(part)
    return plans


def _build(builder: Builder, recipe: Recipe, x: Node) -> Node:
    if not isinstance(recipe, Sum):
        return x
    left = builder.mul(2.0**recipe.left_shift, _build(builder, recipe.left, x))
    right = builder.mul(2.0**recipe.right_shift, _build(builder, recipe.right, x))
    return builder.add(left, right) if recipe.sign > 0 else builder.sub(left, right)
