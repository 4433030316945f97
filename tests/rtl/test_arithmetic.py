"""Sums, cuts and mirrored words as logic, on all words of small widths."""

from __future__ import annotations

import itertools

import pytest
from amaranth.hdl import Module, Shape, Signal, signed, unsigned

from rbdgen.rtl.arithmetic import aligned, later, mirrored, truncated
from tests.support.simulated import answers, streamed


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


@pytest.mark.parametrize("cycles", [0, 1, 3])
@pytest.mark.parametrize("shape", [signed(4), unsigned(4)])
def test_registers_delay_and_keep_the_shape(cycles: int, shape: Shape) -> None:
    m, word = Module(), Signal(shape)
    m.d.sync += Signal().eq(0)  # a clock where nothing is delayed, too
    value = later(m, word, cycles)
    words = [(3,), (-2 if shape.signed else 14,), (5,), (7,)]
    assert value.shape() == shape
    assert streamed(m, [word], words, [value], cycles) == [list(own) for own in words]


def test_a_delay_is_one_register_that_no_reset_clears() -> None:
    m, word = Module(), Signal(4)
    value = later(m, word)
    assert isinstance(value, Signal)
    assert value.reset_less
    assert streamed(m, [word], [(5,), (3,)], [value], 1) == [[5], [3]]
