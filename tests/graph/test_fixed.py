"""Integer semantics against exact fractions and against APyTypes."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from apytypes import APyFixed, OverflowMode, QuantizationMode

from rbdgen.graph.fixed import FixedGraph, Format, Integers, convert, evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.reciprocal import exponent_width
from tests.support.fixed_graphs import STATES, fixed_graph


def random_words(rng: np.random.Generator, form: Format) -> Integers:
    """Words of the format, its ends among them."""
    words = rng.integers(form.lowest, form.highest, STATES, endpoint=True)
    words[:3] = form.lowest, form.highest, 0
    return rng.permutation(words)


def random_format(rng: np.random.Generator, largest: int = 24) -> Format:
    return Format(int(rng.integers(2, largest + 1)), int(rng.integers(-4, 22)))


def exact(words: Integers, form: Format) -> list[Fraction]:
    return [Fraction(int(w)) / Fraction(2) ** form.fraction for w in words]


def floor_to(x: Fraction, fraction: int) -> Fraction:
    """The largest multiple of 2^-fraction that is not above x."""
    return Fraction(math.floor(x * Fraction(2) ** fraction)) / Fraction(2) ** fraction


def half_up(x: Fraction, fraction: int) -> Fraction:
    return floor_to(x + Fraction(1, 2) / Fraction(2) ** fraction, fraction)


def wrapped(x: Fraction, form: Format) -> int:
    """The word that two's complement leaves of x."""
    whole = x * Fraction(2) ** form.fraction
    assert whole.denominator == 1
    return (int(whole) - form.lowest) % (1 << form.width) + form.lowest


