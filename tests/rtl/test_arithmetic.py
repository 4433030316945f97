"""Sums, cuts and mirrored words as logic, on all words of small widths."""

from __future__ import annotations

import itertools

import pytest
from amaranth.hdl import Signal, signed

from rbdgen.rtl.arithmetic import aligned, mirrored, truncated
from tests.rtl.simulated import answers


def test_mirrored_words() -> None:
    word, minus = Signal(signed(4)), Signal(1)
    words = list(itertools.product(range(-8, 8), (0, 1)))
    found = answers([word, minus], words, [mirrored(word, minus)])
    assert [one for (one,) in found] == [min(-x, 7) if negative else x for x, negative in words]


@pytest.mark.parametrize("to", range(-3, 5))
def test_words_that_are_cut(to: int) -> None:
    word = Signal(signed(4))
    value, fraction = truncated(word, 2, to)
    assert fraction == min(2, to)
    found = answers([word], [(x,) for x in range(-8, 8)], [value])
    assert [one for (one,) in found] == [x >> (2 - fraction) for x in range(-8, 8)]
    assert value.shape().signed


def test_zeros_behind_words() -> None:
    word = Signal(signed(3))
    for zeros in range(3):
        found = answers([word], [(x,) for x in range(-4, 4)], [aligned(word, zeros)])
        assert [one for (one,) in found] == [x << zeros for x in range(-4, 4)]
