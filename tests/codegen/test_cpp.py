"""Functions in C++, compiled and compared with the evaluation of their graphs."""

from __future__ import annotations

import ctypes
import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rbdgen.codegen.cpp import cpp
from rbdgen.compile.flow import front_end
from rbdgen.dynamics.interface import random_inputs
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Op

FLAGS = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC")
STATES, SEED = 64, 3

Columns = dict[str, NDArray[np.float64]]


def compiled(graph: Graph, columns: Columns, folder: Path) -> Columns:
    """Outputs of the graph's function in C++, each (N,), for inputs, each (N,)."""
    source, library = folder / "made.cpp", folder / "made.so"
    source.write_text(cpp(graph, "made"))
    subprocess.run(["g++", *FLAGS, str(source), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).made
    function.argtypes = [ctypes.POINTER(ctypes.c_double)] * 2
    function.restype = None
    states = np.stack([columns[name] for name in graph.inputs], axis=1)
    results = np.full((len(states), len(graph.outputs)), np.nan)
    pointer = ctypes.POINTER(ctypes.c_double)
    for state, result in zip(states, results, strict=True):
        function(state.ctypes.data_as(pointer), result.ctypes.data_as(pointer))
    return dict(zip(graph.outputs, results.T, strict=True))


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("pendulum", {}),
        ("gantry", {}),
        ("iiwa14", {}),
        ("hyq", {}),
        ("hyq", {"base": "floating"}),
        ("iiwa14", {"functions": ("minv", "fd")}),
    ],
    ids=["pendulum", "gantry", "iiwa14", "hyq", "hyq-floating", "iiwa14-minv-fd"],
)
def test_it_computes_what_the_graph_does(
    robot: str, choices: dict[str, Any], tmp_path: Path
) -> None:
    front = front_end(robot, **choices)
    columns = random_inputs(front.canonical, front.graph.inputs, STATES, SEED)
    expected, found = evaluate(front.graph, columns), compiled(front.graph, columns, tmp_path)
    assert list(found) == list(expected)
    largest = max(np.abs(values).max() for values in expected.values())
    apart = max(np.abs(found[name] - expected[name]).max() for name in expected)
    assert largest > 0.1 and apart <= 1e-13 * largest, apart / largest


def test_each_operation_is_evaluates(tmp_path: Path) -> None:
    b = Builder()
    x, y, c = b.input("x"), b.input("y"), b.input("c")
    outputs = {
        "add": x + y,
        "sub": x - y,
        "neg": -x,
        "mul": x * y,
        "mulc": 0.3 * x,
        "sin": b.sin(y),
        "sin in turns": b.sin(y, 1.0),
        "cos": b.cos(y),
        "cos in turns": b.cos(y, 1.0),
        "recip": b.recip(x),
        "mantissa": b.mantissa(x),
        "exponent": b.exponent(x),
        "scale": b.scale(y, b.exponent(x)),
        "select": b.select(c, x, y),
        "less a negative": b.node(Op.SUB, x, b.const(-1e-300)),
        "minus a negative": b.node(Op.NEG, b.const(-0.1)),
        "const": b.const(-math.pi),
        "input": y,
    }
    graph = Graph(("x", "unread", "y", "c"), outputs)
    assert {node.op for node in graph.nodes} == set(Op)
    columns = {
        "x": np.array([1.0, 0.75, 0.5, 3e-7, 5.0]),
        "unread": np.full(5, np.nan),
        "y": np.array([-3.0, 0.1, 0.0, 7.0, -0.4]),
        "c": np.array([-1.0, -1e-9, 0.0, 2.0, 3.0]),
    }
    expected, found = evaluate(graph, columns), compiled(graph, columns, tmp_path)
    for name in outputs:
        if "turns" in name or name in ("sin", "cos"):
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-15, atol=1e-15)
        else:
            np.testing.assert_array_equal(found[name], expected[name], name)


def test_results_may_overwrite_the_state(tmp_path: Path) -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    source, library = tmp_path / "swap.cpp", tmp_path / "swap.so"
    source.write_text(cpp(Graph(("x", "y"), {"first": y, "second": x + y}), "swap"))
    subprocess.run(["g++", *FLAGS, str(source), "-o", str(library)], check=True)
    numbers = (ctypes.c_double * 2)(1.0, 2.0)
    ctypes.CDLL(str(library)).swap(numbers, numbers)
    assert list(numbers) == [2.0, 3.0]


def test_what_cannot_be_written_is_refused() -> None:
    b = Builder()
    graph = Graph((), {"x": b.const(math.inf)})
    with pytest.raises(ValueError, match="no finite number"):
        cpp(graph, "f")
    for name in ("", "2f", "a b", "f;", "é"):
        with pytest.raises(ValueError, match="no name for a function in C"):
            cpp(Graph((), {}), name)
