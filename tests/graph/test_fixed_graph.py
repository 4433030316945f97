"""Whole graphs of integers: units, registers, what overflows, and who watches."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.graph.fixed import FixedGraph, Format, evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.reciprocal import Reciprocal, ScaleAlgorithm
from rbdgen.graph.sincos import SinCos
from tests.support.fixed_graphs import STATES, fixed_graph


def turned(width: int, fraction: int) -> tuple[FixedGraph, Node, Node]:
    b = Builder()
    x = b.input("x")
    sine, cosine = b.sin(x, 1.0), b.cos(x, 1.0)
    angle, word = Format(fraction + 2, fraction, wraps=True), Format(width, width - 1)
    formats = {x: angle, sine: word, cosine: word}
    return FixedGraph(Graph(("x",), {"s": sine, "c": cosine}), {"x": angle}, formats, 18), sine, x


def test_sines_and_cosines_are_those_of_their_unit() -> None:
    fixed, sine, angle = turned(14, 16)
    unit = SinCos(16, 14)
    assert fixed.sincos(sine) == unit
    words = np.random.default_rng(1).integers(-(1 << 17), 1 << 17, STATES)
    done = evaluate_fixed(fixed, {"x": words})
    for name, expected in zip("sc", unit.compute(words), strict=True):
        assert done.outputs[name].tolist() == expected.tolist()
    assert not done.overflowed
    assert not any(fixed.overflowing(node) for node in fixed.graph.nodes)
    assert fixed.formats[angle].wraps


def test_units_of_reciprocals_have_what_the_graph_says() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    outputs = {"m": b.mantissa(x), "k": b.exponent(x), "other": b.mantissa(y)}
    word, wide = Format(14, 4), Format(10, 12)
    formats = {x: word, y: wide, outputs["m"]: Format(20, 18), outputs["other"]: Format(16, 14)}
    graph, k = Graph(("x", "y"), outputs), outputs["k"]
    scaled = b.scale(outputs["m"], k)
    formats |= {k: Format(5, 0), scaled: Format(16, 9)}
    fixed = FixedGraph(graph, {"x": word, "y": wide}, formats, 16, {x: 3, y: 2}, {x: 20})
    # the word's first bit below its sign is 2^8, or 2^-4
    assert fixed.reciprocal(k) == fixed.reciprocal(outputs["m"]) == Reciprocal(14, 9, 3, 20)
    assert fixed.reciprocal(outputs["other"]) == Reciprocal(10, -3, 2, 16)
    assert fixed.scale(scaled) == ScaleAlgorithm(20, 18 + 2 - 9, 2, 3)


def test_graphs_that_nobody_lowered() -> None:
    plain = fixed_graph(Op.NEG, [Format(4, 1)], Format(4, 1))
    assert (plain.steps, plain.mantissas, plain.before, plain.chain) == ({}, {}, None, 0)
    with pytest.raises(TypeError, match=r"^recip is no unit: it is lowered to a mantissa and an"):
        evaluate_fixed(fixed_graph(Op.RECIP, [Format(4, 1)], Format(4, 1)), {"x": np.array([1])})


def test_registers_hold_what_a_batch_does_not_bring() -> None:
    b = Builder()
    x, first, tenth = b.input("x"), b.parameter("p[2]", 0.5), b.parameter("p[10]", -1.25)
    word = Format(8, 2)
    graph = Graph(("x",), {"z": x + tenth, "y": x + first, "x": x})
    formats = dict.fromkeys(graph.nodes, word)
    fixed = FixedGraph(graph, {"x": word}, formats, 8)
    assert list(fixed.parameters.items()) == [("p[2]", first), ("p[10]", tenth)]
    assert fixed.taken == dict.fromkeys(("x", "p[2]", "p[10]"), word)
    assert list(fixed.taken) == ["x", "p[2]", "p[10]"]
    words = {"x": np.array([4, 8])}
    found = evaluate_fixed(fixed, words).outputs
    assert {name: v.tolist() for name, v in found.items()} == {
        "z": [-1, 3],
        "y": [6, 10],
        "x": [4, 8],
    }
    written = evaluate_fixed(fixed, words | {"p[2]": np.array([1, 2])}).outputs
    assert written["y"].tolist() == [5, 10]
    assert written["z"].tolist() == [-1, 3]
    assert fixed.reads == {x: [], first: [], tenth: [], graph.outputs["z"]: [x]} | {
        graph.outputs["y"]: [x]
    }
    never = [n for n in graph.nodes if not fixed.overflowing(n)]
    assert never == [x, first, tenth]


def test_no_inputs_at_all() -> None:
    b = Builder()
    held = b.parameter("p[0]", 0.75)
    graph = Graph((), {"z": held, "n": b.neg(held)})
    fixed = FixedGraph(graph, {}, dict.fromkeys(graph.nodes, Format(6, 2)), 8)
    found = evaluate_fixed(fixed, {}).outputs
    assert [(v.shape, v.dtype, int(v)) for v in found.values()] == [
        *(((), np.int64, 3), ((), np.int64, -3)),
    ]


def test_who_watches_sees_every_node_wrapped() -> None:
    b = Builder()
    x, k = b.input("x"), b.input("k")
    y = x + k
    graph, word = Graph(("x", "k"), {"z": b.neg(y)}), Format(4, 0)
    fixed = FixedGraph(graph, {"x": word, "k": word}, dict.fromkeys(graph.nodes, word), 8)
    seen: dict[Node, list[int]] = {}
    words = {"x": np.array([3, 6, -8]), "k": np.array([3, 6, -8])}
    done = evaluate_fixed(fixed, words, lambda node, found: seen.update({node: found.tolist()}))
    assert list(seen) == list(graph.nodes)
    assert list(seen.values()) == [[3, 6, -8], [3, 6, -8], [6, -4, 0], [-6, 4, 0]]
    assert {node: over.tolist() for node, over in done.overflowed.items()} == {
        y: [False, True, True]
    }


def test_a_constant_that_overflows_does_so_in_every_state() -> None:
    b = Builder()
    held = b.parameter("p[0]", -2.0)
    graph = Graph((), {"z": b.neg(held)})
    fixed = FixedGraph(graph, {}, dict.fromkeys(graph.nodes, Format(4, 2)), 8)
    (over,) = evaluate_fixed(fixed, {}).overflowed.values()
    assert over.shape == (1,)
    assert over.all()


@pytest.mark.parametrize(("width", "overflows"), [(5, False), (4, False), (3, True)])
def test_scaling_overflows_at_the_smallest_exponent(width: int, overflows: bool) -> None:
    """-2 here: what is scaled reaches from -8 to 7."""
    b = Builder()
    x, a = b.input("x"), b.input("a")
    k = b.exponent(a)
    z = b.scale(x, k)
    of = {"x": Format(4, 2), "a": Format(6, 4)}
    formats = {x: of["x"], a: of["a"], k: Format(3, 0), z: Format(width, 0)}
    fixed = FixedGraph(Graph(("x", "a"), {"z": z}), of, formats, 12, {a: 2})
    words = {"x": np.array([-8, 7, -8]), "a": np.array([4, 4, 16])}
    assert fixed.overflowing(z) == overflows
    done = evaluate_fixed(fixed, words)
    assert fixed.scale(z).compute(words["x"], np.array([-2, -2, 0])).tolist() == [-8, 7, -2]
    assert (z in done.overflowed) == overflows
