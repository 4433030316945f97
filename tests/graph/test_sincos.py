"""The sine and cosine unit against the mathematical ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rbdgen.graph.sincos import INDEX, SinCos
from tests.support.widths import check_widths, digest, operands, spread

WIDTHS = range(12, 33)
ANGLE_BITS = 3  # what the compiler gives a phase more than the result
LEFT_OUT = {1: 1.2e-6, 2: 6.2e-10}  # by order of the angle sum
# Of what the units give, by width. A changed bit changes every design: then these change, too.
DIGESTS = {
    12: "9ed92ebb",
    18: "79fbd157",
    20: "20c89755",
    21: "09eb53b8",
    25: "63624971",
    32: "08ed901b",
}


def angles(unit: SinCos, n: int = 200_000) -> np.ndarray:
    """Phases of a turn and more: at random, about quadrants and about table steps."""
    rng = np.random.default_rng(unit.width)
    turn = 1 << unit.phase
    step = max(1, turn >> (INDEX + 2))
    edges = np.arange(0, turn, step)[:, None] + np.array([-1, 0, 1])
    return np.concatenate([rng.integers(-turn, 2 * turn, n), edges.ravel()])


def errors_in_ulp(unit: SinCos, words: np.ndarray) -> np.ndarray:
    """(2, n): of sine and cosine; 1 counts as the largest word, which stands for it."""
    radians = np.ldexp(words.astype(np.float64), -unit.phase) % 1.0 * math.tau
    largest = 1 - 2.0 ** (1 - unit.width)
    exact = np.minimum([np.sin(radians), np.cos(radians)], largest)
    return np.ldexp(np.array(unit.compute(words), float), 0) - np.ldexp(exact, unit.width - 1)


@pytest.mark.parametrize("width", WIDTHS)
def test_error_is_about_one_last_bit(width: int) -> None:
    unit = SinCos(width + ANGLE_BITS, width)
    error = errors_in_ulp(unit, angles(unit))
    assert np.abs(error).max() < 1.05 + np.ldexp(LEFT_OUT[unit.order], width - 1)
    assert np.sqrt((error**2).mean()) < 0.52
    assert abs(error.mean()) < 0.01


@pytest.mark.parametrize("width", [12, 20, 21, 27, 32])
def test_the_finest_angle_fits_int64(width: int) -> None:
    unit = SinCos(SinCos(width, width).finest, width)
    most = 1.05 + np.ldexp(LEFT_OUT[unit.order], width - 1)
    assert np.abs(errors_in_ulp(unit, angles(unit))).max() < most


@pytest.mark.parametrize("width", [12, 18, 20, 21, 32])
def test_words_stay_in_their_width_and_whole_turns_do_nothing(width: int) -> None:
    unit = SinCos(width + ANGLE_BITS, width)
    words = angles(unit, 20_000)
    for result in unit.compute(words):
        assert np.abs(result).max() <= (1 << (width - 1)) - 1
    turned = unit.compute(words + (3 << unit.phase))
    np.testing.assert_array_equal(turned, unit.compute(words))


@pytest.mark.parametrize("width", [12, 18, 24])
def test_symmetries_hold_in_every_bit(width: int) -> None:
    unit = SinCos(width + ANGLE_BITS, width)
    words = angles(unit, 20_000)
    quarter = 1 << (unit.phase - 2)
    sine, cosine = unit.compute(words)
    np.testing.assert_array_equal(unit.compute(words + quarter), [cosine, -sine])
    np.testing.assert_array_equal(unit.compute(words + 2 * quarter), [-sine, -cosine])


@pytest.mark.parametrize(("phase", "width"), [(12, 12), (12, 15), (15, 18), (17, 20), (12, 21)])
def test_phases_coarser_than_the_result_work_too(phase: int, width: int) -> None:
    unit = SinCos(phase, width)
    words = np.arange(-(1 << phase), 1 << phase)
    assert np.abs(errors_in_ulp(unit, words)).max() < 1.7


@pytest.mark.parametrize("width", WIDTHS)
def test_distances_in_radians_are_exact_to_their_words(width: int) -> None:
    unit = SinCos(width + ANGLE_BITS, width)
    low = unit.phase - 2 - INDEX
    k, s = unit.radians
    d = np.array([-(1 << low), (1 << low) - 2], dtype=np.int64)
    delta = (d * k) >> s
    assert s >= 0
    # δ against its exact size: truncated to whole bits, and 2π itself is rounded
    radians = math.tau * d / 2.0 ** (unit.phase + 1)
    tau = math.ldexp(k, unit.phase + 1 - s - unit.delta_fraction)
    off = np.ldexp(delta.astype(float), -unit.delta_fraction) - radians
    assert np.abs(off).max() < 2.0**-unit.delta_fraction + 1.54e-3 * abs(tau / math.tau - 1)
    assert abs(tau / math.tau - 1) < (3.2e-4 if unit.order == 1 else 2.0 ** (2 - width))


@pytest.mark.parametrize("width", WIDTHS)
def test_every_step_fits_its_word(width: int) -> None:
    for phase in {SinCos(99, width).coarsest, width + ANGLE_BITS}:
        unit = SinCos(phase, width)
        check_widths(unit.algorithm, angle=angles(unit, 20_000))
        assert operands(unit.algorithm) == list(unit.products)


def test_tables_fit_a_block_ram() -> None:
    for width in WIDTHS:
        table, fraction = SinCos(99, width).table, SinCos(99, width).table_fraction
        assert table.shape == (1 << INDEX, 2)
        assert table.min() >= 0 and table.max() < 1 << fraction


@pytest.mark.parametrize("width", DIGESTS)
def test_every_bit_is_what_it_was(width: int) -> None:
    phase = width + ANGLE_BITS
    assert digest(*SinCos(phase, width).compute(spread(phase, 4000))) == DIGESTS[width]


@pytest.mark.parametrize(
    ("width", "ends", "order", "short", "slope", "delta"),
    [
        (12, (12, 61), 1, 0, 12, 7),
        (18, (15, 55), 1, 0, 18, 13),
        (20, (17, 53), 1, 0, 20, 15),
        (21, (18, 52), 2, 7, 18, 17),
        (24, (21, 49), 2, 10, 21, 20),
        (32, (29, 41), 2, 18, 29, 28),
    ],
)
def test_sizes(
    width: int, ends: tuple[int, int], order: int, short: int, slope: int, delta: int
) -> None:
    unit = SinCos(width + ANGLE_BITS, width)
    assert (unit.coarsest, unit.finest) == ends
    assert unit.order == order
    assert (unit.slope_width, unit.delta_width) == (slope, delta)
    assert unit.products == ((short, short),) * 2 * (order - 1) + ((slope, delta),) * 2
    assert unit.table.shape == (512, 2)
