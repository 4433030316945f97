"""What is equal becomes one: sums, products and zeros; and what must stay two stays two."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.design.loading import load
from rbdgen.dynamics.interface import from_columns, random_inputs, to_columns
from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.text import to_text
from rbdgen.graph.verify import GraphError, verify
from rbdgen.passes.identities import identities
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.urdf import parse_urdf
from tests.support.notation import graph, spelled


def drawn(graph: Graph, n: int = 4, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0.0, 3.0, n) for name in graph.inputs}


def simplified(graph: Graph) -> Graph:
    after = verify(identities(verify(graph), drawn(graph)))
    expected, actual = (evaluate(g, drawn(graph, 50, 1)) for g in (graph, after))
    for name in graph.outputs:
        np.testing.assert_allclose(actual[name], expected[name], rtol=1e-9, atol=1e-12)
    return after


def of(make: object, names: str = "xyz") -> Graph:
    """A graph of one region whose outputs are what ``make(builder, inputs…)`` gives."""
    b = Builder()
    nodes = [b.input(name) for name in names]
    with b.region("forward", 0):
        outputs = make(b, *nodes)  # type: ignore[operator]
    return Graph(tuple(names), {f"out{k}": node for k, node in enumerate(outputs)})


def counts(graph: Graph) -> tuple[int, int]:
    """Multiplications of any kind, additions."""
    count = graph.operations()
    return count["mul"] + count["mulc"], count["add"]


def test_what_is_added_and_taken_away_again_is_gone() -> None:
    graph = of(lambda b, x, y, z: [(x * y + z) - z, x * y])
    after = simplified(graph)
    assert counts(after) == (1, 0)
    assert after.outputs["out0"] is after.outputs["out1"]


@pytest.mark.parametrize(
    ("make", "left"),
    [
        (lambda b, x, y, z: [(x * y) * z, x * (y * z)], (2, 0)),
        (lambda b, x, y, z: [(x + y) + z, x + (y + z)], (0, 2)),
        (lambda b, x, y, z: [(x + y) * (x - y), x * x - y * y], (1, 2)),
        (lambda b, x, y, z: [(x - y) * z, 4.0 * (y * z - x * z)], (1, 1)),  # up to sign and 2^k
        (lambda b, x, y, z: [b.sin(x + y), b.sin(y + z + x - z)], (0, 1)),
        (lambda b, x, y, z: [b.recip(x + y), b.recip(x + z + y - z)], (0, 1)),
        (lambda b, x, y, z: [0.3 * (x + y), 0.3 * y + 0.3 * x], (1, 1)),
    ],
)
def test_equal_values_written_differently_are_one(make: object, left: tuple[int, int]) -> None:
    after = simplified(of(make))
    assert counts(after) == left


def test_what_always_vanishes_is_zero() -> None:
    """r × (m r), and all that hangs on it."""

    def moment(b: Builder, x: Node, y: Node, z: Node) -> list[Node]:
        zero = (0.3 * x) * y - (0.3 * y) * x
        return [zero, z + zero * x]

    after = simplified(of(moment))
    assert after.outputs["out0"].op is Op.CONST
    assert after.outputs["out0"].value == 0
    assert after.outputs["out1"].op is Op.INPUT
    assert counts(after) == (0, 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda b, x, y, z: [(x * y) * z, (1 + 1e-8) * (x * (y * z))],
        lambda b, x, y, z: [x + y, (x + y) + 1e-8],
        lambda b, x, y, z: [x * y, 3.0 * (y * x)],
        lambda b, x, y, z: [(x + y) - (1 - 1e-10) * x, z],  # small, not zero
        lambda b, x, y, z: [b.sin(x), b.sin(x + 1e-8)],
        lambda b, x, y, z: [x * x + y * y, (x + y) * (x + y)],
        lambda b, x, y, z: [b.cos(x), b.sin(x), b.cos(y)],
    ],
)
def test_nearly_equal_values_stay_apart(make: object) -> None:
    outputs = list(simplified(of(make)).outputs.values())
    assert len(set(outputs)) == len(outputs)
    assert all(node.op is not Op.CONST for node in outputs)


def test_numbers_of_a_small_body_are_not_lost_beside_those_of_a_large_one() -> None:
    """1e-10 of what they are added to: far more than a rounding."""
    b = Builder()
    x, y = b.input("x"), b.input("y")
    with b.region("forward", 0):
        large, small = 0.3 * (x * x), 1e-11 * (y * y)
        outputs = {"out0": (large + small) - large, "out1": small, "out2": large}
    after = simplified(Graph(("x", "y"), outputs))
    assert after.outputs["out1"].op is not Op.CONST
    found = evaluate(after, drawn(after, 50, 1))
    np.testing.assert_allclose(found["out0"], found["out1"], rtol=0, atol=1e-14)
    assert found["out1"].max() > 1e-11


LIGHT_ON_HEAVY = b"""<robot name="light">
<link name="l0"/>
<link name="l1"><inertial><origin xyz="0.09 0.03 0.06"/><mass value="10"/>
<inertia ixx="0.09" ixy="0.0045" ixz="0" iyy="0.075" iyz="0.003" izz="0.08"/></inertial></link>
<joint name="j1" type="continuous"><origin xyz="0.3 0 0.15" rpy="0.3 0.2 0.1"/>
<parent link="l0"/><child link="l1"/><axis xyz="0 0 1"/></joint>
<link name="l2"><inertial><origin xyz="0.0003 0.0001 0.0002"/><mass value="0.0001"/>
<inertia ixx="1e-11" ixy="5e-13" ixz="0" iyy="8e-12" iyz="3e-13" izz="9e-12"/></inertial></link>
<joint name="j2" type="continuous"><origin xyz="0.001 0 0.0005" rpy="0.3 0.2 0.1"/>
<parent link="l1"/><child link="l2"/><axis xyz="0 1 0"/></joint>
</robot>"""


def test_a_light_link_on_a_heavy_one() -> None:
    """Its inertia is 1e-10 of the other's, and in double that is enough for each acceleration."""
    robot = parse_urdf(LIGHT_ON_HEAVY)
    canonical = canonicalize(robot)
    graph = trace(canonical, ["fd"])
    after = verify(identities(graph, random_inputs(canonical, graph.inputs, 4, 5)))
    q, qd, qdd = np.random.default_rng(0).normal(0.0, 1.0, (3, 20, 2))
    state = {"q": q, "qd": qd, "tau": golden.rnea(robot, q, qd, qdd)}
    found = from_columns(evaluate(after, to_columns(canonical, after.inputs, state)), 2)
    np.testing.assert_allclose(found["qdd"], golden.aba(robot, q, qd, state["tau"]), atol=1e-7)


