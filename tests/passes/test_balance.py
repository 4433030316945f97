"""Sums in the order in which their terms arrive."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest

from rbdgen.design.loading import load, shipped_robots
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Node, Op, Region
from rbdgen.graph.text import from_text, to_text
from rbdgen.graph.verify import verify
from rbdgen.passes.balance import TAKES, balance
from rbdgen.passes.sums import SUMS
from rbdgen.robot.canonical import canonicalize


def depth(graph: Graph) -> int:
    """Cycles on the longest path, FIFOs aside."""
    at: dict[Node, int] = {}
    for node in graph.nodes:
        at[node] = max((at[a] for a in node.args), default=0) + TAKES[node.op]
    return max(at.values())


def chain(region_of_last: int = 0) -> Graph:
    return from_text(
        dedent(f"""\
        input a
        input b
        input c
        input d
        %0 = input a
        %1 = input b
        %2 = input c
        %3 = input d
        %4 = sub %0 %1        @ forward 0
        %5 = sub %4 %2        @ forward 0
        %6 = mulc %5 by 2.0   @ forward 0
        %7 = add %3 %6        @ forward {region_of_last}
        output s = %7
        """)
    )


def test_a_chain_becomes_a_tree() -> None:
    """2 ((a - b) - c) + d = 2 (a - b) + (d - 2 c)"""
    after = verify(balance(chain()))
    assert depth(chain()) == 3
    assert depth(after) == 2
    assert len([n for n in after.nodes if n.op in SUMS]) == 3
    assert same_values(chain(), after)


def test_late_terms_come_last() -> None:
    before = from_text(
        dedent("""\
        input a
        input b
        input c
        %0 = input a
        %1 = input b
        %2 = input c
        %3 = mul %0 %1        @ forward 0
        %4 = add %3 %1        @ forward 0
        %5 = add %4 %2        @ forward 0
        output s = %5
        """)
    )
    after = verify(balance(before))
    last = after.outputs["s"]
    assert {arg.op for arg in last.args} == {Op.MUL, Op.ADD}
    assert depth(after) == depth(before) - 1


def test_what_crosses_between_regions_or_is_read_twice_stays() -> None:
    crossing = chain(region_of_last=1)
    assert to_text(balance(crossing)) == to_text(crossing)
    read_twice = from_text(to_text(chain()) + "output partial = %5\n")
    assert to_text(balance(read_twice)) == to_text(read_twice)


def test_equal_partial_sums_of_two_regions_are_not_shared() -> None:
    """Both sums could begin with a + b; then one region would wait for the other."""
    before = from_text(
        dedent("""\
        input a
        input b
        input c
        input d
        %0 = input a
        %1 = input b
        %2 = input c
        %3 = input d
        %4 = mul %2 %3        @ forward 0
        %5 = add %4 %0        @ forward 0
        %6 = add %5 %1        @ forward 0
        %7 = mul %2 %2        @ forward 1
        %8 = add %7 %0        @ forward 1
        %9 = add %8 %1        @ forward 1
        output s = %6
        output t = %9
        """)
    )
    after = verify(balance(before))
    assert depth(after) == depth(before) - 1
    assert not crossings(after)


@pytest.mark.parametrize("name", sorted(shipped_robots()))
def test_inverse_dynamics_stays_and_gets_shorter(name: str) -> None:
    design, robot = load(str(shipped_robots()[name]))
    before = trace(canonicalize(robot, design.snap), ["id"])
    after = verify(balance(before))
    assert depth(after) <= depth(before)
    assert same_values(before, after)
    assert crossings(after) <= crossings(before)
    assert after.operations()["mul"] == before.operations()["mul"]
    assert after.operations()["add"] <= before.operations()["add"]


def crossings(graph: Graph) -> set[tuple[Region | None, Region | None]]:
    return {
        (source(arg).region, node.region)
        for node in graph.nodes
        for arg in node.args
        if node.op is not Op.MULC
        and source(arg).op not in (Op.INPUT, Op.CONST)
        and source(arg).region != node.region
    }


def source(node: Node) -> Node:
    return source(node.args[0]) if node.op is Op.MULC else node


def same_values(a: Graph, b: Graph) -> bool:
    rng = np.random.default_rng(0)
    inputs = {name: rng.normal(size=8) for name in a.inputs}
    expected, actual = evaluate(a, inputs), evaluate(b, inputs)
    scale = max(np.abs(v).max() for v in expected.values())
    return all(np.abs(actual[k] - v).max() <= 1e-12 * scale for k, v in expected.items())
