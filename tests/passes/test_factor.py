"""Common factors: fewer products, the same sums."""

from __future__ import annotations

import pytest

from rbdgen.design.loading import load, shipped_robots
from rbdgen.dynamics.trace import trace
from rbdgen.graph.graph import Graph
from rbdgen.graph.verify import verify
from rbdgen.passes.sums import factor
from rbdgen.robot.canonical import canonicalize
from tests.support.notation import graph, same_values, spelled


def check(before: Graph, after: Graph) -> None:
    assert spelled(verify(factor(before))) == spelled(after)


def test_a_common_operand_is_multiplied_once() -> None:
    check(graph(s="a*x - a*y"), graph(s="a*(x - y)"))


def test_constants_that_differ_by_a_power_of_two_are_one() -> None:
    check(graph(s="3.0*x + (z - 6.0*y)"), graph(s="2.0*(1.5*(x - 2.0*y) + 0.5*z)"))


def test_a_product_that_others_read_stays() -> None:
    stays = graph(p="a*x", s="p + a*y")
    check(stays, stays)


def test_a_partial_sum_of_another_region_stays() -> None:
    stays = graph(_part="z + 3.0*x", s="_part + 3.0*y @ forward 1")
    check(stays, stays)


@pytest.mark.parametrize("name", sorted(shipped_robots()))
def test_inverse_dynamics_stays_and_shrinks(name: str) -> None:
    design, robot = load(str(shipped_robots()[name]))
    before = trace(canonicalize(robot, design.snap), ["id"])
    after = verify(factor(before))
    for kind, count in after.operations().items():
        assert count <= before.operations()[kind], kind
    assert same_values(before, after)
