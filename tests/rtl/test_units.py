"""The logic of operations: what ``tests/test_operations.py``, of every bit, does not see."""

from __future__ import annotations

import pytest
from amaranth.hdl import Signal, signed

from rbdgen.graph.fixed import Format
from rbdgen.graph.node import Op
from rbdgen.rtl.units import UNIT
from tests.support.fixed_graphs import fixed_graph


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("shift", [0, 1, 2, 5, 6, 8])
def test_products_keep_no_bit_below_the_last(shift: int, rounded: bool) -> None:
    """Where all are cut off, the sign is left."""
    operands, out = [Format(3, 1), Format(3, 2)], Format(7, 3 - shift, rounded=rounded)
    fixed = fixed_graph(Op.MUL, operands, out)
    result = UNIT[Op.MUL].result(fixed, fixed.graph.outputs["z"], {"p": Signal(signed(6))})
    kept = max(6 - shift, 1)
    assert len(result) == (max(kept, 2) + 1 if rounded and shift else kept)
