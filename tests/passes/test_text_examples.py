"""Each pass on a small graph, which becomes another."""

from __future__ import annotations

import math
from textwrap import dedent

import numpy as np

from rbdgen.graph.fixed import Format
from rbdgen.graph.graph import Graph, rebuild
from rbdgen.graph.node import Builder, Op
from rbdgen.graph.text import from_text, to_text
from rbdgen.passes.identities import phase
from rbdgen.words.constant_multiply import constant_multiply
from rbdgen.words.ranges import Ranges
from rbdgen.words.wordlength import wordlength
from tests.support.notation import graph, spelled


def test_rebuild_simplifies_anew_and_keeps_regions() -> None:
    before = from_text("""\
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
    after = rebuild(before, lambda builder, node, args: builder.same(node, args))
    assert spelled(after) == spelled(graph(y="x*x @ forward 3"))


def test_phase_turns_radians_into_turns() -> None:
    b = Builder()
    with b.region("forward", 0):
        angle = b.input("q") + 2.25 * math.pi
        before = Graph(("q",), {"s": b.sin(angle), "c": b.cos(angle)})
    turns = f"{1 / math.tau!r}*q + 0.125"  # less a whole one
    assert spelled(phase(before)) == spelled(graph(_t=turns, s="sin(_t)", c="cos(_t)"))


def test_constant_multiply_shares_what_constants_of_one_operand_have_in_common() -> None:
    before = graph(a="5.0*x", b="0.625*x", c="0.5*x", d="6.98*x @ backward 0")
    slack = {n: 0.05 for n in before.nodes if n.op is Op.MULC}
    # 5 = 4 + 1; 0.625 = 5 / 8; 0.5 is free; 6.98 is 8 - 1 within the tolerance
    after = graph(a="x + 4.0*x", b="0.125*a", c="0.5*x", d="8.0*x - x @ backward 0")
    assert spelled(constant_multiply(before, slack)) == spelled(after)


def test_wordlength_gives_each_signal_its_own_binary_point() -> None:
    before = graph(z="0.5*(x*y + x)*y")
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
        width 8
        """)
    np.testing.assert_array_equal(list(fixed.inputs), ["x", "y"])
