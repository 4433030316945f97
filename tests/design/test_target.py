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
        # TOOLCHAIN: 18 × 18, 25 × 18 and 27 × 18 take one DSP48E2, 24 × 24 two, 32 × 32 four
        ("xcup", 18, 18, 1),
        ("xcup", 25, 18, 1),
        ("xcup", 18, 27, 1),
        ("xcup", 24, 24, 2),
        ("xcup", 32, 32, 4),
        ("xc7", 25, 18, 1),
        ("xc7", 27, 18, 2),
    ],
)
def test_hardware_multipliers(target: str, a: int, b: int, count: int) -> None:
    assert find_target(target).hardware_multipliers(a, b) == count
