"""Sums in the order in which their terms arrive."""

from __future__ import annotations

import pytest

from rbdgen.design.loading import load, shipped_robots
from rbdgen.dynamics.trace import trace
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Node, Op, Region
from rbdgen.graph.verify import verify
from rbdgen.passes.sums import SUMS, TAKES, balance
from rbdgen.robot.canonical import canonicalize
from tests.support.notation import graph, same_values, spelled


def depth(graph: Graph) -> int:
    """Cycles on the longest path, FIFOs aside."""
    at: dict[Node, int] = {}
    for node in graph.nodes:
        at[node] = max((at[a] for a in node.args), default=0) + TAKES[node.op]
    return max(at.values())


def chain(last: str = "forward 0") -> Graph:
    return graph(_rest="2.0*(a - b - c)", s=f"d + _rest @ {last}")


def test_a_chain_becomes_a_tree() -> None:
    """2 ((a - b) - c) + d = 2 (a - b) + (d - 2 c)"""
    after = verify(balance(chain()))
    assert depth(chain()) == 3
    assert depth(after) == 2
    assert len([n for n in after.nodes if n.op in SUMS]) == 3
    assert same_values(chain(), after)


def test_late_terms_come_last() -> None:
    before = graph(s="a*b + b + c")
    after = verify(balance(before))
    last = after.outputs["s"]
    assert {arg.op for arg in last.args} == {Op.MUL, Op.ADD}
    assert depth(after) == depth(before) - 1


def test_what_crosses_between_regions_or_is_read_twice_stays() -> None:
    for stays in (chain("forward 1"), graph(partial="a - b - c", s="d + 2.0*partial")):
        assert spelled(balance(stays)) == spelled(stays)


def test_equal_partial_sums_of_two_regions_are_not_shared() -> None:
    """Both sums could begin with a + b; then one region would wait for the other."""
    before = graph(s="c*d + a + b", t="c*c + a + b @ forward 1")
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
