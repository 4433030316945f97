"""Each simplification gives the node that it says, and keeps the value."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op


class Plain:
    """What a Builder offers, on arrays and with no simplification."""

    add = staticmethod(np.add)
    sub = staticmethod(np.subtract)
    neg = staticmethod(np.negative)
    mul = staticmethod(np.multiply)
    recip = staticmethod(np.reciprocal)

    @staticmethod
    def const(value: float) -> Any:
        return np.float64(value)

    @staticmethod
    def sin(x: Any, turn: float = math.tau) -> Any:
        return np.sin(x * (math.tau / turn))

    @staticmethod
    def cos(x: Any, turn: float = math.tau) -> Any:
        return np.cos(x * (math.tau / turn))

    @staticmethod
    def mantissa(x: Any) -> Any:
        return 1 / np.frexp(x)[0]

    @staticmethod
    def exponent(x: Any) -> Any:
        return np.frexp(x)[1] * 1.0

    @staticmethod
    def scale(x: Any, k: Any) -> Any:
        return x * 2.0**-k

    @staticmethod
    def select(condition: Any, negative: Any, otherwise: Any) -> Any:
        return np.where(condition < 0, negative, otherwise)


# identity → (expression, the node it becomes). m is a Builder or Plain, N makes a node as it is.
Expression = Callable[[Any, Any, Any], Any]
Expected = Callable[[Callable[..., Node], Builder, Node, Node], Node]
RULES: dict[str, tuple[Expression, Expected]] = {
    "c + d": (lambda m, x, y: m.add(m.const(2), m.const(3)), lambda N, b, x, y: b.const(5)),
    "0 + b -> b": (lambda m, x, y: 0.0 + x, lambda N, b, x, y: x),
    "a + 0 -> a": (lambda m, x, y: x + 0.0, lambda N, b, x, y: x),
    "a + a -> 2 a": (lambda m, x, y: x + x, lambda N, b, x, y: N(Op.MULC, x, value=2.0)),
    "-a + -b -> -(a + b)": (
        lambda m, x, y: -x + -y,
        lambda N, b, x, y: N(Op.NEG, N(Op.ADD, x, y)),
    ),
    "a + -b -> a - b": (lambda m, x, y: x + -y, lambda N, b, x, y: N(Op.SUB, x, y)),
    "-a + b -> b - a": (lambda m, x, y: -x + y, lambda N, b, x, y: N(Op.SUB, y, x)),
    "b + a -> a + b": (lambda m, x, y: y + x, lambda N, b, x, y: N(Op.ADD, x, y)),
    "c - d": (lambda m, x, y: m.sub(m.const(2), m.const(3)), lambda N, b, x, y: b.const(-1)),
    "a - 0 -> a": (lambda m, x, y: x - 0.0, lambda N, b, x, y: x),
    "0 - b -> -b": (lambda m, x, y: 0.0 - x, lambda N, b, x, y: N(Op.NEG, x)),
    "a - a -> 0": (lambda m, x, y: x - x, lambda N, b, x, y: b.const(0)),
    "a - -b -> a + b": (lambda m, x, y: x - -y, lambda N, b, x, y: N(Op.ADD, x, y)),
    "-a - b -> -(a + b)": (
        lambda m, x, y: -x - y,
        lambda N, b, x, y: N(Op.NEG, N(Op.ADD, x, y)),
    ),
    "a - -c -> a + c": (
        lambda m, x, y: x - (-3.0),
        lambda N, b, x, y: N(Op.ADD, x, b.const(3.0)),
    ),
    "a - b where b - a exists": (
        lambda m, x, y: (y - x) * 0.0 + (x - y),
        lambda N, b, x, y: N(Op.NEG, N(Op.SUB, y, x)),
    ),
    "-c": (lambda m, x, y: m.neg(m.const(2)), lambda N, b, x, y: b.const(-2)),
    "--a -> a": (lambda m, x, y: m.neg(m.neg(x)), lambda N, b, x, y: x),
    "c d": (lambda m, x, y: m.mul(m.const(2), m.const(3)), lambda N, b, x, y: b.const(6)),
    "0 b -> 0": (lambda m, x, y: 0.0 * x, lambda N, b, x, y: b.const(0)),
    "1 b -> b": (lambda m, x, y: x * 1.0, lambda N, b, x, y: x),
    "-1 b -> -b": (lambda m, x, y: -1.0 * x, lambda N, b, x, y: N(Op.NEG, x)),
    "-a b -> -(a b)": (lambda m, x, y: -x * y, lambda N, b, x, y: N(Op.NEG, N(Op.MUL, x, y))),
    "a -b -> -(a b)": (lambda m, x, y: x * -y, lambda N, b, x, y: N(Op.NEG, N(Op.MUL, x, y))),
    "-a -b -> a b": (lambda m, x, y: -x * -y, lambda N, b, x, y: N(Op.MUL, x, y)),
    "-c b -> -(c b)": (
        lambda m, x, y: x * -0.3,
        lambda N, b, x, y: N(Op.NEG, N(Op.MULC, x, value=0.3)),
    ),
    "c (d x) -> (c d) x": (
        lambda m, x, y: 3.0 * (0.5 * x),
        lambda N, b, x, y: N(Op.MULC, x, value=1.5),
    ),
    "2 (x / 2) -> x": (lambda m, x, y: 2.0 * (0.5 * x), lambda N, b, x, y: x),
    "(2^k x) y -> 2^k (x y)": (
        lambda m, x, y: (4.0 * x) * y,
        lambda N, b, x, y: N(Op.MULC, N(Op.MUL, x, y), value=4.0),
    ),
    "x (2^k y) -> 2^k (x y)": (
        lambda m, x, y: x * (0.25 * y),
        lambda N, b, x, y: N(Op.MULC, N(Op.MUL, x, y), value=0.25),
    ),
    "(c x) y stays: rounding": (
        lambda m, x, y: (0.3 * x) * y,
        lambda N, b, x, y: N(Op.MUL, y, N(Op.MULC, x, value=0.3)),
    ),
    "b a -> a b": (lambda m, x, y: y * x, lambda N, b, x, y: N(Op.MUL, x, y)),
    "sin c": (lambda m, x, y: m.sin(m.const(0.5)), lambda N, b, x, y: b.const(math.sin(0.5))),
    "sin -a -> -sin a": (
        lambda m, x, y: m.sin(-x),
        lambda N, b, x, y: N(Op.NEG, N(Op.SIN, x, value=math.tau)),
    ),
    "cos c": (
        lambda m, x, y: m.cos(m.const(0.125), 1.0),
        lambda N, b, x, y: b.const(math.cos(math.tau / 8)),
    ),
    "cos -a -> cos a": (
        lambda m, x, y: m.cos(-x),
        lambda N, b, x, y: N(Op.COS, x, value=math.tau),
    ),
    "1 / c": (lambda m, x, y: m.recip(m.const(4)), lambda N, b, x, y: b.const(0.25)),
    # of a positive -x: hardware has no reciprocal of x
    "1 / -a stays": (
        lambda m, x, y: m.recip(-x),
        lambda N, b, x, y: N(Op.RECIP, N(Op.NEG, x)),
    ),
    "1 / (2^k a) -> 2^-k (1 / a)": (
        lambda m, x, y: m.recip(8.0 * x),
        lambda N, b, x, y: N(Op.MULC, N(Op.RECIP, x), value=0.125),
    ),
    "mantissa c": (lambda m, x, y: m.mantissa(m.const(6)), lambda N, b, x, y: b.const(4 / 3)),
    "exponent c": (lambda m, x, y: m.exponent(m.const(6)), lambda N, b, x, y: b.const(3)),
    "x 2^-c": (
        lambda m, x, y: m.scale(x, m.const(3)),
        lambda N, b, x, y: N(Op.MULC, x, value=0.125),
    ),
    "0 2^-k -> 0": (lambda m, x, y: m.scale(m.const(0), y), lambda N, b, x, y: b.const(0)),
    "-x 2^-k -> -(x 2^-k)": (
        lambda m, x, y: m.scale(-x, y),
        lambda N, b, x, y: N(Op.NEG, N(Op.SCALE, x, y)),
    ),
    "(2^j x) 2^-k -> 2^j (x 2^-k)": (
        lambda m, x, y: m.scale(4.0 * x, y),
        lambda N, b, x, y: N(Op.MULC, N(Op.SCALE, x, y), value=4.0),
    ),
    "a, whatever the condition": (lambda m, x, y: m.select(y, x, x), lambda N, b, x, y: x),
    "negative where c < 0": (
        lambda m, x, y: m.select(m.const(-1), x, y),
        lambda N, b, x, y: x,
    ),
    "otherwise where c >= 0": (
        lambda m, x, y: m.select(m.const(0), x, y),
        lambda N, b, x, y: y,
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_becomes_what_the_rule_says_and_keeps_its_value(rule: str) -> None:
    expression, expected = RULES[rule]
    builder = Builder()
    x, y = builder.input("x"), builder.input("y")
    node = builder.lift(expression(builder, x, y))
    assert node is expected(builder.node, builder, x, y)

    check_value(node, expression)


@pytest.mark.parametrize("turn", [math.tau, 1.0])
@pytest.mark.parametrize("k", [-1, 0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_whole_quarters_of_a_turn_need_no_addition(name: str, k: int, turn: float) -> None:
    def expression(m: Any, x: Any, y: Any) -> Any:
        return getattr(m, name)(x + k * (turn / 4), turn)

    builder = Builder()
    x = builder.input("x")
    node = expression(builder, x, None)
    # sin x, cos x, -sin x, -cos x, and so on round
    place = k + (name == "cos")
    bare = builder.node((Op.SIN, Op.COS)[place % 2], x, value=turn)
    assert node is (builder.neg(bare) if place % 4 in (2, 3) else bare)
    check_value(node, expression)
    assert builder.sin(x + 0.2 * turn, turn).args[0] is x + 0.2 * turn


def check_value(node: Node, expression: Expression) -> None:
    """The node's value is the expression's."""
    rng = np.random.default_rng(1)
    states = {"x": rng.normal(size=50), "y": rng.normal(size=50)}
    value = evaluate(Graph(("x", "y"), {"z": node}), states)["z"]
    plain = np.broadcast_to(expression(Plain, states["x"], states["y"]), 50)
    np.testing.assert_allclose(value, plain, rtol=1e-14, atol=2e-15)


def test_equal_operations_on_equal_operands_are_one_node() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    assert b.input("x") is x
    assert x is not y
    assert x * y is y * x
    assert x + y is y + x
    assert x - y is x - y
    assert 0.3 * x is x * 0.3
    assert 0.3 * x is not 0.31 * x
    assert b.sin(x) is b.sin(x)
    assert b.sin(x) is not b.sin(x, 1.0)
    assert b.sin(x) is not b.cos(x)
    assert b.const(-0.0) is b.const(0.0)
    assert b.const(1.0) is not b.input("1.0")
    assert b.select(x, y, b.const(1.0)) is b.select(x, y, 1.0)
    assert (x * y) * 2.0 is (x * 2.0) * y


def test_numbers_stand_on_either_side_of_an_operator() -> None:
    b = Builder()
    x = b.input("x")
    assert 1.0 - x is b.sub(1.0, x)
    assert 1.0 + x is x + 1.0
    assert 2.0 * x is x * 2.0


def test_powers_of_two_are_shifts_and_other_constants_not() -> None:
    b = Builder()
    x = b.input("x")
    assert all((2.0**k * x).is_shift for k in (-9, -1, 1, 2, 20))
    assert not any((c * x).is_shift for c in (3.0, 0.1, 6.0))
    assert not x.is_shift
    assert not b.const(2.0).is_shift


def test_a_node_stays_in_the_region_that_first_made_it() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    with b.region("forward", 3):
        first = x * y
        with b.region("backward", 2):
            inner = x + y
        after = x - y
    with b.region("forward", 4):
        again = x * y
    with b.in_region(inner.region):
        copied = b.sin(x)
    assert again is first
    assert x.region is None
    assert [n.region for n in (first, inner, after, copied)] == [
        ("forward", 3),
        ("backward", 2),
        ("forward", 3),
        ("backward", 2),
    ]
    assert (y * y).region is None


def test_what_stands_beside_others_is_in_the_region_of_the_last_one_computed() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    with b.beside(x):
        first = b.sin(x)
    with b.region("forward", 1):
        early = b.cos(x)
    with b.region("forward", 2):
        late = early * y
    for beside, region in (((early, 1.0), 1), ((early, late, x), 2), ((y, 0.5), 2)):
        with b.beside(*beside):
            made = b.add(y, float(region) + len(beside))
        assert made.region == ("forward", region)
    assert first.region is not None  # nothing was computed before


def test_dead_nodes_are_in_no_graph_and_counts_are_of_hardware() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    dead = b.recip(y)
    angle = x + y
    z = 0.3 * (x * y) + 4.0 * b.sin(angle) - b.cos(angle)
    graph = Graph(("x", "y"), {"z": z, "negative": -z})
    assert dead not in graph.nodes
    assert [n.index for n in graph.nodes] == sorted(n.index for n in graph.nodes)
    assert graph.operations() == {
        "mul": 1, "mulc": 1, "add": 3, "neg": 1, "sincos": 1, "recip": 0,
    }  # fmt: skip
    assert sum(map(len, graph.users.values())) == sum(len(n.args) for n in graph.nodes)


@pytest.mark.parametrize("op", [op for op in Op if op not in (Op.INPUT, Op.CONST, Op.PARAMETER)])
def test_same_rebuilds_each_operation(op: Op) -> None:
    b, other = Builder(), Builder()
    names = ("x", "y", "z")
    args = {
        Op.MULC: lambda x, y, z: b.mul(0.3, x),
        Op.SIN: lambda x, y, z: b.sin(x, 1.0),
        Op.COS: lambda x, y, z: b.cos(x, 1.0),
        Op.SELECT: b.select,
        Op.SATURATE: lambda x, y, z: b.saturate(x, 0.3),
        Op.NEG: lambda x, y, z: -x,
        Op.RECIP: lambda x, y, z: b.recip(x),
        Op.MANTISSA: lambda x, y, z: b.mantissa(x),
        Op.EXPONENT: lambda x, y, z: b.exponent(x),
        Op.SCALE: lambda x, y, z: b.scale(x, y),
        Op.ADD: lambda x, y, z: x + y,
        Op.SUB: lambda x, y, z: x - y,
        Op.MUL: lambda x, y, z: x * y,
    }
    node = args[op](*map(b.input, names))
    copy = other.same(node, [other.same(a, []) for a in node.args])
    assert copy.builder is other
    assert (copy.op, copy.value, [a.name for a in copy.args]) == (
        op,
        node.value,
        [a.name for a in node.args],
    )


def test_deep_graphs_are_packed() -> None:
    """A copy is made with no recursion, and goes on as the builder that it is a copy of."""
    builder = Builder()
    x = node = builder.input("x")
    for _ in range(5000):
        node = builder.add(builder.mul(node, x), 1.0)
    graph, words = pickle.loads(pickle.dumps((Graph(("x",), {"y": node}), {x: 1, node: 2})))
    (y,) = graph.outputs.values()
    assert [(n.op, [a.index for a in n.args], n.value) for n in graph.nodes] == [
        (n.op, [a.index for a in n.args], n.value) for n in Graph(("x",), {"y": node}).nodes
    ]
    assert words == {y.builder.input("x"): 1, y: 2}
    assert y.builder.add(y, 2.0).index == builder.add(node, 2.0).index
