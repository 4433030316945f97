"""Hardware multipliers as Yosys counts them."""

from __future__ import annotations

import pytest

from rbdgen.design.target import find_target


@pytest.mark.parametrize(
    ("target", "a", "b", "count"),
    [
        ("ecp5-85f", 18, 18, 1),
        ("ecp5-85f", 19, 18, 2),
        ("ecp5-85f", 32, 32, 4),
        # up to 27 × 18 a DSP48E2 takes alone, six bits more with LUTs
        ("xcup", 18, 18, 1),
        ("xcup", 25, 18, 1),
        ("xcup", 18, 27, 1),
        ("xcup", 24, 24, 1),
        ("xcup", 28, 20, 1),
        ("xcup", 33, 18, 1),
        ("xcup", 25, 25, 2),
        ("xcup", 35, 27, 2),
        ("xcup", 32, 32, 4),
        ("xc7", 25, 18, 1),
        ("xc7", 27, 18, 1),
        ("xc7", 32, 18, 2),
    ],
)
def test_hardware_multipliers(target: str, a: int, b: int, count: int) -> None:
    assert find_target(target).hardware_multipliers(a, b) == count


@pytest.mark.parametrize(
    ("target", "a", "b", "rows"),
    [
        ("xcup", 27, 18, (0, 0)),
        ("xcup", 24, 24, (0, 6)),
        ("xcup", 20, 28, (2, 1)),
        ("xcup", 28, 20, (1, 2)),
        ("xcup", 30, 20, (3, 2)),
        ("xcup", 25, 25, (0, 0)),
        ("xcup", 32, 20, (0, 0)),
        ("xc7", 24, 24, (0, 6)),
        ("ecp5-85f", 24, 24, (0, 0)),
    ],
)
def test_bits_that_luts_multiply(target: str, a: int, b: int, rows: tuple[int, int]) -> None:
    """Three pairs of them at most, of one operand or of both; none where a product is split."""
    assert find_target(target).spent(a, b)[1] == rows
    assert find_target(target).without_digits().spent(a, b)[1] == (0, 0)


def test_products_within_a_clock_have_no_luts_beside_them() -> None:
    assert find_target("xcup").without_digits().hardware_multipliers(24, 24) == 2
    assert find_target("xcup").without_digits(chained=False) is find_target("xcup")
