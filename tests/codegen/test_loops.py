"""Programs in loops: their tables, and what C++ and CUDA compute beside graphs and golden."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.folder import UsageError
from rbdgen.api.program_folder import interface_of
from rbdgen.codegen.loops import loops
from rbdgen.codegen.statement_order import computed
from rbdgen.compile.flow import front_end
from rbdgen.compile.visits import visits_of
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.graph.visits import Program, Source, Visit, VisitResult
from rbdgen.robot.model import RobotError
from tests.codegen import test_cpp, test_cuda
from tests.support.library import Library, plain
from tests.support.marks import slow

SMALL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("gantry", {"functions": ("did", "m")}),
    ("tiago_like", {"functions": ("id",)}),
    ("gantry", {"functions": ("id", "m"), "formulation": "logarithmic"}),
    ("iiwa14", {"functions": ("id",), "formulation": "linear"}),
)
LARGE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("iiwa14", {"functions": ("did",)}),
    ("hyq", {"functions": ("did", "m"), "base": "floating"}),
    ("hyq", {"functions": ("did",), "base": "floating", "root": "given"}),
    ("tiago_like", {"functions": ("did", "m")}),
    ("humanoid", {"functions": ("did",), "base": "floating"}),
)


def name_of(value: Any) -> str:
    return value if isinstance(value, str) else "_".join(map(str, value.get("functions", ())))


def by_hand() -> tuple[Graph, Program]:
    """Three visits whose ports read constants, inputs and results by turns; c is for nobody.

    A visit gives x + k y, which two of them give as an output, and x y.
    """
    b = Builder()
    k, x, y = (b.input(name) for name in "kxy")
    step = Graph(("k", "x", "y"), {"sum": x + k * y, "product": x * y, "half": 0.5 * x})
    visits = [Visit("step", (i,)) for i in range(3)]
    reads: dict[Visit, dict[str, Source]] = {
        visits[0]: {"k": 2.0, "x": "a", "y": 3.0},
        visits[1]: {"k": -0.1, "x": "b", "y": VisitResult(visits[0], "product")},
        visits[2]: {"k": 7.5, "x": "a", "y": "b"},
    }
    outputs: dict[str, Source] = {
        "first": VisitResult(visits[0], "sum"),
        "read, too": VisitResult(visits[0], "product"),
        "last": VisitResult(visits[2], "sum"),
        "again": VisitResult(visits[2], "sum"),
        "half": VisitResult(visits[1], "half"),
        "input": "b",
        "constant": -1.25,
    }
    b = Builder()
    p, q = b.input("a"), b.input("b")
    nodes = [p + 6.0, 3.0 * p, p + 7.5 * q, p + 7.5 * q, 0.5 * q, q, b.const(-1.25)]
    graph = Graph(("b", "c", "a"), dict(zip(outputs, nodes, strict=True)))
    return graph, Program({"step": step}, reads, outputs)


def test_whatever_ports_read(tmp_path: Path) -> None:
    graph, program = by_hand()
    states = np.random.default_rng(3).uniform(0.5, 1, (19, 3))
    wanted = evaluate(graph, dict(zip(graph.inputs, states.T, strict=True)))
    made = Library(graph, tmp_path, program=program)
    host = test_cuda.Host(graph, plain(graph), tmp_path, program=program)
    for code, found in (made.rows(states), made.rows(states[:1]), *[host.rows([states])]):
        own = np.asarray(found).reshape(-1, len(wanted))
        assert code == 0
        for k, name in enumerate(wanted):
            np.testing.assert_allclose(
                own[:, k], wanted[name][: len(own)], rtol=1e-14, err_msg=name
            )
    states[7, 1] = np.nan  # of c, which nothing reads
    for _, found in (made.rows(states), host.rows([states])):
        own = np.asarray(found).reshape(-1, len(wanted))
        assert np.isnan(own[7]).all() and np.isfinite(np.delete(own, 7, axis=0)).all()


def test_bytes_are_those_of_the_tables(tmp_path: Path) -> None:
    """Places and runs are words of two bytes; there are constants in double and in float."""
    front = front_end("pendulum", functions=("did",), code="loops")
    program = visits_of(front)
    assert program is not None
    source = test_cuda.files(front.graph, interface_of(front), tmp_path, program=program)
    text = source.read_text()
    tables = re.findall(r"(\w+)\[\](?:\[\d+\])? = \{\n(.*?)\n\};", text, re.DOTALL)
    numbers = {"places": 0, "constants": 0, "runs": 0}
    for name, rows in tables:
        row = re.findall(r"\{ (.*?) \}", rows)
        kind = name.rpartition("_")[2]
        if kind in numbers:
            numbers[kind] += sum(own.count(",") + 1 for own in row)
    facts = loops(program, front.graph).facts
    assert 1 < facts.runs == numbers["runs"] / 3
    wide = 8 + 4
    assert facts.bytes == 2 * (numbers["places"] + numbers["runs"]) + wide * numbers["constants"]


def test_slots_are_given_on(tmp_path: Path) -> None:
    """Fewer than there are results; one loop where visits to a template follow each other."""
    front = front_end("hyq", base="floating", functions=("did",), code="loops")
    program = visits_of(front)
    assert program is not None
    made = loops(program, front.graph)
    results = sum(len(program.templates[visit.template].outputs) for visit in program.reads)
    assert made.slots < results / 3
    assert sum(run.count for run in made.runs) == len(program.reads) > 2 * len(made.runs)
    assert made.facts.operations_in_all < 2 * len(computed(front.graph))
    assert made.operations < len(computed(front.graph)) / 3


def test_what_has_no_loops_is_refused(tmp_path: Path) -> None:
    for choices, what in (
        ({"functions": ("fd", "ddid")}, "functions: ddid: loops compute id, fd, m, minv, did, dfd"),
        ({"functions": ("step",), "integrator": "rk4"}, "integrator: loops support only euler"),
        (
            {"formulation": "recursive", "functions": ("did",)},
            "formulation: loops support composit",
        ),
        (
            {"formulation": "logarithmic", "functions": ("did",), "products": "winograd"},
            "products: loops support only plain",
        ),
        (
            {"formulation": "logarithmic", "functions": ("fd",), "inverse": "near"},
            "inverse: loops compute it",
        ),
        (
            {"functions": ("fd",), "factorisation": "mminvgen"},
            "factorisation: loops support only ltdl",
        ),
        ({"angles": "sincos"}, "angles: loops compute the sines themselves"),
        ({"external_forces": ("all",)}, "external_forces: loops support none"),
    ):
        with pytest.raises(RobotError, match=f"pendulum: code: loops: {what}"):
            api.generate("pendulum", tmp_path / "made", to="cpp", code="loops", **choices)
    with pytest.raises(UsageError, match="code: loops are for cpp, cuda, hls, not for verilog, c"):
        api.generate("pendulum", tmp_path, to=("verilog", "cpp", "hls", "c"), code="loops")
    with pytest.raises(
        UsageError, match="code: loops: in hls only with time-multiplexed joints; add"
    ):
        api.generate("pendulum", tmp_path, to=("cpp", "hls"), code="loops")
    with pytest.raises(RobotError, match='code: "loop" is unknown; did you mean "loops"'):
        api.generate("pendulum", tmp_path / "made", to="cpp", code="loop")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("formulation", ["composite", "logarithmic"])
@pytest.mark.parametrize("model", [pytest.param("cpp", marks=pytest.mark.slow), "cuda-on-cpu"])
def test_golden_agrees(model: str, formulation: str) -> None:
    """Of a robot that slides and turns, as whoever calls it from Python has it."""
    rng = np.random.default_rng(3)
    given = {name: rng.uniform(0, 1, (20, 5)) for name in ("q", "qd", "qdd")}
    choices: dict[str, Any] = {"functions": ("did", "m"), "formulation": formulation}
    found, golden = (
        api.evaluate("gantry", given, m, code="loops", **choices) for m in (model, "golden")
    )
    for name in ("tau", "M", "dtau_dq", "dtau_dqd"):
        np.testing.assert_allclose(found[name], golden[name], atol=1e-11)


@pytest.mark.parametrize("formulation", ["composite", slow("logarithmic")])
def test_golden_agrees_where_m_is_inverted(formulation: str) -> None:
    rng = np.random.default_rng(4)
    given = {name: rng.uniform(-1, 1, (20, 7)) for name in ("q", "qd", "tau")}
    choices: dict[str, Any] = {"functions": ("minv", "dfd"), "formulation": formulation}
    found, golden = (
        api.evaluate("iiwa14", given, m, code="loops", **choices) for m in ("cuda-on-cpu", "golden")
    )
    for name in ("Minv", "qdd", "dqdd_dq", "dqdd_dqd"):
        np.testing.assert_allclose(found[name], golden[name], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "choices"), SMALL[:1], ids=name_of)
def test_cpp_in_loops(robot: str, choices: dict[str, Any], tmp_path: Path) -> None:
    facts = test_cpp.compare(tmp_path, robot, 100, code="loops", **choices).facts
    assert facts["code"] == "loops" and sum(facts["operations"]) == facts["nodes"]


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "choices"), [LARGE[0], LARGE[-1]], ids=name_of)
def test_cpp_of_larger_robots(robot: str, choices: dict[str, Any], tmp_path: Path) -> None:
    test_cpp.compare(tmp_path, robot, code="loops", **choices)


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "choices"), SMALL, ids=name_of)
def test_cuda_in_loops(robot: str, choices: dict[str, Any], tmp_path: Path) -> None:
    test_cuda.compare(tmp_path, robot, code="loops", **choices)


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "choices"), LARGE, ids=name_of)
def test_cuda_of_larger_robots(robot: str, choices: dict[str, Any], tmp_path: Path) -> None:
    test_cuda.compare(tmp_path, robot, code="loops", **choices)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_the_largest_kernel_spills_nothing_and_is_short(architecture: str, tmp_path: Path) -> None:
    front = front_end("humanoid", functions=("did",), base="floating", code="loops")
    interface = interface_of(front)
    source = test_cuda.files(front.graph, interface, tmp_path, program=visits_of(front))
    assert "__constant__" in source.read_text()
    for own in test_cuda.kernels(source, architecture):
        assert own.code < test_cuda.CODE and own.registers <= 168
        assert (own.spill_stores, own.spill_loads) == (0, 0)


def test_a_payload_is_on_one_body_of_several(tmp_path: Path) -> None:
    """With registers every body is taken apart, but one alone has a payload added before."""
    choices = {"formulation": "logarithmic", "code": "loops", "payload": "lower_rod"}
    made = api.generate(
        "pendulum", tmp_path, functions=("m",), parameters="registers", to="cpp", **choices
    )
    assert "load(" in next(made.folder.glob("*_kernel.inc")).read_text()
