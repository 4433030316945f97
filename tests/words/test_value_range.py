"""What is compiled finds the ends of signals that NumPy finds, in the same states."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.compile.flow import front_end
from rbdgen.compile.words import sample_inputs
from rbdgen.graph.evaluate import Array, evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.words.value_range import LEAST, Extents, extents, joined


def all_operations() -> Graph:
    b = Builder()
    q, v, w = b.input("q"), b.input("v"), b.input("w")
    pivot = b.cos(q) * 0.5 + 1.7
    scaled = b.scale(v * b.sin(q, 1.0), b.exponent(pivot)) * b.mantissa(pivot)
    chosen = b.select(w, b.saturate(v * v, 4.0), b.lift(3.0)) - b.recip(pivot)
    graph = Graph(
        ("q", "v", "w", "unread"), {"y": -scaled + chosen, "x": b.lift(-2.0), "z": -scaled}
    )
    assert {node.op for node in graph.nodes} == set(Op) - {Op.PARAMETER}  # of hardware alone
    return graph


def at_random(graph: Graph, n: int, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(-3, 3, n).round(1) for name in graph.inputs}  # so some are equal


def in_numpy(graph: Graph, states: dict[str, Array], lowest: frozenset[Node]) -> Extents:
    """The same by ``evaluate``."""
    found = Extents({}, {}, {}, {})

    def watch(node: Node, values: Array) -> None:
        values = np.atleast_1d(values)
        sizes = np.abs(values)
        at = found.largest_at[node] = int(sizes.argmax())
        found.largest[node] = float(sizes[at])
        if node in lowest:
            at = found.smallest_at[node] = int(values.argmin())
            found.smallest[node] = float(values[at])

    evaluate(graph, states, watch)
    return found


def same(graph: Graph, states: dict[str, Array]) -> None:
    lowest = frozenset(graph.nodes[::2])
    one, other = extents(graph, states, lowest), in_numpy(graph, states, lowest)
    for kind in ("largest", "largest_at", "smallest", "smallest_at"):
        found, wanted = getattr(one, kind), getattr(other, kind)
        assert found.keys() == wanted.keys()
        np.testing.assert_array_equal(list(found.values()), list(wanted.values()), kind)
    assert other.smallest.keys() == lowest


@pytest.mark.parametrize("n", [1, 63, 64, 65, 3 * LEAST + 1])
def test_every_operation_in_any_number_of_states(n: int) -> None:
    graph = all_operations()
    same(graph, at_random(graph, n))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -0.0])
@pytest.mark.parametrize("at", [0, 70, 3 * LEAST])
def test_values_that_are_no_numbers(value: float, at: int) -> None:
    graph = all_operations()
    states = at_random(graph, 3 * LEAST + 1)
    states["v"][at] = value
    with np.errstate(invalid="ignore"):
        same(graph, states)


@pytest.mark.parametrize(("robot", "function"), [("gantry", "fd"), ("pendulum", "dfd")])
def test_robots(robot: str, function: str) -> None:
    front = front_end(robot, functions=(function,))
    same(front.graph, dict(sample_inputs(front).samples))


def test_inputs_that_are_one_number() -> None:
    graph = all_operations()
    same(graph, {**at_random(graph, 5), "v": np.array(2.0)})
    assert extents(Graph((), {"y": Builder().lift(-4.0)}), {}).largest.popitem()[1] == 4


def test_no_states_are_refused() -> None:
    graph = all_operations()
    with pytest.raises(ValueError, match="no states"):
        extents(graph, at_random(graph, 0))


@pytest.mark.parametrize("where", [0, 3, 9, None])
def test_what_is_seen_twice_is_as_seen_at_once(where: int | None) -> None:
    """Also of values that are equal, and of one that is no number."""
    graph = all_operations()
    states = at_random(graph, 12)
    if where is not None:
        states["v"][where] = np.nan
    some, others = ({k: v[own] for k, v in states.items()} for own in (slice(5), slice(5, 12)))
    lowest = frozenset(graph.nodes[::2])
    found = joined(extents(graph, some, lowest), extents(graph, others, lowest), 5)
    every = extents(graph, states, lowest)
    for kind in ("largest", "largest_at", "smallest", "smallest_at"):
        same_values = [list(getattr(own, kind).values()) for own in (found, every)]
        np.testing.assert_array_equal(*same_values, kind)
