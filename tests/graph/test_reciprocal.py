"""The reciprocal unit and the scaling behind it against exact numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from rbdgen.graph.algorithm import Do
from rbdgen.graph.fixed import FixedGraph, Format, evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.graph.reciprocal import INDEX, WIDEST, Reciprocal, ScaleAlgorithm, exponent_width
from tests.support.widths import check_widths, digest, operands, spread

WIDTHS = range(12, 33)
STEPS = 4
# Of what the units give, by width. A changed bit changes every design: then these change, too.
DIGESTS = {
    12: "3298dfdf",
    18: "3b92f44c",
    20: "c0914f57",
    21: "24fc2255",
    25: "74662bd5",
    32: "65316ea3",
}


def words_of(unit: Reciprocal, n: int = 4000) -> np.ndarray:
    """Positive words in range: large and small ones, and the ends of table intervals."""
    rng = np.random.default_rng(unit.width)
    most = unit.operand - 1
    least = max(0, most - (1 << unit.steps))
    words = [
        rng.integers(1 << least, 1 << most, n),
        np.exp2(rng.uniform(least, most, n)).astype(np.int64),
        2 ** np.arange(least, most),
        2 ** np.arange(least + 1, most + 1) - 1,
    ]
    if most > INDEX + 2:
        edges = (1 << (most - 1)) + (np.arange(1 << INDEX) << (most - 1 - INDEX))
        words.append((edges[:, None] + np.array([0, 1, -1])).ravel()[:-1])
    return np.clip(np.concatenate(words), 1 << least, (1 << most) - 1)


def errors_in_ulp(unit: Reciprocal, words: np.ndarray) -> np.ndarray:
    """Of the mantissa, in units of its last bit; 2 counts as the largest word."""
    mantissa, exponent, outside = unit.compute(words)
    assert not outside.any()
    errors = []
    for word, m, k in zip(words.tolist(), mantissa.tolist(), exponent.tolist(), strict=True):
        # word = f 2^(operand - 1 + k - top) with f in [1/2, 1)
        f = Fraction(word, 1 << (unit.operand - 1)) * Fraction(2) ** (unit.top - k)
        assert Fraction(1, 2) <= f < 1
        one = 1 << (unit.width - 2)
        errors.append(float(m - min(one / f, 2 * one - 1)))
    return np.array(errors)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("twice", [False, True])
def test_mantissa_is_right_to_about_one_last_bit(width: int, twice: bool) -> None:
    unit = Reciprocal(min(2 * width, WIDEST) if twice else width, 5, STEPS, width)
    error = errors_in_ulp(unit, words_of(unit))
    assert np.abs(error).max() < 1.05
    assert np.sqrt((error**2).mean()) < 0.6
    if twice:
        assert abs(error.mean()) < (0.08 if width < 32 else 0.15)  # f has a bit less there
    relative = error / 2.0 ** (width - 2)
    assert np.abs(relative).max() < 1.05 * 2.0 ** (2 - width)


@pytest.mark.parametrize("width", [12, 18])
def test_every_word_that_a_unit_of_few_bits_can_see(width: int) -> None:
    unit = Reciprocal(width, 0, STEPS, width)
    words = np.arange(1 << max(0, width - 1 - (1 << STEPS)), 1 << (width - 1))
    assert np.abs(errors_in_ulp(unit, words)).max() < 1.05


@pytest.mark.parametrize(("operand", "steps"), [(12, 3), (18, 4), (2, 1), (10, 6), (60, 5)])
def test_words_out_of_range_are_said_to_be(operand: int, steps: int) -> None:
    unit = Reciprocal(operand, -3, steps, 18)
    ends = [-(1 << (operand - 1)), -1, 0, 1, (1 << (operand - 1)) - 1]
    rng = np.random.default_rng(operand)
    some = rng.integers(ends[0], ends[-1], 1000, endpoint=True)
    small = np.exp2(rng.uniform(0, operand - 1, 1000)).astype(np.int64)
    words = np.concatenate([ends, some, small])
    mantissa, exponent, outside = unit.compute(words)
    smallest = Fraction(2) ** (unit.lowest - 1)
    for word, out in zip(words.tolist(), outside.tolist(), strict=True):
        value = Fraction(word) * Fraction(2) ** (unit.top - operand + 1)
        assert out == (value < smallest)
    # whatever comes out fits its word
    assert (mantissa >= 1 << 16).all()
    assert (mantissa < 1 << 17).all()
    assert (exponent >= unit.lowest).all()
    assert (exponent <= unit.top).all()


@pytest.mark.parametrize("width", WIDTHS)
def test_every_step_fits_its_word(width: int) -> None:
    unit = Reciprocal(min(2 * width, WIDEST), 0, STEPS, width)
    assert unit.window <= 62
    rng = np.random.default_rng(width)
    lowest = -(1 << (unit.operand - 1))
    anything = rng.integers(lowest, -lowest, 20_000)
    # the ends of every interval of the table, and what is next to them
    step = 1 << (unit.operand - 2 - INDEX)
    edges = (1 << (unit.operand - 2)) + np.arange(1 << INDEX)[:, None] * step
    ends = (edges + np.array([0, 1, step - 1])).ravel()
    check_widths(unit.algorithm, operand=np.concatenate([words_of(unit), anything, ends]))
    assert operands(unit.algorithm) == list(unit.products)


@pytest.mark.parametrize("width", WIDTHS)
def test_tables_and_products_fit_their_hardware(width: int) -> None:
    unit = Reciprocal(min(2 * width, WIDEST), 0, STEPS, width)
    value, slope = unit.table.T
    assert unit.table.shape == (1 << INDEX, 2)
    assert value.min() >= 0 and value.max() < 1 << unit.seed
    assert slope.min() >= 0 and slope.max() < 1 << (unit.slope_width - 1)
    assert unit.seed + unit.slope_width - 1 <= 36  # a block RAM's word
    assert all(a <= 35 and b <= 35 for a, b in unit.products)
    if width <= 18:
        assert all(a <= 18 and b <= 18 for a, b in unit.products)


@pytest.mark.parametrize("width", [18, 25])
def test_exponents_of_six_bits(width: int) -> None:
    """The normalisation has 64 bits then, the first of which int64 takes for a sign."""
    unit = Reciprocal(40, 5, 6, width)
    assert unit.window == 64
    assert np.abs(errors_in_ulp(unit, words_of(Reciprocal(40, 5, 5, width)))).max() < 1.05


@pytest.mark.parametrize("shift", [-7, -1, 0, 1, 2, 9, 40])
def test_scaling_rounds_half_up(shift: int) -> None:
    unit = ScaleAlgorithm(12, shift, -5, 3)
    rng = np.random.default_rng(shift + 10)
    x, k = rng.integers(-2048, 2047, 3000, endpoint=True), rng.integers(-5, 2, 3000, endpoint=True)
    for word, places, got in zip(x.tolist(), k.tolist(), unit.compute(x, k).tolist(), strict=True):
        exact = Fraction(word) / Fraction(2) ** (places + 5 + shift)
        assert got == math.floor(exact + Fraction(1, 2))
    check_widths(unit.algorithm, x=x, k=k)


@pytest.mark.parametrize(
    ("ends", "width"), [((0, 1), 2), ((-2, 1), 2), ((-3, 1), 3), ((-8, 7), 4), ((0, 8), 5)]
)
def test_exponents_fit(ends: tuple[int, int], width: int) -> None:
    assert exponent_width(*ends) == width


def test_operands_that_are_not_positive_are_flagged() -> None:
    b = Builder()
    a = b.input("a")
    outputs = {"m": b.mantissa(a), "k": b.exponent(a)}
    outputs["r"] = b.scale(outputs["m"], outputs["k"])
    word = Format(18, 14)
    formats = {a: word, outputs["m"]: Format(18, 16), outputs["k"]: Format(4, 0)}
    formats[outputs["r"]] = Format(18, 11)
    fixed = FixedGraph(Graph(("a",), outputs), {"a": word}, formats, 18, {a: 3})
    assert fixed.overflowing(outputs["k"])
    assert not fixed.overflowing(outputs["m"])
    values = np.array([-3.0, 0.0, 2.0**-6, 2.0**-5 - 2.0**-14, 2.0**-5, 0.3, 7.9])
    done = evaluate_fixed(fixed, {"a": word.quantize(values)})
    assert done.overflowed[outputs["k"]].tolist() == [True, True, True, True] + 3 * [False]
    assert list(done.overflowed) == [outputs["k"]]
    np.testing.assert_array_equal(done.outputs["k"][4:], [-4, -1, 3])
    got = formats[outputs["r"]].real(done.outputs["r"])
    exact = 1 / word.real(word.quantize(values[4:]))
    np.testing.assert_allclose(got[4:], exact, atol=1.1 * 2.0**-11)  # 1 ulp of mantissa · 2^5


@pytest.mark.parametrize("width", DIGESTS)
def test_every_bit_is_what_it_was(width: int) -> None:
    unit = Reciprocal(min(2 * width, WIDEST), 5, STEPS, width)
    words = spread(unit.operand - 1, 2000) >> (np.arange(2000) % 17)
    assert digest(*unit.compute(words)) == DIGESTS[width]


@pytest.mark.parametrize(
    ("width", "fraction", "products"),
    [
        (12, 14, [(6, 5)]),
        (18, 20, [(12, 11)]),
        (20, 22, [(14, 13)]),
        (21, 23, [(12, 11), (25, 18), (18, 8)]),
        (31, 33, [(12, 11), (35, 18), (18, 18)]),
        (32, 33, [(12, 11), (35, 18), (18, 18)]),
    ],
)
def test_sizes(width: int, fraction: int, products: list[tuple[int, int]]) -> None:
    """Hardware multipliers have 18 bits, and tables of 512 words fill a block RAM."""
    unit = Reciprocal(12, 3, 2, width)
    assert (unit.lowest, unit.exponent_width, unit.window) == (0, 3, fraction + 1)
    assert unit.fraction == fraction
    assert list(unit.products) == products
    assert unit.table.shape == (512, 2)
    assert [Reciprocal(*wide, width).window for wide in ((50, 0, 2), (12, 0, 6))] == [49, 64]


@pytest.mark.parametrize(
    ("shift", "zeros", "dropped"), [(-3, 4, 0), (0, 1, 0), (1, 0, 0), (2, 0, 1), (7, 0, 6)]
)
def test_what_scaling_leaves_out(shift: int, zeros: int, dropped: int) -> None:
    """All but a bit below the result's last one, at the smallest exponent."""
    unit = ScaleAlgorithm(12, shift, -5, 3)
    assert (unit.zeros, unit.dropped) == (zeros, dropped)
    assert unit.algorithm.inputs["k"].width == exponent_width(-5, 2)
    (shifted,) = (step for step in unit.algorithm.steps if step.do is Do.SHIFT)
    assert shifted.args[0].width == max(12 + zeros - dropped, 2)
