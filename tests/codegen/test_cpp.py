"""Functions in C++, compiled and compared with the evaluation of their graphs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.program_folder import interface_of
from rbdgen.codegen.cpp import cpp
from rbdgen.codegen.interface import Array, ArrayEntry, ArrayInterface
from rbdgen.codegen.statement_order import (
    chunks_of,
    columns,
    computed,
    depth_first,
    joint_by_joint,
    slots_of,
)
from rbdgen.compile.floats import with_doubles
from rbdgen.compile.flow import front_end
from rbdgen.compile.samples import sample_states
from rbdgen.compile.visits import alike, visits_of
from rbdgen.dynamics.interface import to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Op
from tests.support.library import Library, has, plain

SEED = 3
WALKER = str(Path(__file__).parents[1] / "robots" / "walker.urdf")
HELD: dict[str, Any] = {  # by its tool, in all six directions
    "functions": ("cfd",),
    "frames": ("tool",),
    "contact": "surface",
    "contact_damping": 1.0,
}
WITHIN = {np.float64: 1e-12, np.float32: 1e-5}  # of the largest entry; of float, as promised


def compare(folder: Path, robot: str, n: int = 1000, **choices: Any) -> Library:
    """Every form of a robot's functions beside ``evaluate``: rows of 1, 7, 8, 9, n; blocks."""
    options = {key: choices.pop(key) for key in ("longest", "part", "large") if key in choices}
    front, found = with_doubles(front_end(robot, **choices))
    interface, program = interface_of(front), visits_of(front)
    options |= {"program": program, "in_double": found.nodes, "alone": alike(front)}
    made = Library(front.graph, folder, interface, **options)
    state = sample_states(front.design, front.canonical, n, SEED)
    columns = to_columns(front.canonical, front.graph.inputs, state)
    for name, values in columns.items():  # sines and cosines are arrays here
        entry = interface.inputs[name]
        if entry.array in ("sin", "cos"):
            array = next(a for a in interface.takes if a.name == entry.array)
            state.setdefault(entry.array, np.zeros((n, array.size)))[:, entry.at] = values
    for dtype, within in WITHIN.items():
        given = [state[a.name].astype(dtype) for a in interface.takes]
        inputs = {name: values.astype(dtype).astype(float) for name, values in columns.items()}
        expected = evaluate(front.graph, inputs)
        largest = max(np.abs(values).max() for values in expected.values())
        whole = np.stack([inputs[name] for name in front.graph.inputs]).astype(dtype)
        wanted = np.stack(list(expected.values()))
        arrays = {a.name: np.zeros((n, *a.shape)) for a in interface.gives}
        for name, values in expected.items():
            for entry in interface.outputs[name]:
                arrays[entry.array].reshape(n, -1)[:, entry.at] = values
        assert largest > 0.1
        for isa in ("", *has()):
            for some in (n, 1, 7, 8, 9, 0):
                code, *found = made.rows(*(a[:some] for a in given), isa=isa)
                assert code == 0
                for array, own in zip(interface.gives, found, strict=True):
                    assert np.isfinite(own).all()
                    apart = np.abs(own - arrays[array.name][:some]).max(initial=0)
                    assert apart <= within * largest, (isa, some, apart / largest)
            some = n - n % 16
            code, found = made.blocks(whole[:, :some], isa)
            assert code == 0 and np.abs(found - wanted[:, :some]).max() <= within * largest
        for threads in (0, 1, 3):
            together = made.rows(*given, threads=threads)
            for own, other in zip(together, made.rows(*given), strict=True):
                np.testing.assert_array_equal(own, other)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("gantry", {"functions": ("did", "m")}),
        ("pendulum", {"functions": ("id", "fd"), "external_forces": ("all",)}),
        ("iiwa14", {}),
        (
            "gantry",
            {
                "functions": ("nle", "pose", "twist", "jac", "drift", "energy", "ag", "hg"),
                "frames": ("tool",),
            },
        ),
        (WALKER, {"functions": ("step",), "base": "floating", "step": 0.01}),
        ("gantry", {"functions": ("ddid",), "external_forces": ("all",)}),
        ("gantry", {"functions": ("regressor", "base_regressor")}),
        ("gantry", {**HELD, "external_forces": ("all",)}),
        ("pendulum", {**HELD, "functions": ("dcfd",), "frames": ("lower_rod",)}),
    ],
    ids=[
        "gantry",
        "pendulum",
        "iiwa14",
        "observed",
        "step",
        "second",
        "regressor",
        "contact",
        "slopes",
    ],
)
def test_it_computes_what_the_graph_does(
    robot: str, choices: dict[str, Any], tmp_path: Path
) -> None:
    compare(tmp_path, robot, **choices)


def test_long_graphs_are_split(tmp_path: Path) -> None:
    made = compare(
        tmp_path,
        "pendulum",
        functions=("dfd", "m"),
        external_forces=("all",),
        longest=40,
        part=25,
    )
    assert made.facts["parts"] > 3 and made.facts["workspace_bytes"] > 0


def test_large_graphs_are_computed_column_by_column(tmp_path: Path) -> None:
    made = compare(tmp_path, "pendulum", functions=("dfd",), longest=9, part=9, large=9)
    assert made.facts["parts"] > 3 and made.facts["workspace_bytes"] > 0


