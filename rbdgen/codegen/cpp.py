"""A graph over real numbers as a function in C++: straight-line, scalar, in double precision."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..system.templates import render

TEMPLATE = "function.cpp.jinja"


def _literal(value: float) -> str:
    """A constant that C++ reads back as the same number; of a negative one the sign is inside."""
    if not math.isfinite(value):
        raise ValueError(f"no finite number, which a literal of C++ could say: {value}")
    return f"({value!r})" if math.copysign(1.0, value) < 0 else repr(value)


def _angle(node: Node, a: str) -> str:
    """The operand of a sine or cosine in radians."""
    return a if node.value == math.tau else f"{a} * {_literal(math.tau / node.value)}"


# Operation → expression, as `graph.evaluate.FLOAT` computes it.
CPP: dict[Op, Callable[..., str]] = {
    Op.INPUT: lambda node: "in",  # an entry, by its place in the interface
    Op.CONST: lambda node: _literal(node.value),
    Op.ADD: lambda node, a, b: f"{a} + {b}",
    Op.SUB: lambda node, a, b: f"{a} - {b}",
    Op.NEG: lambda node, a: f"-{a}",
    Op.MUL: lambda node, a, b: f"{a} * {b}",
    Op.MULC: lambda node, a: f"{_literal(node.value)} * {a}",
    Op.SIN: lambda node, a: f"std::sin({_angle(node, a)})",
    Op.COS: lambda node, a: f"std::cos({_angle(node, a)})",
    Op.RECIP: lambda node, a: f"1.0 / {a}",
    # a = f 2^k with f in [1/2, 1): logb gives k - 1, and 2^k / a is 1 / f, rounded alike
    Op.MANTISSA: lambda node, a: f"std::exp2(std::logb({a}) + 1.0) / {a}",
    Op.EXPONENT: lambda node, a: f"std::logb({a}) + 1.0",
    Op.SCALE: lambda node, x, k: f"{x} * std::exp2(-{k})",
    Op.SELECT: lambda node, c, a, b: f"{c} < 0.0 ? {a} : {b}",
}


def cpp(graph: Graph, name: str) -> str:
    """A C++17 file that defines ``void name(const double *in, double *out)``, of C linkage.

    ``in``: one state, ``graph.inputs`` in their order; ``out``: ``graph.outputs`` in theirs. They
    may overlap. Nothing is allocated, thrown or kept. Rounding differs from ``evaluate``'s where a
    compiler contracts a * b + c (g++: -ffp-contract) or has another sine.

    It is one function, whatever its length, which compilers take more than linear time for.
    ValueError for a name that is no identifier, and for a constant that is not finite.
    """
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise ValueError(f"no name for a function in C: {name!r}; letters, digits and _ make one")
    place = {own: k for k, own in enumerate(graph.inputs)}
    statements = []
    for node in graph.nodes:
        if node.op is not Op.CONST:  # those stand where they are read
            value = CPP[node.op](node, *map(_operand, node.args))
            at = f"[{place[node.name]}]" if node.op is Op.INPUT else ""
            statements.append(f"const double {_operand(node)} = {value}{at};")
    return render(
        TEMPLATE,
        name=name,
        inputs=graph.inputs,
        outputs={own: _operand(node) for own, node in graph.outputs.items()},
        statements=statements,
    )


def _operand(node: Node) -> str:
    return CPP[Op.CONST](node) if node.op is Op.CONST else f"n{node.index}"
