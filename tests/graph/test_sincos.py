"""The sine and cosine unit against the mathematical ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rbdgen.graph.sincos import INDEX, SinCos

WIDTHS = range(12, 33)
ANGLE_BITS = 3  # what the compiler gives a phase more than the result


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
    assert np.abs(error).max() < 1.6 if width <= 20 else 1.6 + 2.0 ** (width - 31)
    assert np.sqrt((error**2).mean()) < 0.45
    assert abs(error.mean()) < 0.05


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


@pytest.mark.parametrize("phase", [12, 14, 17])
def test_coarse_phases_work_too(phase: int) -> None:
    unit = SinCos(phase, 18)
    words = np.arange(-(1 << phase), 1 << phase)
    assert np.abs(errors_in_ulp(unit, words)).max() < 1.6


@pytest.mark.parametrize("width", WIDTHS)
def test_intermediate_words_fit_the_widths_that_the_hardware_gives_them(width: int) -> None:
    unit = SinCos(width + ANGLE_BITS, width)
    low = unit.phase - 2 - INDEX
    k, s = unit.radians
    d = np.array([-(1 << low), (1 << low) - 2], dtype=np.int64)
    delta = (d * k) >> s
    assert s >= 0
    assert -(1 << (unit.delta_width - 1)) <= delta.min()
    assert delta.max() < 1 << (unit.delta_width - 1)
    assert d.min() >= -(1 << (unit.delta_bits - 1))
    assert d.max() < 1 << (unit.delta_bits - 1)
    assert unit.table.min() >= 0
    assert unit.table.max() < 1 << unit.table_fraction
    assert unit.table.shape == (1 << INDEX, 2)
    # δ against its exact size
    radians = math.tau * d / 2.0 ** (unit.phase + 1)
    assert np.abs(np.ldexp(delta.astype(float), -unit.delta_fraction) - radians).max() < (
        2.0 ** -(width + 2) if unit.order == 2 else 2.0**-20 * 1.2
    )
