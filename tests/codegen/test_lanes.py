"""One state alone, whose limbs and columns are lanes of a register."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.program_folder import interface_of
from rbdgen.codegen.cpp import cpp
from rbdgen.compile.flow import front_end
from rbdgen.compile.front import Front
from rbdgen.compile.visits import COLUMN, FACTORS, alike
from rbdgen.dynamics.interface import random_inputs
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.graph.visits import Program, Source, Visit, VisitResult, inlined, scaled
from tests.codegen.test_cpp import WALKER, compare
from tests.support.library import Library, has

SEED = 5
ABOUT = {"robot": "a robot", "functions": "functions"}


CASES = {
    "columns": ("pendulum", {"functions": ("dfd",), "float_error": 1e-6}, {FACTORS, COLUMN}),
    "several": ("pendulum", {"functions": ("dfd", "did", "minv")}, {FACTORS, COLUMN}),
    "limbs and columns": (
        WALKER,
        {"functions": ("dfd",), "base": "floating", "float_error": 1.0},
        {"trunk", "limb", "rest", "trunk_again", "limb_again", "rest_again", COLUMN},
    ),
    "limbs and factors": (
        WALKER,
        {"functions": ("fd",), "base": "floating", "float_error": 1.0},
        {"trunk", "limb", "rest"},
    ),
    "limbs": (WALKER, {"functions": ("did",), "base": "floating"}, {"trunk", "limb", "rest"}),
}
FEW = ("columns", "limbs and columns")


@pytest.mark.parametrize(("robot", "choices", "templates"), CASES.values(), ids=CASES)
def test_programs_compute_what_the_graph_does(
    robot: str, choices: dict[str, Any], templates: set[str]
) -> None:
    front = front_end(robot, **choices)
    inputs = random_inputs(front.canonical, front.graph.inputs, 4, SEED)
    expected = evaluate(front.graph, inputs)
    (own,) = [own for own in alike(front) if set(own.templates) == templates]
    made = evaluate(inlined(own, front.graph.inputs), inputs)
    for name, values in expected.items():
        np.testing.assert_allclose(made[name], values, rtol=0, atol=1e-9 * np.abs(values).max())


@pytest.mark.parametrize(("robot", "choices", "templates"), [CASES[c] for c in FEW], ids=FEW)
def test_one_state_is_that_of_a_batch(
    robot: str,
    choices: dict[str, Any],
    templates: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def these(front: Front) -> list[Program]:
        return [own for own in alike(front) if set(own.templates) == templates]

    monkeypatch.setattr("rbdgen.codegen.lanes.SAVES", 2.0)  # of small robots they save nothing
    monkeypatch.setattr("tests.codegen.test_cpp.alike", these)
    made = compare(tmp_path, robot, **choices)
    assert set(made.facts["alone"]["stages"]) == templates
    assert max(made.facts["alone"]["visits"]) > 1


@pytest.mark.slow
def test_joints_in_one_frame_are_those_of_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that lie in other visits' results already, and columns in two registers."""
    monkeypatch.setattr("rbdgen.codegen.lanes.SAVES", 2.0)
    monkeypatch.setattr("tests.codegen.test_cpp.alike", lambda front: alike(front)[-1:])
    made = compare(tmp_path, "iiwa14", 20, functions=("dfd",), float_error=1.0)
    stages = dict(zip(made.facts["alone"]["stages"], made.facts["alone"]["visits"], strict=True))
    assert stages["body"] == 7 and stages["pair_1"] == 5 and stages[COLUMN] == 13


def reciprocals(visits: int) -> Program:
    """Visits to 1 / (a x² + b), of which a is each one's own constant and b what another gives;
    all read the angle c."""
    builder = Builder()
    a, x, b, c = (builder.input(name) for name in ("a", "x", "b", "c"))
    sine = builder.mul(builder.sin(builder.add(x, b)), builder.cos(c))
    found = builder.mul(builder.recip(builder.add(builder.mul(a, builder.mul(x, x)), b)), sine)
    template = Graph(("a", "x", "b", "c"), {"y": found, "square": builder.mul(x, x)})
    builder = Builder()
    first = Graph(("t",), {"b": builder.mul(2.0, builder.input("t"))})
    builder = Builder()
    names = [f"y[{k}]" for k in range(visits)]
    total = builder.input(names[0])
    for name in names[1:]:
        total = builder.sub(total, builder.input(name))
    own = [Visit("limb", (k,)) for k in range(visits)]
    b_of = VisitResult(Visit("first", ()), "b")
    reads: dict[Visit, dict[str, Source]] = {Visit("first", ()): {"t": "t"}}
    reads |= {
        v: {
            "a": 1.0 + k,
            "x": scaled(f"x[{k}]", (-1.0) ** k),
            "b": scaled(b_of, 2.0 ** (k % 2)),
            "c": b_of,
        }
        for k, v in enumerate(own)
    }
    reads[Visit("rest", ())] = {
        name: scaled(VisitResult(v, "y"), -1.0) for name, v in zip(names, own, strict=True)
    }
    outputs: dict[str, Source] = {"total": VisitResult(Visit("rest", ()), "z"), "t": "t"}
    outputs |= {name: VisitResult(v, "y") for name, v in zip(names, own, strict=True)}
    outputs["last"] = scaled(VisitResult(own[-1], "square"), -1.0)
    rest = Graph(tuple(names), {"z": total})
    return Program({"first": first, "limb": template, "rest": rest}, reads, outputs)