def test_a_huge_value_in_one_state_hides_nothing_in_the_others() -> None:
    graph = of(lambda b, x, y, z: [b.recip(z * z) + x * z, b.recip(z * z) + y * z])
    inputs = drawn(graph)
    inputs["z"][0] = 1e-12
    after = verify(identities(graph, inputs))
    assert after.outputs["out0"] is not after.outputs["out1"]


def test_what_is_not_finite_in_a_state_stays_apart() -> None:
    graph = of(lambda b, x, y, z: [b.recip(z) + x, b.recip(z) + y, x * y, y * z])
    inputs = drawn(graph)
    inputs["z"][0] = 0.0
    assert to_text(verify(identities(graph, inputs))) == to_text(graph)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_branch_that_no_state_takes_counts(side: float) -> None:
    graph = of(
        lambda b, x, y, z: [
            b.select(x, y, 0.0),
            b.select(x, y, z),
            b.select(x, y, z) + x,
            b.select(x, (y + x) - x, z) * y,
            b.select(x, y, z) * y,
        ]
    )
    inputs = drawn(graph)
    inputs["x"] = side * np.abs(inputs["x"])
    after = verify(identities(graph, inputs))
    zero, chosen, moved, *products = (after.outputs[f"out{k}"] for k in range(5))
    assert products[0] is products[1]
    assert len({zero, chosen, moved, products[0]}) == 4
    assert all(node.op is not Op.INPUT for node in (zero, chosen, moved))


