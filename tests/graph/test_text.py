"""Text says everything that a graph is, and nothing else is one."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest

from rbdgen.dynamics.trace import trace
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import FixedGraph, Format
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Op
from rbdgen.graph.text import TextError, from_text, same_text, to_text
from rbdgen.graph.verify import verify
from rbdgen.robot.canonical import canonicalize
from tests.support.random_robots import random_robot

EVERYTHING = dedent("""\
    input a
    input b[1,2]
    input unused
    %0 = input a
    %1 = input b[1,2]
    %2 = const -0.1
    %3 = add %0 %1                              @ forward 0
    %4 = sub %3 %2                              @ forward 0
    %5 = neg %4                                 @ backward 12
    %6 = mul %5 %0
    %7 = mulc %6 by 0.30000000000000004
    %8 = sin %7 turn 1.0
    %9 = cos %7
    %10 = recip %9
    %11 = mantissa %9
    %12 = exponent %9
    %13 = scale %11 %12
    %14 = select %8 %13 %10                     @ forward 1
    %15 = parameter parameter[0] 0.25
    %16 = add %14 %15
    %17 = saturate %16 within 0.3
    output tau[0] = %17
    output tau[1] = %2
    """)


def test_every_operation_reads_and_writes_alike() -> None:
    graph = from_text(EVERYTHING)
    assert to_text(graph) == EVERYTHING
    assert {node.op for node in graph.nodes} == set(Op)
    assert graph.inputs == ("a", "b[1,2]", "unused")
    assert list(graph.outputs) == ["tau[0]", "tau[1]"]
    assert to_text(from_text(EVERYTHING.replace("= parameter", "= held"))) == EVERYTHING
    regions = {"forward 0": 2, "backward 12": 1, "forward 1": 1}
    for region, count in regions.items():
        kind, joint = region.split()
        assert sum(n.region == (kind, int(joint)) for n in graph.nodes) == count


def test_nothing_is_simplified_while_reading() -> None:
    text = "input x\n%0 = input x\n%1 = neg %0\n%2 = neg %1\noutput y = %2\n"
    assert to_text(from_text(text)) == text


def test_comments_and_blank_lines_say_nothing() -> None:
    text = "# a graph\n\n  input x\n%4 = input x # the only one\noutput y = %4"
    assert to_text(from_text(text)) == "input x\n%0 = input x\noutput y = %0\n"


@pytest.mark.parametrize("seed", range(5))
def test_traced_graphs_come_back_the_same(seed: int) -> None:
    robot = canonicalize(random_robot(np.random.default_rng(seed), 6, mimic=0.2))
    graph = trace(robot, ["id"])
    again = verify(from_text(to_text(graph)))
    assert to_text(again) == to_text(graph)
    rng = np.random.default_rng(seed)
    states = {name: rng.normal(size=3) for name in graph.inputs}
    expected, actual = evaluate(graph, states), evaluate(again, states)
    for name, values in expected.items():
        np.testing.assert_array_equal(actual[name], values)


def test_equal_graphs_have_equal_texts_whatever_is_dead() -> None:
    def made(dead: bool) -> Graph:
        b = Builder()
        x, y = b.input("x"), b.input("y")
        if dead:
            b.sin(x * y)
        return Graph(("x", "y"), {"z": x + 2.0 * y})

    assert to_text(made(True)) == to_text(made(False))


def test_formats_are_shown() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    angle, product = x + y, x * y
    word = Format(18, 13)
    formats = {x: word, y: word, angle: Format(21, 21, wraps=True)}
    formats[product] = Format(18, -2, rounded=True)
    graph = Graph(("x", "y", "z"), {"a": angle, "p": product})
    fixed = FixedGraph(graph, {"x": word, "y": word, "z": Format(9, 0)}, formats, 18)
    assert to_text(fixed) == dedent("""\
        input x                                     : 18.13
        input y                                     : 18.13
        input z                                     : 9.0
        %0 = input x                                : 18.13
        %1 = input y                                : 18.13
        %2 = add %0 %1                              : 21.21 wraps
        %3 = mul %0 %1                              : 18.-2 rounded
        output a = %2
        output p = %3
        width 18
        """)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("%1 = foo %0", "no operation 'foo'"),
        ("%1 = neg %7", "no node %7 above"),
        ("output y = %7", "no node %7 above"),
        ("%1 = add %0", "add takes 2 operands"),
        ("%1 = neg %0 %0", "neg takes 1 operands"),
        ("%0 = const 1.0", "%0 stands twice"),
        ("%1 = const", "const is written 'const NUMBER'"),
        ("%1 = const one", "'one' is no number"),
        ("%1 = mulc %0", "mulc is written 'mulc %N by NUMBER'"),
        ("%1 = mulc %0 turn 2.0", "mulc is written 'mulc %N by NUMBER'"),
        ("%1 = sin %0 turn", "sin is written 'sin %N turn NUMBER'"),
        ("%1 = neg %0 by 2.0", "neg is written 'neg %N'"),
        ("%1 = input", "input is written 'input NAME'"),
        ("%1 = neg %0 @ forward", "neither an input, nor a node, nor an output"),
        ("neg %0", "neither an input, nor a node, nor an output"),
    ],
)
def test_what_is_no_graph_is_refused_by_line(line: str, complaint: str) -> None:
    with pytest.raises(TextError) as error:
        from_text(f"input x\n%0 = input x\n{line}\n")
    assert str(error.value).startswith("line 3: ")
    assert complaint in str(error.value)
    assert str(error.value).endswith(line)


def test_texts_of_one_graph() -> None:
    """Operations may have their former names, and columns stand elsewhere; formats may not."""
    there = EVERYTHING.replace("= parameter", "= held")
    assert same_text(there, EVERYTHING) and same_text(there.replace("   ", " "), EVERYTHING)
    assert not same_text(f"{EVERYTHING}output more = %0\n", EVERYTHING)
    assert not same_text("%0 = add %1 %2 : 18.3\n", "%0 = add %1 %2 : 18.4\n")
    assert not same_text("%0 = held a 1.0\n", "%0 = mulc a 1.0\n")
