"""Common factors: fewer products, the same sums."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest

from rbdgen.design.loading import load, shipped_robots
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.text import from_text, to_text
from rbdgen.graph.verify import verify
from rbdgen.passes.factor import factor
from rbdgen.robot.canonical import canonicalize


def check(before: str, after: str) -> None:
    assert to_text(verify(factor(from_text(dedent(before))))) == dedent(after)


def unchanged(text: str) -> None:
    graph = from_text(dedent(text))
    assert to_text(factor(graph)) == to_text(graph)


def test_a_common_operand_is_multiplied_once() -> None:
    check(
        """\
        input a
        input x
        input y
        %0 = input a
        %1 = input x
        %2 = input y
        %3 = mul %0 %1        @ forward 0
        %4 = mul %0 %2        @ forward 0
        %5 = sub %3 %4        @ forward 0
        output s = %5
        """,
        """\
        input a
        input x
        input y
        %0 = input a
        %1 = input x
        %2 = input y
        %3 = sub %1 %2                              @ forward 0
        %4 = mul %0 %3                              @ forward 0
        output s = %4
        """,
    )


def test_constants_that_differ_by_a_power_of_two_are_one() -> None:
    """3 x + (z - 6 y) = 2 (3/2 (x - 2 y) + z / 2)"""
    check(
        """\
        input x
        input y
        input z
        %0 = input x
        %1 = input y
        %2 = input z
        %3 = mulc %0 by 3.0   @ forward 0
        %4 = mulc %1 by 6.0   @ forward 0
        %5 = sub %2 %4        @ forward 0
        %6 = add %3 %5        @ forward 0
        output s = %6
        """,
        """\
        input x
        input y
        input z
        %0 = input x
        %1 = input y
        %2 = input z
        %3 = mulc %1 by 2.0                         @ forward 0
        %4 = sub %0 %3                              @ forward 0
        %5 = mulc %4 by 1.5                         @ forward 0
        %6 = mulc %2 by 0.5                         @ forward 0
        %7 = add %5 %6                              @ forward 0
        %8 = mulc %7 by 2.0                         @ forward 0
        output s = %8
        """,
    )


def test_a_product_that_others_read_stays() -> None:
    unchanged("""\
        input a
        input x
        input y
        %0 = input a
        %1 = input x
        %2 = input y
        %3 = mul %0 %1        @ forward 0
        %4 = mul %0 %2        @ forward 0
        %5 = add %3 %4        @ forward 0
        output s = %5
        output p = %3
        """)


def test_a_partial_sum_of_another_region_stays() -> None:
    unchanged("""\
        input x
        input y
        input z
        %0 = input x
        %1 = input y
        %2 = input z
        %3 = mulc %0 by 3.0   @ forward 0
        %4 = add %2 %3        @ forward 0
        %5 = mulc %1 by 3.0   @ forward 1
        %6 = add %4 %5        @ forward 1
        output s = %6
        """)


@pytest.mark.parametrize("name", sorted(shipped_robots()))
def test_inverse_dynamics_stays_and_shrinks(name: str) -> None:
    design, robot = load(str(shipped_robots()[name]))
    before = trace(canonicalize(robot, design.snap), ["id"])
    after = verify(factor(before))
    for kind, count in after.operations().items():
        assert count <= before.operations()[kind], kind
    assert same_values(before, after)


def same_values(a: Graph, b: Graph) -> bool:
    rng = np.random.default_rng(0)
    inputs = {name: rng.normal(size=8) for name in a.inputs}
    expected, actual = evaluate(a, inputs), evaluate(b, inputs)
    scale = max(np.abs(v).max() for v in expected.values())
    return all(np.abs(actual[k] - v).max() <= 1e-12 * scale for k, v in expected.items())
