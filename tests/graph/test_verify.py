"""verify() refuses each kind of broken graph, and names the node."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from rbdgen.graph.fixed import FixedGraph, Format
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.text import from_text
from rbdgen.graph.verify import GraphError, verify, verify_fixed

WORD = Format(18, 12)
EXPONENT = Format(4, 0)  # of a word of this format, -2 to 5


def test_a_sound_graph_comes_back() -> None:
    graph = from_text("input x\n%0 = input x\n%1 = mulc %0 by 0.3\noutput y = %1")
    assert verify(graph) is graph


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("input x\ninput x", "an input stands twice"),
        ("%0 = input x\noutput y = %0", "reads 'x', not in the interface"),
        ("input x\n%0 = input x\n%1 = mulc %0 by 1.0\noutput y = %1", "multiplies by 1.0"),
        ("input x\n%0 = input x\n%1 = mulc %0 by -2.0\noutput y = %1", "multiplies by -2.0"),
        ("input x\n%0 = input x\n%1 = mulc %0 by 0.0\noutput y = %1", "multiplies by 0.0"),
        ("%0 = const 2.0\n%1 = mulc %0 by 3.0\noutput y = %1", "multiplies a constant"),
        ("%0 = const 2.0\n%1 = add %0 %0\noutput y = %1", "is a constant"),
        ("%0 = const 2.0\n%1 = sub %0 %0\noutput y = %1", "is a constant"),
        ("%0 = const 2.0\n%1 = mul %0 %0\noutput y = %1", "is a constant"),
        ("%0 = const nan\noutput y = %0", "no number"),
        ("%0 = const inf\noutput y = %0", "no number"),
        ("input x\n%0 = input x\n%1 = sin %0 turn 360.0\noutput y = %1", "full turn of 360"),
        ("input x\n%0 = input x\n%1 = cos %0 turn 2.0\noutput y = %1", "full turn of 2"),
    ],
)
def test_broken_graphs_are_refused(text: str, complaint: str) -> None:
    with pytest.raises(GraphError, match=complaint):
        verify(from_text(text))


def test_wrong_arity_order_and_strangers_are_refused() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    one = replace(x + y, args=(x,))
    with pytest.raises(GraphError, match="add node 2 takes 2 operands"):
        verify(Graph(("x", "y"), {"z": one}))
    early = replace(x + y, index=1)
    with pytest.raises(GraphError, match="before an operand"):
        verify(Graph(("x", "y"), {"z": early}))
    stranger = Builder().input("y")
    with pytest.raises(GraphError, match="different builders"):
        verify(Graph(("x", "y"), {"z": x, "w": replace(stranger, index=9)}))


def fixed(
    make: Callable[[Builder, Node, Node], Node],
    out: Format | None,
    of: Format = WORD,
    steps: int = 0,
) -> FixedGraph:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    z = make(b, x, y)
    formats = {x: of, y: of, b.exponent(y): EXPONENT} | ({z: out} if out else {})
    of_all = {"x": of, "y": of}
    return FixedGraph(Graph(("x", "y"), {"z": z}), of_all, formats, 18, {y: steps} if steps else {})


PHASE = Format(21, 21, wraps=True)


@pytest.mark.parametrize(
    ("graph", "complaint"),
    [
        (fixed(lambda b, x, y: x + y, None), "has no format"),
        (fixed(lambda b, x, y: x + y, Format(1, 0)), "has 1 bits"),
        (fixed(lambda b, x, y: x + y, Format(37, 0)), "has 37 bits"),
        (fixed(lambda b, x, y: 0.3 * x, WORD), "lower constants first"),
        (fixed(lambda b, x, y: 2.0 * x, Format(17, 11)), "changes their number"),
        (fixed(lambda b, x, y: x * y, WORD, Format(19, 12)), "a word of 19 bits"),
        (fixed(lambda b, x, y: b.sin(x), Format(18, 17)), "lower phases first"),
        (fixed(lambda b, x, y: b.cos(x, 1.0), Format(12, 11), Format(11, 11)), "too coarse"),
        (fixed(lambda b, x, y: b.cos(x, 1.0), Format(18, 17), Format(14, 14)), "too coarse"),
        (fixed(lambda b, x, y: b.cos(x, 1.0), Format(24, 23), Format(30, 50)), "too fine"),
        (fixed(lambda b, x, y: x + y, WORD, PHASE), "wrapped around"),
        (fixed(lambda b, x, y: -x, WORD, PHASE), "wrapped around"),
        (fixed(lambda b, x, y: b.recip(y), WORD), "lower reciprocals first"),
        (fixed(lambda b, x, y: b.mantissa(y), Format(18, 16)), "no range of exponents"),
        (fixed(lambda b, x, y: b.exponent(y), EXPONENT), "no range of exponents"),
        (fixed(lambda b, x, y: b.mantissa(y), Format(18, 15), steps=3), "has another format"),
        (fixed(lambda b, x, y: b.mantissa(y), Format(18, 16), PHASE, 3), "wrapped around"),
        (fixed(lambda b, x, y: b.exponent(y), Format(3, 0), steps=3), "has another format"),
        (fixed(lambda b, x, y: b.scale(x, y), WORD), "by what is no exponent"),
    ],
)
def test_what_hardware_cannot_do_is_refused(graph: FixedGraph, complaint: str) -> None:
    with pytest.raises(GraphError, match=complaint):
        verify_fixed(graph)


@pytest.mark.parametrize(
    "graph",
    [
        fixed(lambda b, x, y: x + y, Format(19, 12)),
        fixed(lambda b, x, y: 2.0 * x, Format(18, 11)),
        fixed(lambda b, x, y: x * y, Format(18, 24)),
        fixed(lambda b, x, y: b.sin(x, 1.0), Format(18, 17), PHASE),
        fixed(lambda b, x, y: b.mantissa(y), Format(18, 16), steps=3),
        fixed(lambda b, x, y: b.exponent(y), EXPONENT, steps=3),
        fixed(lambda b, x, y: b.scale(x, b.exponent(y)), Format(30, 17), steps=3),
        fixed(lambda b, x, y: b.select(x, x, y), WORD),
    ],
)
def test_what_hardware_can_do_passes(graph: FixedGraph) -> None:
    assert verify_fixed(graph) is graph


def test_reciprocals_are_of_words_that_int64_can_follow() -> None:
    def graph(width: int) -> FixedGraph:
        made = fixed(lambda b, x, y: b.mantissa(y), Format(32, 30), Format(width, 7), 3)
        return replace(made, width=32)

    assert verify_fixed(graph(60))
    with pytest.raises(GraphError, match="reads a word of 61 bits"):
        verify_fixed(graph(61))


def test_a_sine_in_radians_is_for_floats_only() -> None:
    b = Builder()
    graph = Graph(("x",), {"y": b.sin(b.input("x"))})
    assert verify(graph).outputs["y"].value == math.tau
    assert graph.outputs["y"].op is Op.SIN


def test_a_sine_and_the_cosine_of_its_angle_have_one_width() -> None:
    """One unit makes both, in all that it is made of."""
    b = Builder()
    x = b.input("x")
    graph = Graph(("x",), {"s": b.sin(x, 1.0), "c": b.cos(x, 1.0)})
    formats = {x: PHASE, graph.outputs["s"]: Format(14, 13), graph.outputs["c"]: Format(15, 14)}
    with pytest.raises(GraphError, match="has another width than its angle's other one"):
        verify_fixed(FixedGraph(graph, {"x": PHASE}, formats, 18))
