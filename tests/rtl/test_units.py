"""Every operation's logic, on all words of small formats: the bits and the overflow of integers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from amaranth.hdl import Const, Module, Signal, Value, signed

from rbdgen.graph.execute import NUMBERS
from rbdgen.graph.fixed import INTEGER, Format
from rbdgen.graph.node import Op
from rbdgen.rtl.units import UNIT, overflow_of
from tests.support.fixed_graphs import fixed_graph
from tests.support.simulated import answers

OPERANDS = {Op.ADD: 2, Op.SUB: 2, Op.MUL: 2, Op.NEG: 1, Op.SELECT: 3}
FORMATS = 12  # drawn of each operation


def all_words(formats: Sequence[Format]) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(f.lowest, f.highest + 1) for f in formats)))


@pytest.mark.parametrize("seed", range(FORMATS))
@pytest.mark.parametrize("op", OPERANDS)
def test_logic(op: Op, seed: int) -> None:
    rng = np.random.default_rng(seed)
    operands = [
        Format(int(rng.integers(2, 5)), int(rng.integers(-2, 4))) for _ in range(OPERANDS[op])
    ]
    reach = sum(f.fraction for f in operands) if op is Op.MUL else 4
    out = Format(
        int(rng.integers(2, 7)), int(rng.integers(min(-2, reach), reach + 1)), rounded=seed % 2 == 0
    )
    check(op, operands, out)


@pytest.mark.parametrize("fraction", [-1, 0, 1])
def test_negations_that_saturate(fraction: int) -> None:
    check(Op.NEG, [Format(4, 1)], Format(4 + fraction - 1, fraction, saturates=True))


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("shift", [0, 1, 2, 5, 6, 8])
def test_products_cut_anywhere(shift: int, rounded: bool) -> None:
    """Rounding begins where a bit is left out; where all are, the sign is left."""
    operands, out = [Format(3, 1), Format(3, 2)], Format(7, 3 - shift, rounded=rounded)
    check(Op.MUL, operands, out)
    fixed = fixed_graph(Op.MUL, operands, out)
    result = UNIT[Op.MUL].result(fixed, fixed.graph.outputs["z"], {"p": Signal(signed(6))})
    kept = max(6 - shift, 1)
    assert len(result) == (max(kept, 2) + 1 if rounded and shift else kept)


def check(op: Op, operands: Sequence[Format], out: Format) -> None:
    fixed = fixed_graph(op, list(operands), out)
    (node,) = fixed.graph.outputs.values()
    inputs = [Signal(signed(f.width)) for f in operands]
    logic = UNIT[op].logic
    assert logic is not None
    given = [(signal, f.fraction) for signal, f in zip(inputs, operands, strict=True)]
    m = Module()
    wide = logic(m, fixed, node, *given)
    longest = Value.cast(wide).shape().width
    extended = wide if longest > out.width else Value.cast(wide + Const(0, signed(out.width + 1)))
    words = all_words(operands)
    columns = np.array(words).T
    whole = INTEGER[op](NUMBERS, fixed, node, *columns)
    wrapped = out.wrap(np.asarray(whole))
    found = answers(inputs, words, [extended, overflow_of(fixed, node, extended)], m)
    bits, flags = np.array(found).T
    register = replace(out, saturates=False)  # which only cuts off
    np.testing.assert_array_equal(register.wrap(bits), wrapped)
    if not out.saturates:  # which is meant, and no overflow
        np.testing.assert_array_equal(flags != 0, wrapped != whole)
