"""Common factors: fewer products, the same sums."""

from __future__ import annotations

import pytest

from rbdgen.design.loading import load, shipped_robots
from rbdgen.dynamics.trace import trace
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Op
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


def test_what_a_part_of_another_region_shares_comes_as_a_word_of_its_own() -> None:
    before = graph(_part="z - a*x @ backward 1", s="a*y - _part @ backward 0")
    check(before, graph(s="a*(x + y) - z @ backward 0"))


def test_what_several_parts_share_is_added_up_in_each_first() -> None:
    before = graph(
        _first="(z + a*x) + a*y @ backward 1",
        _second="w + a*z @ backward 2",
        s="_first + _second @ backward 0",
    )
    after = verify(factor(before))
    assert after.operations()["mul"] == 1
    regions = [node.region for node in after.nodes if node.op is Op.ADD]
    assert regions == [("backward", 1), *[("backward", 0)] * 3]
    assert same_values(before, after)


def test_a_part_that_others_read_stays() -> None:
    stays = graph(p="z + a*x @ backward 1", s="p + a*y @ backward 0")
    check(stays, stays)


def test_a_factor_that_saves_a_product_in_the_part_itself_is_taken_out_there() -> None:
    """And not a out of the sum, which saves no more and takes another word."""
    before = graph(_part="a*x + b*x @ backward 1", s="_part + a*y @ backward 0")
    check(before, graph(_part="x*(a + b) @ backward 1", s="_part + a*y @ backward 0"))


@pytest.mark.parametrize("name", sorted(shipped_robots()))
def test_inverse_dynamics_stays_and_shrinks(name: str) -> None:
    design, robot = load(str(shipped_robots()[name]))
    before = trace(canonicalize(robot, design.snap), ["id"])
    after = verify(factor(before))
    for kind, count in after.operations().items():
        assert count <= before.operations()[kind], kind
    assert same_values(before, after)
