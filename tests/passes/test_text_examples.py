"""Each pass on a small graph: text in, text out."""

from __future__ import annotations

from textwrap import dedent

import numpy as np

from rbdgen.graph.fixed import Format
from rbdgen.graph.graph import Graph, rebuild
from rbdgen.graph.node import Op
from rbdgen.graph.text import from_text, to_text
from rbdgen.passes.constant_multiply import constant_multiply
from rbdgen.passes.phase import phase
from rbdgen.passes.ranges import Ranges
from rbdgen.passes.wordlength import wordlength


def graph(text: str) -> Graph:
    return from_text(dedent(text))


def check(after: Graph, text: str) -> None:
    assert to_text(after) == dedent(text)


def test_rebuild_simplifies_anew_and_keeps_regions() -> None:
    before = graph("""\
        input x
        %0 = input x
        %1 = const 1.0
        %2 = mul %1 %0        @ forward 0
        %3 = neg %2           @ forward 1
        %4 = neg %3           @ forward 2
        %5 = mul %4 %4        @ forward 3
        %6 = recip %0         # dead
        output y = %5
        """)
    check(
        rebuild(before, lambda builder, node, args: builder.same(node, args)),
        """\
        input x
        %0 = input x
        %1 = mul %0 %0                              @ forward 3
        output y = %1
        """,
    )


def test_phase_turns_radians_into_turns() -> None:
    before = graph("""\
        input q
        %0 = input q
        %1 = const 7.0685834705770345
        %2 = add %0 %1        @ forward 0
        %3 = sin %2           @ forward 0
        %4 = cos %2           @ forward 0
        output s = %3
        output c = %4
        """)
    check(
        phase(before),
        """\
        input q
        %0 = input q
        %1 = mulc %0 by 0.15915494309189535         @ forward 0
        %2 = const 0.125                            @ forward 0
        %3 = add %1 %2                              @ forward 0
        %4 = sin %3 turn 1.0                        @ forward 0
        %5 = cos %3 turn 1.0                        @ forward 0
        output s = %4
        output c = %5
        """,
    )


def test_constant_multiply_shares_what_constants_of_one_operand_have_in_common() -> None:
    before = graph("""\
        input x
        %0 = input x
        %1 = mulc %0 by 5.0       @ forward 0
        %2 = mulc %0 by 0.625     @ forward 0
        %3 = mulc %0 by 0.5       @ forward 0
        %4 = mulc %0 by 6.98      @ backward 0
        output a = %1
        output b = %2
        output c = %3
        output d = %4
        """)
    slack = {n: 0.05 for n in before.nodes if n.op is Op.MULC}
    # 5 = 4 + 1; 0.625 = 5 / 8; 0.5 is free; 6.98 is 8 - 1 within the tolerance
    check(
        constant_multiply(before, slack),
        """\
        input x
        %0 = input x
        %1 = mulc %0 by 4.0                         @ forward 0
        %2 = add %0 %1                              @ forward 0
        %3 = mulc %2 by 0.125                       @ forward 0
        %4 = mulc %0 by 0.5                         @ forward 0
        %5 = mulc %0 by 8.0                         @ backward 0
        %6 = sub %5 %0                              @ backward 0
        output a = %2
        output b = %3
        output c = %4
        output d = %6
        """,
    )


def test_wordlength_gives_each_signal_its_own_binary_point() -> None:
    before = graph("""\
        input x
        input y
        %0 = input x
        %1 = input y
        %2 = mul %0 %1        @ forward 0
        %3 = add %2 %0        @ forward 0
        %4 = mulc %3 by 0.5   @ forward 0
        %5 = mul %4 %1        @ forward 0
        output z = %5
        """)
    x, y, xy, total, half, z = before.nodes
    bound = {x: 2.0, y: 0.9, xy: 1.8, total: 3.8, half: 1.9, z: 1.71}
    ranges = Ranges(bound, frozenset())
    fixed = wordlength(before, ranges, 8, {"x": Format(8, 5), "y": Format(8, 7)})
    assert to_text(fixed) == dedent("""\
        input x                                     : 8.5
        input y                                     : 8.7
        %0 = input x                                : 8.5
        %1 = input y                                : 8.7
        %2 = mul %0 %1                              @ forward 0 : 8.6
        %3 = add %2 %0                              @ forward 0 : 8.5
        %4 = mulc %3 by 0.5                         @ forward 0 : 8.6
        %5 = mul %4 %1                              @ forward 0 : 8.6 rounded
        output z = %5
        """)
    np.testing.assert_array_equal(list(fixed.inputs), ["x", "y"])
