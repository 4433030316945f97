"""Constants as additions: within their tolerance, and with as few as there can be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Op
from rbdgen.graph.verify import verify
from rbdgen.words.constant_multiply import (
    Recipe,
    Sum,
    cheapest,
    constant_multiply,
    depth,
    one_addition,
    parts,
    signed_digits,
    tables,
    value,
)


def made(recipe: Recipe, exponent: int) -> float:
    return math.ldexp(value(recipe), exponent)


def additions(recipe: Recipe) -> int:
    return len(parts(recipe))


def minimum_additions(limit: int, most: int) -> dict[int, int]:
    """Odd number below ``limit`` → fewest additions that make it, up to ``most`` of them.

    By brute force over addition sequences: each sum may use every one before it.
    """
    top = 2 * limit
    shifts = range(top.bit_length())
    best = {1: 0}

    def extend(have: tuple[int, ...], used: int) -> None:
        for u in have:
            for v in have:
                for k in shifts:
                    for number in ((u << k) + v, abs((u << k) - v)):
                        if not 0 < number < top:
                            continue
                        odd = number // (number & -number)
                        if odd in have:
                            continue
                        if best.get(odd, most + 1) > used + 1:
                            best[odd] = used + 1
                        if used + 1 < most:
                            extend((*have, odd), used + 1)

    extend((1,), 0)
    return best


def test_exact_small_constants_cost_the_minimum() -> None:
    """Every constant up to 512 that brute force makes with two additions, and no fewer."""
    minimum = minimum_additions(512, 2)
    for number in range(1, 513):
        recipe, exponent = cheapest(float(number), 1e-9)
        assert made(recipe, exponent) == number
        odd = number // (number & -number)
        if odd in minimum:
            assert additions(recipe) == minimum[odd], number
        else:
            assert additions(recipe) == 3, number  # no 9-bit constant costs four


@pytest.mark.parametrize("bits", [8, 12, 16, 20, 24])
def test_within_tolerance_and_never_dearer_than_signed_digits(bits: int) -> None:
    rng = np.random.default_rng(bits)
    saved = 0
    for constant in np.exp(rng.uniform(-6, 6, 60)):
        tolerance = constant * 2.0**-bits
        recipe, exponent = cheapest(float(constant), tolerance)
        assert abs(made(recipe, exponent) - constant) <= tolerance * 1.001
        digits, shift = signed_digits(float(constant), tolerance)
        assert abs(made(digits, shift) - constant) <= tolerance
        assert additions(recipe) <= additions(digits)
        assert depth(recipe) <= additions(recipe)
        saved += additions(digits) - additions(recipe)
    assert saved > 0


@pytest.mark.parametrize("k", [-20, -1, 0, 3, 17])
def test_powers_of_two_are_free(k: int) -> None:
    assert cheapest(2.0**k, 0.0) == (1, k)
    assert cheapest(2.0**k * 1.001, 2.0**k * 0.002) == (1, k)
    assert cheapest(2.0**k * 0.999, 2.0**k * 0.002) == (1, k)


def test_scaling_by_a_power_of_two_changes_the_exponent_only() -> None:
    for constant in (0.3, 9.81, 1.7):
        recipe, exponent = cheapest(constant, 1e-5 * constant)
        assert cheapest(constant * 64, 64e-5 * constant) == (recipe, exponent + 6)


def test_recipes_add_up() -> None:
    three = Sum(1, 1, 1, 1, 0)
    recipe = Sum(three, 4, -1, three, 0)
    assert (value(three), value(recipe)) == (3.0, 45.0)
    assert (depth(three), depth(recipe), depth(1)) == (1, 2, 0)
    assert parts(recipe) == {three, recipe}


def test_one_addition_uses_what_is_there() -> None:
    five = Sum(1, 2, 1, 1, 0)
    assert one_addition(0.625, 0.0, [1, five]) == (five, -3)
    found = one_addition(37.0, 0.0, [1, five])  # 32 + 5
    assert found is not None
    assert made(*found) == 37
    assert five in parts(found[0])
    assert additions(found[0]) == 2
    assert one_addition(37.0, 0.0, [1]) is None  # takes two without the five


@pytest.mark.parametrize("seed", range(6))
def test_products_stay_within_their_tolerance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    b = Builder()
    operands = [b.input("x"), b.input("y")]
    constants = np.exp(rng.uniform(-4, 4, 12))
    outputs = {
        f"z{k}": float(sign) * (float(c) * operands[k % 2])
        for k, (c, sign) in enumerate(zip(constants, rng.choice([-1, 1], 12), strict=True))
    }
    outputs["free"] = 0.25 * operands[0]
    graph = Graph(("x", "y"), outputs)
    slack = {n: n.value * 2.0 ** -rng.uniform(5, 22) for n in graph.nodes if n.op is Op.MULC}
    lowered = verify(constant_multiply(graph, slack))
    assert all(n.is_shift for n in lowered.nodes if n.op is Op.MULC)

    exact, got = (evaluate(g, {"x": np.ones(1), "y": np.ones(1)}) for g in (graph, lowered))
    assert exact.keys() == got.keys()
    for name, node in graph.outputs.items():
        while node.op is Op.NEG:
            (node,) = node.args
        tolerance = 0.0 if node.is_shift else slack[node] * 1.001
        assert abs(got[name] - exact[name]) <= tolerance, name
    alone = sum(additions(cheapest(n.value, slack[n])[0]) for n in slack if not n.is_shift)
    assert lowered.operations()["add"] <= alone


@pytest.mark.parametrize("sign", [1, -1])
def test_four_additions_reach_a_power_of_two_more_or_less(sign: int) -> None:
    """2^k plus or minus what takes three: as many, and no more."""
    rng = np.random.default_rng(4)
    table = tables()[2]
    for row in rng.choice(len(table.mantissa), 30, replace=False):
        inner = table.recipe(int(row))
        assert additions(inner) <= 3
        constant = 2.0**3 + sign * math.ldexp(value(inner), -math.frexp(value(inner))[1])
        recipe, exponent = cheapest(constant, constant * 1e-12)
        assert abs(made(recipe, exponent) - constant) <= constant * 2e-12
        assert additions(recipe) <= 4, constant


def test_regions_do_not_share_what_their_constants_are_made_of() -> None:
    """Each takes what it takes alone: nothing made elsewhere comes for nothing."""
    rng = np.random.default_rng(5)

    def taken(*constants: float) -> list[int]:
        """Additions in a region for each constant of one operand."""
        b = Builder()
        with b.region("forward", 0):
            x = b.input("x")
        outputs = {}
        for k, constant in enumerate(constants, 1):
            with b.region("forward", k):
                outputs[f"y{k}"] = b.mul(constant, x)
        graph = Graph(("x",), outputs)
        slack = {n: n.value * 3e-4 for n in graph.nodes if n.op is Op.MULC}
        lowered = constant_multiply(graph, slack)
        sums = [n.region for n in lowered.nodes if n.op in (Op.ADD, Op.SUB)]
        return [sums.count(node.region) for node in outputs.values()]

    alone: list[int] = []
    together: list[int] = []
    for _ in range(40):
        few, many = (float(x) for x in np.exp(rng.uniform(-2, 2, 2)))
        alone += [*taken(few), *taken(many)]
        together += taken(few, many)
    assert together == alone