def test_a_sign_that_differs_between_states_keeps_them_apart() -> None:
    graph = of(lambda b, x, y, z: [b.select(x, -y, y), b.select(x * y, -y, y)])
    assert to_text(simplified(graph)) == to_text(graph)


# y (x z), and the same again in another region
TWICE = {"_xy": "x*y @ forward 1", "a": "z*_xy @ forward 1"}
TWICE |= {"_yz": "y*z @ forward 2", "b": "x*_yz @ forward 2"}


def test_regions_that_do_not_wait_for_each_other_share_nothing() -> None:
    before = graph(**TWICE)
    assert spelled(simplified(before)) == spelled(before)


def test_a_product_is_taken_from_a_region_waited_for_already() -> None:
    after = simplified(graph(**TWICE, c="b - _xy @ forward 2"))
    assert after.outputs["b"] is after.outputs["a"]
    assert after.outputs["b"].region == ("forward", 1)
    assert counts(after) == (2, 1)


def test_a_product_is_not_taken_from_a_region_that_waits() -> None:
    """Forward 1 waits for forward 2, though what it needs no wait for stands first."""
    after = simplified(graph(**TWICE, c="a - _yz @ forward 1"))
    assert after.outputs["b"] is not after.outputs["a"]
    assert after.outputs["b"].region == ("forward", 2)


def test_a_sum_is_not_taken_from_another_region() -> None:
    """A word on a channel costs more than an addition."""
    before = graph(
        _xy="x + y @ forward 1",
        a="z + _xy @ forward 1",
        b="x + (y + z) @ forward 2",
        c="_xy + b @ forward 2",
    )
    assert spelled(simplified(before)) == spelled(before)


def test_a_sum_of_products_is_taken_from_a_region_waited_for() -> None:
    """Two products go with it, which are dearer than its word."""
    before = graph(a="x*(y + z) @ forward 1", b="(x*y + x*z)*a @ forward 2")
    after = simplified(before)
    assert counts(after) == (2, 1)
    assert after.outputs["b"].args == (after.outputs["a"],) * 2


def test_a_sum_whose_products_others_read_is_not_taken_from_another_region() -> None:
    before = graph(
        a="x*(y + z) @ forward 1",
        c="x*y @ forward 2",
        d="x*z @ forward 2",
        b="(c + d)*a @ forward 2",
    )
    assert counts(simplified(before)) == counts(before)


def test_what_is_an_input_is_not_computed() -> None:
    """All that made it goes."""
    after = simplified(
        of(lambda b, x, y, z: [b.recip(x * x) * (x * x * y + x * x * z) - y, 2.0 * z - x - z + x])
    )
    assert counts(after) == (0, 0)
    assert all(node.name == "z" for node in after.outputs.values())


@pytest.mark.parametrize("last", ["a", "b"])
def test_regions_in_a_circle_are_refused(last: str) -> None:
    """1 → 2 → 1, and 1 → 2 → 3 → 1."""
    others = {"a": "z*x*y @ forward 1", "_s": "a + x @ forward 2", "b": "_s + z @ forward 3"}
    of = {"a": "_s", "b": "b"}[last]
    with pytest.raises(GraphError, match="regions wait for each other in a circle"):
        verify(graph(**others, c=f"{of} + y @ forward 1"))


@pytest.mark.parametrize("name", ["gantry", "iiwa14", "hyq"])
def test_a_second_time_finds_nothing(name: str) -> None:
    design, robot = load(name)
    canonical = canonicalize(robot, design.snap)
    graph = trace(canonical, ["did", "fd", "m"])
    inputs = random_inputs(canonical, graph.inputs, 4, 0)
    once = verify(identities(graph, inputs))
    assert once.operations() == verify(identities(once, inputs)).operations()
    assert once.operations()["mul"] < graph.operations()["mul"]