@pytest.mark.parametrize("visits", [3, 11])
def test_broken_and_singular_states(
    visits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lanes that no visit has are no pivots."""
    monkeypatch.setattr("rbdgen.codegen.lanes.SAVES", 9.0)
    program = reciprocals(visits)
    names = [*(f"x[{k}]" for k in range(visits)), "t"]
    graph = inlined(program, names)
    made = Library(graph, tmp_path, alone=[program])
    assert made.facts["alone"]["visits"] == [1, visits, 1, 0]
    for dtype, within in ((np.float64, 1e-14), (np.float32, 1e-5)):
        state = np.random.default_rng(SEED).uniform(0.5, 1, (1, visits + 1)).astype(dtype)
        columns = dict(zip(names, state.T.astype(float), strict=True))
        expected = np.stack(list(evaluate(graph, columns).values()))[:, 0]
        for isa in has():
            code, found = made.rows(state, isa=isa)
            assert (
                code == 0 and np.abs(found[0] - expected).max() <= within * np.abs(expected).max()
            )
            broken = state.copy()
            broken[0, visits - 1] = np.nan
            code, found = made.rows(broken, isa=isa)
            assert code == 0 and np.isnan(found).all()
            broken[0, [visits - 1, visits]] = 0.0
            code, found = made.rows(broken, isa=isa)
            assert code == 1 and np.isnan(found).all()


def test_lanes_without_a_visit_read_zeros(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three visits read what the last three of four gave: behind it lies a word of no row yet."""
    monkeypatch.setattr("rbdgen.codegen.lanes.SAVES", 9.0)
    builder = Builder()
    x = builder.input("x")
    first = Graph(("x",), {"y": builder.mul(x, x)})
    builder = Builder()
    x, y = builder.input("x"), builder.input("y")
    second = Graph(("x", "y"), {"z": builder.mul(y, builder.add(x, y))})
    names = [f"x[{k}]" for k in range(4)]
    reads: dict[Visit, dict[str, Source]] = {
        Visit("first", (k,)): {"x": name} for k, name in enumerate(names)
    }
    reads |= {
        Visit("second", (k,)): {"y": VisitResult(Visit("first", (k,)), "y"), "x": names[-k]}
        for k in range(1, 4)
    }
    outputs: dict[str, Source] = {
        f"z[{k}]": VisitResult(Visit("second", (k,)), "z") for k in range(1, 4)
    }
    program = Program({"first": first, "second": second}, reads, outputs)
    graph = inlined(program, names)
    made = Library(graph, tmp_path, alone=[program])
    assert made.facts["alone"]["visits"] == [4, 3]
    state = np.random.default_rng(SEED).uniform(0.5, 1, (1, 4))
    expected = np.stack(list(evaluate(graph, dict(zip(names, state.T, strict=True))).values()))
    for isa in has():
        code, found = made.rows(state, isa=isa)
        assert code == 0
        np.testing.assert_allclose(found[0], expected[:, 0], rtol=1e-14)
    text = "".join(own.read_text() for own in sorted(tmp_path.rglob("*.inc")))
    side = re.search(r"side\{(\d+)\}", text)
    assert side and f"zero<1>({int(side[1]) + 3})" in text


def test_what_all_lanes_read_is_an_operand_in_memory() -> None:
    front = front_end("iiwa14", functions=("dfd",))
    files, facts = cpp(front.graph, interface_of(front), "made", ABOUT, alone=alike(front))
    text = files["made_states.inc"]
    assert facts["alone"]["stages"] == [FACTORS, COLUMN]
    assert "io.load(word{" in text
    assert not re.search(r"= io\.load\(word\{\d+\}\);", text)


def test_nothing_is_alike_where_it_saves_too_little() -> None:
    front = front_end("pendulum", functions=("dfd",))
    _, facts = cpp(front.graph, interface_of(front), "made", ABOUT, alone=alike(front))
    assert alike(front) and "alone" not in facts