def test_joints_walk_to_the_base_one_after_another() -> None:
    """Every operation once, behind its operands, and functions hand on less."""
    front = front_end("iiwa14", functions=("did",))
    nodes = computed(front.graph)
    found = joint_by_joint(front.graph, nodes, interface_of(front))
    assert set(found) == set(nodes) and len(found) == len(nodes)
    at = {node: k for k, node in enumerate(found)}
    assert all(at.get(arg, -1) < k for node, k in at.items() for arg in node.args)
    last, before = (front.graph.outputs[own] for own in ("dtau_dqd[6,0]", "dtau_dq[5,4]"))
    assert at[last] < at[before] and nodes.index(last) > nodes.index(before)
    first, handed_on = (slots_of(chunks_of(own, 0, 400))[1] for own in (nodes, found))
    assert handed_on < 0.7 * first
    # so such functions take them so, and those of whom it saves little do not
    given = front.graph, interface_of(front), "made", {"robot": "iiwa14", "functions": "did"}
    for part, order in ((400, found), (1045, nodes)):
        _, facts = cpp(*given, longest=400, part=part)
        assert facts["workspace_bytes"] == 64 * slots_of(chunks_of(order, 0, part))[1]


def test_columns_are_computed_one_after_another() -> None:
    b = Builder()
    x = [b.input(f"x{k}") for k in range(2)]
    top = [b.recip(own) for own in x]
    low = [x[k] - own for k, own in enumerate(top)]
    rows = {f"{i}{j}": (top, low)[i][j] for i in (0, 1) for j in (0, 1)}
    graph = Graph(("x0", "x1"), rows)
    entries = {name: (ArrayEntry("A", 2 * int(name[0]) + int(name[1])),) for name in rows}
    interface = ArrayInterface(plain(graph).takes, (Array("A", (2, 2)),), {}, entries)
    ends = columns(graph, interface)
    assert ends == [top[0], low[0], top[1], low[1]]
    assert depth_first(computed(graph), ends) == ends
    assert depth_first(computed(graph), reversed(ends)) == [top[1], low[1], top[0], low[0]]


def test_numbers_are_ordered_beside_matrices() -> None:
    """An output of no dimension comes before all rows, and with the first joint's."""
    b = Builder()
    x = b.input("x")
    entry, number = b.recip(x), b.sin(x)
    graph = Graph(("x",), {"entry": entry, "number": number})
    entries = {"entry": (ArrayEntry("A", 3),), "number": (ArrayEntry("far", 0),)}
    arrays = (Array("A", (2, 2)), Array("far", ()))
    interface = ArrayInterface(plain(graph).takes, arrays, {}, entries)
    assert columns(graph, interface) == [number, entry]
    assert joint_by_joint(graph, computed(graph), interface) == [entry, number]


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
        "select": b.select(c, x, 0.25),
        "saturate": b.saturate(y, 0.5),
        "less a negative": b.node(Op.SUB, x, b.const(-1e-300)),
        "minus a negative": b.node(Op.NEG, b.const(-0.1)),
        "const": b.const(-math.pi),
        "input": y,
        "again": x + y,
    }
    graph = Graph(("x", "unread", "y", "c"), outputs)
    assert {node.op for node in graph.nodes} == set(Op) - {Op.PARAMETER}  # of hardware alone
    columns = {
        "x": np.array([1.0, 0.75, 0.5, 3e-7, 5.0, 1e-300, 1e300, 3.0]),
        "unread": np.full(8, 7.0),
        "y": np.array([-3.0, 0.1, 0.0, 7.0, -0.4, 1.0, 2.0, 3.0]),
        "c": np.array([-1.0, -1e-9, 0.0, 2.0, 3.0, 4.0, -5.0, 6.0]),
    }
    expected = evaluate(graph, columns)
    made = Library(graph, tmp_path)
    states = np.stack([columns[name] for name in graph.inputs], axis=1)
    for isa in ("", *has()):
        code, found = made.rows(states, isa=isa)
        _, single = made.rows(states[:1], isa=isa)
        assert code == 0
        for k, name in enumerate(outputs):
            for own in (found[:, k], single[:, k]):
                wanted = expected[name][: len(own)]
                if "turns" in name or name in ("sin", "cos"):
                    np.testing.assert_allclose(own, wanted, rtol=4e-16, atol=4e-16)
                else:
                    np.testing.assert_array_equal(own, wanted, name)


def test_what_cannot_be_written_is_refused() -> None:
    b = Builder()
    about = {"robot": "", "functions": ""}
    graph = Graph((), {"x": b.const(math.inf)})
    with pytest.raises(ValueError, match="no finite number"):
        cpp(graph, plain(graph), "f", about)
    for name in ("", "2f", "a b", "f;", "é"):
        with pytest.raises(ValueError, match="no name for a function in C"):
            cpp(Graph((), {}), plain(Graph((), {})), name, about)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("iiwa14", {"functions": ("id", "fd", "m", "minv", "did", "dfd"), "angles": "sincos"}),
        ("gantry", {"functions": ("difd",)}),
        ("hyq", {"base": "floating", "functions": ("did",), "external_forces": ("all",)}),
        ("hyq", {"base": "floating", "root": "given", "functions": ("fd", "minv", "m")}),
        ("baxter", {"functions": ("fd",)}),
        ("humanoid", {"base": "floating", "functions": ("id",)}),
        ("spot_arm_like", {"base": "floating", "functions": ("id", "m")}),
        ("tiago_like", {"functions": ("id", "fd")}),
    ],
    ids=lambda value: value if isinstance(value, str) else "_".join(value["functions"]),
)
def test_robots_that_are_shipped(robot: str, choices: dict[str, Any], tmp_path: Path) -> None:
    compare(tmp_path, robot, **choices)
