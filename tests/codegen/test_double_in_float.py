"""C++ in float with some of it in double: every operation, every form, every processor."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from rbdgen.codegen.cpp import cpp
from rbdgen.compile.flow import front_end
from rbdgen.compile.samples import sample_states
from rbdgen.dynamics.interface import to_columns
from rbdgen.graph.evaluate import evaluate, evaluate_mixed, to_float
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Op
from rbdgen.passes.mixed_precision import computing
from tests.support.library import Library, has, plain

ROUNDED = 2.0**-23  # of a result that is right but for its own rounding, and for a little
SEED = 4
FRAMES = 600  # bytes on the stack of all parts; 384 are seen, 1120 where no pair is taken apart


def each() -> tuple[Graph, dict[str, np.ndarray]]:
    """A graph of every operation that may be in double, and states."""
    b = Builder()
    x, y, c = b.input("x"), b.input("y"), b.input("c")
    outputs = {
        "add": x + y + 1e-3,
        "sub": (x - y) - 0.25,
        "neg": -(x * y),
        "mulc": 0.3 * (x + 1.0),
        "sin": b.sin(y) * b.cos(y),
        "turns": b.sin(0.1 * y, 1.0) + b.cos(0.1 * y, 1.0),
        "recip": b.recip(x) * y,
        "select": b.select(c * x, x * x, b.const(0.1)),
        "saturate": b.saturate(x * y, 1.5),
        "input": y,
    }
    rng = np.random.default_rng(SEED)
    columns = {
        "x": to_float(rng.uniform(0.5, 2, 48)),
        "y": to_float(rng.uniform(-4, 4, 48)),
        "c": to_float(rng.uniform(-1, 1, 48)),
    }
    columns["y"][:4] = 0.0, 1.0e4, -1.5e5, 3e20
    return Graph(("x", "y", "c"), outputs), {k: to_float(own) for k, own in columns.items()}


def close(graph: Graph, made: Library, columns: dict[str, np.ndarray], within: float) -> None:
    """Rows of several lengths, and blocks, of every processor: each output by its largest."""
    expected = np.stack(list(evaluate(graph, columns).values()), axis=1)
    states = np.stack([columns[name] for name in graph.inputs], axis=1).astype(np.float32)
    size = np.abs(expected).max(axis=0)
    n = len(states)
    for isa in ("", *has()):
        for some in (1, 7, 16, n):
            code, found = made.rows(states[:some], isa=isa)
            assert code == 0 and found.dtype == np.float32
            assert (np.abs(found - expected[:some]) <= within * size).all(), (isa, some)
        code, blocks = made.blocks(np.ascontiguousarray(states.T), isa)
        assert code == 0 and (np.abs(blocks.T - expected) <= within * size).all(), isa


@pytest.mark.parametrize("compiler", ["g++", pytest.param("clang++", marks=pytest.mark.slow)])
def test_each_operation_in_double(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    graph, columns = each()
    double = computing(graph)
    assert {node.op for node in double} == set(Op) - {
        *(Op.INPUT, Op.CONST, Op.PARAMETER, Op.MANTISSA, Op.EXPONENT, Op.SCALE)
    }
    made = Library(graph, tmp_path, in_double=double, compiler=compiler)
    close(graph, made, columns, ROUNDED)
    # and in double it is what it is without
    states = np.stack([columns[name] for name in graph.inputs], axis=1)
    code, found = made.rows(states)
    wanted = np.stack(list(evaluate(graph, columns).values()), axis=1)
    assert code == 0
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("longest", [3000, 9])
def test_any_choice_in_any_parts(longest: int, tmp_path: Path) -> None:
    """All nodes in one function; of some at random, parts hand on from float to double and back."""
    front = front_end("pendulum", functions=("dfd",))
    graph = front.graph
    state = sample_states(front.design, front.canonical, 64, SEED)
    columns = to_columns(front.canonical, graph.inputs, state)
    columns = {name: to_float(values) for name, values in columns.items()}
    rng = np.random.default_rng(SEED)
    angles = {node.args[0]: bool(rng.integers(2)) for node in graph.nodes if node.op is Op.SIN}
    some = {
        node
        for node in computing(graph)
        if angles.get(node.args[0], rng.random() < 0.5)
        or (node.op not in (Op.SIN, Op.COS) and rng.random() < 0.5)
    }
    some -= {n for n in some if n.op in (Op.SIN, Op.COS) and not angles[n.args[0]]}
    nodes = some if longest == 9 else computing(graph)
    made = Library(graph, tmp_path, in_double=nodes, longest=longest, part=40, large=longest)
    off = evaluate_mixed(graph, columns, nodes)
    wanted = evaluate(graph, columns)
    worst = max(np.abs(off[k] - wanted[k]).max() / np.abs(wanted[k]).max() for k in wanted)
    close(graph, made, columns, ROUNDED + (4 * worst if longest == 9 else 0.0))
    assert (made.facts["parts"] > 1) == (longest == 9)


def test_what_is_no_number_or_singular(tmp_path: Path) -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    graph = Graph(("x", "y"), {"over": b.recip(x - y) * y, "sin": b.sin(y)})
    made = Library(graph, tmp_path, in_double=computing(graph))
    states = np.ones((19, 2), np.float32)
    states[:, 0] = 2.0
    states[5] = 1.0, 2.0  # a pivot below zero
    states[6] = np.nan, 1.0
    states[17] = np.inf, 1.0
    states[18] = 1.0, 1.0  # a pivot that is zero, in a state that is alone behind blocks
    for isa in ("", *has()):
        code, found = made.rows(states, isa=isa)
        assert code == 6
        assert np.isnan(found[[5, 6, 17, 18]]).all()
        good = np.setdiff1d(np.arange(19), [5, 6, 17, 18])
        assert np.isfinite(found[good]).all()
        code, _ = made.rows(states[18:], isa=isa)
        assert code == 1
        assert made.rows(states[6:7], isa=isa)[0] == 0


def test_they_are_in_registers(tmp_path: Path) -> None:
    """What g++ keeps of a function's values is what there is no register for, not all of them."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    graph = front_end("pendulum", functions=("dfd",)).graph
    about, nodes = {"robot": "a robot", "functions": "functions"}, computing(graph)
    files, _ = cpp(graph, plain(graph), "made", about, in_double=nodes, longest=9, part=40)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    command = ["g++", "-std=c++17", "-O3", "-fstack-usage", "-DMADE_NO_DOUBLE", "-c"]
    subprocess.run([*command, tmp_path / "made_base.cpp"], cwd=tmp_path, check=True)
    lines = (tmp_path / "made_base.su").read_text().splitlines()
    frames = [int(line.split("\t")[1]) for line in lines if "part_" in line and "InBlock" in line]
    assert len(frames) > 1 and sum(frames) < FRAMES
