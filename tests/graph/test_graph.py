"""The cone of nodes that outputs are computed from, and its copy with other leaves."""

from __future__ import annotations

import numpy as np

from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import cone, extracted
from rbdgen.graph.node import Builder


def test_a_cone_ends_where_it_is_told_to() -> None:
    builder = Builder()
    a, b, c = map(builder.input, "abc")
    inner = a * b
    top = inner + c
    assert set(cone([top])) == {a, b, c, inner, top}
    assert set(cone([top], lambda node: node is inner)) == {top, c, inner}
    assert list(cone([])) == []


def test_leaves_become_inputs_with_a_sign() -> None:
    """Inputs of before that are read come first, in their order; c is not read any more."""
    builder = Builder()
    a, b, c = map(builder.input, "abc")
    inner = a * c
    outputs = {"y": inner * b + b, "z": inner}
    found = extracted(outputs, ("a", "b", "c"), {inner: ("limbs[0,1]", -1.0)})
    assert found.inputs == ("b", "limbs[0,1]")
    assert found.operations()["mul"] == 1
    values = evaluate(found, {"b": np.array([3.0]), "limbs[0,1]": np.array([-10.0])})
    assert (values["y"][0], values["z"][0]) == (33.0, 10.0)
