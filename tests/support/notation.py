"""Graphs as expressions: ``graph(s="a*x - a*y")``, for tests of passes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache

import numpy as np

from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op

OPERATORS = {ast.Add: Op.ADD, ast.Sub: Op.SUB, ast.Mult: Op.MUL}


def graph(**values: str) -> Graph:
    """The graph of named expressions, each of which may read those before it; none is simplified.

    ``x*y @ forward 1`` is computed in that region, as all without one in forward 0. A number in
    front of a product is a factor known beforehand, and ``sin(x)`` is of turns. A name that begins
    with an underscore is no output. Every other name is an input, in alphabetical order.
    """
    b = Builder()
    read = {name: _tree(text.partition("@")[0]) for name, text in values.items()}
    names = {n.id for n in read.values() for n in ast.walk(n) if isinstance(n, ast.Name)}
    inputs = tuple(sorted(names - values.keys() - {op.value for op in Op}))
    known = {name: b.input(name) for name in inputs}
    for name, text in values.items():
        kind, joint = (text.partition("@")[2] or "forward 0").split()
        with b.region(kind, int(joint)):
            known[name] = _node(b, read[name], known)
    return Graph(inputs, {name: known[name] for name in values if not name.startswith("_")})


def _tree(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def _node(b: Builder, tree: ast.expr, known: Mapping[str, Node]) -> Node:
    def of(tree: ast.expr) -> Node:
        return _node(b, tree, known)

    match tree:
        case ast.Name(name):
            return known[name]
        case ast.Constant(float(value)):
            return b.node(Op.CONST, value=value)
        case ast.BinOp(ast.Constant(float(value)), ast.Mult(), x):
            return b.node(Op.MULC, of(x), value=value)
        case ast.BinOp(x, operator, y):
            return b.node(OPERATORS[type(operator)], of(x), of(y))
        case ast.UnaryOp(ast.USub(), x):
            return b.node(Op.NEG, of(x))
        case ast.Call(ast.Name(name), args):
            op = Op(name)
            return b.node(op, *map(of, args), value=float(op in (Op.SIN, Op.COS)))
    raise ValueError(ast.unparse(tree))


def spelled(graph: Graph) -> dict[str, str]:
    """Each output with all that it is made of: equal ones mean equal graphs, however numbered."""

    @cache
    def one(node: Node) -> str:
        if node.op is Op.INPUT:
            return node.name
        value = f" {node.value!r}" if node.value else ""
        args = ", ".join(one(arg) for arg in node.args)
        return f"{node.op.value}{value}({args})@{node.region}"

    return {name: one(node) for name, node in graph.outputs.items()}


def same_values(a: Graph, b: Graph) -> bool:
    """Whether two graphs compute the same but for rounding."""
    rng = np.random.default_rng(0)
    inputs = {name: rng.normal(size=8) for name in a.inputs}
    expected, actual = evaluate(a, inputs), evaluate(b, inputs)
    scale = max(np.abs(v).max() for v in expected.values())
    return all(np.abs(actual[k] - v).max() <= 1e-12 * scale for k, v in expected.items())