@pytest.mark.parametrize("op", [Op.ADD, Op.SUB])
@pytest.mark.parametrize("seed", range(25))
def test_sums_cut_round_and_wrap_as_specified(op: Op, seed: int) -> None:
    rng = np.random.default_rng(seed)
    of = [random_format(rng), random_format(rng)]
    f = int(rng.integers(-4, max(o.fraction for o in of) + 1))
    out = Format(int(rng.integers(2, 26)), f)
    words = [random_words(rng, o) for o in of]
    got = evaluate_fixed(fixed_graph(op, of, out), dict(zip("xy", words, strict=True)))

    sign = 1 if op is Op.ADD else -1
    spare = max(o.fraction for o in of) > f
    over = []
    for k, (a, b) in enumerate(zip(*map(exact, words, of), strict=True)):
        # at most one bit below the last is kept of each; the sum of these is rounded half up,
        # the difference truncated
        total = floor_to(a, f + 1) + sign * floor_to(b, f + 1)
        result = half_up(total, f) if spare and op is Op.ADD else floor_to(total, f)
        assert got.outputs["z"][k] == wrapped(result, out)
        over.append(wrapped(result, out) != result * Fraction(2) ** f)
        assert abs(result - (a + sign * b)) <= Fraction(3, 2) / Fraction(2) ** f
    check_flag(got.overflowed, over)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_products_are_exact_then_cut_or_rounded(rounded: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    of = [random_format(rng, 32), random_format(rng, 32)]
    out = Format(
        int(rng.integers(2, 30)),
        sum(o.fraction for o in of) - int(rng.integers(0, 20)),
        rounded=rounded,
    )
    words = [random_words(rng, o) for o in of]
    got = evaluate_fixed(fixed_graph(Op.MUL, of, out), dict(zip("xy", words, strict=True)))
    over = []
    for k, (a, b) in enumerate(zip(*map(exact, words, of), strict=True)):
        result = (half_up if rounded else floor_to)(a * b, out.fraction)
        assert got.outputs["z"][k] == wrapped(result, out)
        over.append(wrapped(result, out) != result * Fraction(2) ** out.fraction)
    check_flag(got.overflowed, over)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_products_are_those_of_apytypes(rounded: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    of = [random_format(rng), random_format(rng)]
    out = Format(18, sum(o.fraction for o in of) - int(rng.integers(0, 16)), rounded=rounded)
    words = [random_words(rng, o) for o in of]
    got = evaluate_fixed(fixed_graph(Op.MUL, of, out), dict(zip("xy", words, strict=True)))
    mode = QuantizationMode.RND if rounded else QuantizationMode.TRN
    for k, (a, b) in enumerate(zip(*words, strict=True)):
        x, y = (
            APyFixed(int(w), bits=o.width, int_bits=o.width - o.fraction)
            for w, o in zip((a, b), of, strict=True)
        )
        z = (x * y).cast(
            bits=out.width,
            int_bits=out.width - out.fraction,
            quantization=mode,
            overflow=OverflowMode.WRAP,
        )
        assert got.outputs["z"][k] == wrapped(Fraction(z.to_bits()), Format(out.width, 0))


@pytest.mark.parametrize("seed", range(10))
def test_negation_cuts_then_negates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    of = random_format(rng)
    out = Format(int(rng.integers(2, 26)), of.fraction - int(rng.integers(0, 5)))
    words = random_words(rng, of)
    got = evaluate_fixed(fixed_graph(Op.NEG, [of], out), {"x": words})
    results = [-floor_to(a, out.fraction) for a in exact(words, of)]
    assert got.outputs["z"].tolist() == [wrapped(r, out) for r in results]
    check_flag(
        got.overflowed,
        [wrapped(r, out) != r * Fraction(2) ** out.fraction for r in results],
    )


def test_a_power_of_two_renames_bits_and_selection_looks_at_the_sign() -> None:
    word = Format(8, 3)
    shifted = fixed_graph(Op.MULC, [word], Format(8, 1), value=4.0)
    words = np.array([-128, -1, 0, 127])
    got = evaluate_fixed(shifted, {"x": words}).outputs["z"]
    assert got.tolist() == words.tolist()
    np.testing.assert_array_equal(Format(8, 1).real(got), 4 * word.real(words))

    # condition, if negative, otherwise
    chosen = fixed_graph(Op.SELECT, [word] * 3, word)
    state = {"x": np.array([-1, 0, 1]), "y": np.array([1, 2, 3]), "c": np.array([4, 5, 6])}
    assert evaluate_fixed(chosen, state).outputs["z"].tolist() == [1, 5, 6]


def test_wrapping_that_is_meant_is_no_overflow() -> None:
    word = Format(8, 8)
    words = {"x": np.array([100, -100, 5]), "y": np.array([100, -100, 6])}
    meant = evaluate_fixed(fixed_graph(Op.ADD, [word, word], Format(8, 8, wraps=True)), words)
    assert meant.outputs["z"].tolist() == [-56, 56, 11]
    assert not meant.overflowed
    (over,) = evaluate_fixed(fixed_graph(Op.ADD, [word, word], word), words).overflowed.values()
    assert over.tolist() == [True, True, False]


@pytest.mark.parametrize("op", [Op.ADD, Op.SUB, Op.MUL, Op.NEG])
@pytest.mark.parametrize("seed", range(12))
def test_overflowing_says_whether_any_operands_overflow(op: Op, seed: int) -> None:
    """Against all operands of small formats."""
    rng = np.random.default_rng(seed)
    of = [Format(int(rng.integers(2, 6)), int(rng.integers(-1, 3))) for _ in range(2)]
    of = of[: 1 if op is Op.NEG else 2]
    most = sum(o.fraction for o in of) if op is Op.MUL else max(o.fraction for o in of)
    out = Format(int(rng.integers(2, 8)), most - int(rng.integers(0, 3)), rounded=seed % 2 > 0)
    fixed = fixed_graph(op, of, out)
    everything = np.array(
        list(itertools.product(*(range(o.lowest, o.highest + 1) for o in of))), dtype=np.int64
    )
    states = dict(zip("xy", everything.T, strict=False))
    overflowed = evaluate_fixed(fixed, states).overflowed
    assert fixed.overflowing(fixed.graph.outputs["z"]) == bool(overflowed)


@pytest.mark.parametrize("fractions", [(0, 2), (2, 0), (1, 1)])
def test_selection_brings_both_to_a_finer_last_bit(fractions: tuple[int, int]) -> None:
    """And a condition of zero takes the second."""
    of = [Format(3, 0), *(Format(4, fraction) for fraction in fractions)]
    fixed = fixed_graph(Op.SELECT, of, Format(9, 3))
    words = {"x": np.array([-4, -1, 0, 1, 3]), "y": np.full(5, 5), "c": np.full(5, -3)}
    first, second = 5 << (3 - fractions[0]), -3 << (3 - fractions[1])
    found = evaluate_fixed(fixed, words).outputs["z"]
    assert found.tolist() == [first, first, second, second, second]


@pytest.mark.parametrize("seed", range(12))
def test_selection_aligns_cuts_and_may_overflow(seed: int) -> None:
    rng = np.random.default_rng(seed)
    of = [Format(3, 0), *(Format(int(rng.integers(2, 5)), int(rng.integers(-1, 3))) for _ in "ab")]
    out = Format(int(rng.integers(2, 7)), min(o.fraction for o in of[1:]) - int(rng.integers(0, 2)))
    everything = np.array(
        list(itertools.product(*(range(o.lowest, o.highest + 1) for o in of))), dtype=np.int64
    )
    fixed = fixed_graph(Op.SELECT, of, out)
    done = evaluate_fixed(fixed, dict(zip("xyc", everything.T, strict=True)))
    over = []
    for row, got in zip(everything.tolist(), done.outputs["z"].tolist(), strict=True):
        k = 1 if row[0] < 0 else 2
        value = floor_to(Fraction(row[k]) / Fraction(2) ** of[k].fraction, out.fraction)
        assert got == wrapped(value, out)
        over.append(wrapped(value, out) != value * Fraction(2) ** out.fraction)
    check_flag(done.overflowed, over)
    assert fixed.overflowing(fixed.graph.outputs["z"]) == any(over)


@pytest.mark.parametrize("seed", range(12))
def test_overflowing_knows_how_far_a_word_may_be_scaled(seed: int) -> None:
    """Against all words of small formats."""
    rng = np.random.default_rng(seed)
    b = Builder()
    x, a = b.input("x"), b.input("a")
    k = b.exponent(a)
    of = {"x": Format(int(rng.integers(2, 7)), 2), "a": Format(8, int(rng.integers(3, 9)))}
    steps = int(rng.integers(1, 4))
    top = 7 - of["a"].fraction
    lowest = top - (1 << steps) + 1
    out = Format(int(rng.integers(2, 12)), int(rng.integers(-2, 3 + top)))
    z = b.scale(x, k)
    formats = {x: of["x"], a: of["a"], k: Format(exponent_width(lowest, top), 0), z: out}
    fixed = FixedGraph(Graph(("x", "a"), {"z": z}), of, formats, 12, {a: steps})
    words = itertools.product(*(range(of[n].lowest, of[n].highest + 1) for n in "xa"))
    states = dict(zip("xa", np.array(list(words), dtype=np.int64).T, strict=True))
    done = evaluate_fixed(fixed, states)
    assert fixed.overflowing(z) == (z in done.overflowed)
    _, exponents, _ = fixed.reciprocal(k).compute(states["a"])
    assert exponents.min() == lowest or of["a"].width <= 1 << steps
    for word, places, got in zip(
        states["x"].tolist(), exponents.tolist(), done.outputs["z"].tolist(), strict=True
    ):
        exact = Fraction(word, 4) / Fraction(2) ** places
        assert got == wrapped(half_up(exact, out.fraction), out)


def test_quantize_rounds_half_up_and_saturates() -> None:
    word = Format(6, 2)
    values = np.array([0.125, -0.125, 0.124, -0.126, 7.75, 7.9, 1e30, -8.0, -8.2, -1e30])
    assert word.quantize(values).tolist() == [1, 0, 0, -1, 31, 31, 31, -32, -32, -32]
    np.testing.assert_array_equal(word.real(np.array([-32, 31])), [-8.0, 7.75])
    wide = Format(9, -3)
    assert wide.quantize(np.array([4.0, 3.9, -4.0, -4.1])).tolist() == [1, 0, 0, -1]
    every = np.arange(word.lowest, word.highest + 1)
    np.testing.assert_array_equal(word.quantize(word.real(every)), every)


def test_wrap_keeps_the_low_bits() -> None:
    word = Format(5, 0)
    values = np.arange(-100, 100)
    assert word.wrap(values).tolist() == [wrapped(Fraction(int(v)), word) for v in values]


def test_constants_are_the_nearest_words_and_broadcast() -> None:
    b = Builder()
    x, c = b.input("x"), b.const(0.7)
    graph = Graph(("x",), {"c": c, "s": x + c})
    formats = {x: Format(8, 4), c: Format(8, 4), graph.outputs["s"]: Format(9, 4)}
    fixed = FixedGraph(graph, {"x": Format(8, 4)}, formats, 8)
    outputs = evaluate_fixed(fixed, {"x": np.array([0, 1, 2])}).outputs
    assert outputs["c"].tolist() == [11, 11, 11]
    assert outputs["s"].tolist() == [11, 12, 13]


def check_flag(overflowed: dict[Node, np.ndarray], expected: list[bool]) -> None:
    """One node may overflow, and is said to in exactly the states in which it did."""
    assert bool(overflowed) == any(expected)
    for states in overflowed.values():
        assert states.tolist() == expected


@pytest.mark.parametrize(
    ("of", "to"), [((8, 4), (4, 2)), ((4, 1), (8, 4)), ((6, 3), (5, 3)), ((6, 3), (6, 2))]
)
def test_words_in_another_format(of: tuple[int, int], to: tuple[int, int]) -> None:
    """Between stages: rounded half up, then kept within the ends, which is told."""
    old, new = Format(*of), Format(*to)
    words = np.arange(old.lowest, old.highest + 1)
    found, cut = convert(words, old, new)
    half = Fraction(1, 2)
    rounded = [math.floor(x * Fraction(2) ** new.fraction + half) for x in exact(words, old)]
    expected = [min(max(x, new.lowest), new.highest) for x in rounded]
    assert found.tolist() == expected
    assert cut.tolist() == [x != y for x, y in zip(rounded, expected, strict=True)]


def test_limits_lie_between_the_ends_of_a_word() -> None:
    """On both sides, so that a number and its negation both have a word."""
    for word, limit in ((Format(8, 3), 16.0), (Format(8, -2), 512.0), (Format(2, 4), 0.125)):
        assert word.limits == (-limit, limit)
        assert word.real(np.array([word.lowest])) == -limit
        assert word.real(np.array([word.highest])) < limit


def test_what_saturates_has_no_overflow() -> None:
    word = Format(4, 1, saturates=True)
    assert word.wrap(np.array([-9, -8, 3, 7, 8, 20])).tolist() == [-8, -8, 3, 7, 7, 7]
    done = evaluate_fixed(fixed_graph(Op.NEG, [Format(4, 1)], word), {"x": np.array([-8, 7])})
    assert done.outputs["z"].tolist() == [7, -7]
    assert not done.overflowed
    ends = {"wraps": Format(4, 1, wraps=True), "neither": Format(4, 1), "saturates": word}
    assert [name for name, form in ends.items() if form.flags] == ["neither"]


def test_narrow_floats_are_quantized_as_exactly_as_wide_ones() -> None:
    word, value = Format(40, 30), np.array([0.7], np.float32)
    assert word.quantize(value).tolist() == [math.floor(float(value[0]) * 2**30 + 0.5)]


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_products_of_few_bits_more_than_the_result(shift: int) -> None:
    """Rounding begins where a bit is left out."""
    of, out = [Format(4, 2), Format(4, 1)], Format(12, 3 - shift, rounded=True)
    x, y = (column.ravel() for column in np.meshgrid(np.arange(-8, 8), np.arange(-8, 8)))
    found = evaluate_fixed(fixed_graph(Op.MUL, of, out), {"x": x, "y": y}).outputs["z"]
    exact = [Fraction(product, 1 << shift) for product in (x * y).tolist()]
    assert found.tolist() == [math.floor(one + Fraction(1, 2)) for one in exact]
