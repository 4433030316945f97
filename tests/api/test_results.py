"""What the API returns says what it is, in a line and as HTML, and stays plain data."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.simulation import Simulation
from rbdgen.api.synthesis import Synthesis
from rbdgen.design.coordinates import CoordinateError, ScaleError
from rbdgen.design.facts import AcceleratorRun, CoreRun, FunctionRun, MixedRun
from rbdgen.robot.model import RobotError
from rbdgen.tools.report import Mapped
from rbdgen_benchmarks.compare.comparison import compare
from rbdgen_host.driver import Dynamics

OFF = ScaleError(1.5e-4, 0.006, 0.02)
STATES = {name: np.zeros((3, 2)) for name in ("q", "qd", "qdd")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> api.Generated:
    return api.generate("pendulum", tmp_path_factory.mktemp("results") / "design")


def test_what_generate_returns_is_a_path(made: api.Generated) -> None:
    assert isinstance(made, Path)
    assert made == made.folder == Path(str(made)) == Path(os.fspath(made))
    assert type(made.folder) is type(made / "graph.txt") is type(Path())
    assert (made / "graph.txt").is_file()
    assert made.manifest == api.read_manifest(made)
    assert pickle.loads(pickle.dumps(made)) == made
    latency, name = made.manifest["latency"], f"{made}: pendulum: id on ecp5-85f"
    assert repr(made) == f"<{name}: latency {latency} cycles, a task every cycle, 10 multipliers>"
    html = made._repr_html_()
    assert "pipeline.svg" in html
    assert "data:image/svg+xml;base64," in html


def test_a_path_whose_folder_has_gone(tmp_path: Path) -> None:
    assert repr(api.Generated(tmp_path / "gone")) == repr(tmp_path / "gone")


@pytest.mark.parametrize(
    ("made", "headline"),
    [
        (lambda: api.info("pendulum"), "<pendulum: id on ecp5-85f: latency "),
        (
            lambda: api.info("pendulum", functions=("id", "m"), accelerator=True, ii=8),
            "<pendulum: id, m, an accelerator for ",
        ),
        (lambda: api.topology("pendulum"), "<pendulum: 2 joints, 2 modules built of 2>"),
        (
            lambda: compare("pendulum", functions=("m",), intervals=(1,)),
            "<pendulum: m: 2 designs beside 0 peers>",
        ),
    ],
)
def test_reports(made: Callable[[], Any], headline: str) -> None:
    report = made()
    assert isinstance(report, dict)
    assert json.loads(json.dumps(report)) == report
    assert repr(report).startswith(headline)
    assert "\n" not in repr(report)
    assert report._repr_html_().startswith("<p><b>pendulum: ")
    assert "<pre>" in report._repr_html_()


def test_runs_of_hardware() -> None:
    found = (CoordinateError("tau[1]", "elbow", "N·m", 3.0, {"at the limits": OFF}),)
    own = Simulation(CoreRun(200, 0, True, 20, 32, 1, 0, None, found))
    said = (
        "200 states, every bit equal, latency 32, 0 overflows, "
        'tau[1] ("elbow") off by 1.5e-04 at the limits (0.006 N·m, 0.002 of its effort limit)'
    )
    assert repr(own) == f"<simulation: {said}>"
    assert own["coordinates"][0]["scales"]["at the limits"]["relative"] == 1.5e-4
    runs = {name: FunctionRun(n, 8.0, 2100, 0, found) for name, n in {"id": 40, "m": 30}.items()}
    accelerator = Simulation(AcceleratorRun(9, 0, True, 256, runs, MixedRun(9, 99), 10))
    said = "every bit and tag equal; latency id 40, m 30"
    assert repr(accelerator) == f"<simulation: {said}>"
    assert accelerator["functions"]["m"]["batch_cycles"] == 2100
    modules = {
        "pendulum_id_ram_18x16": {"LUT6": 2},
        "pendulum_id_ram_7x32": {"LUT6": 2},
        "pendulum_id_forward_0": {"LUT6": 5},
    }
    cells = Synthesis(Mapped("pendulum_id", "xcup", {"DSP48E2": 8}, modules, None))
    assert repr(cells) == "<pendulum_id on xcup: 8 DSP48E2, …>"
    assert cells["fits"] is None
    assert cells["text"].startswith("pendulum_id on xcup, mapped only\n\n  DSP48E2")
    rows = [line.split()[:2] for line in cells["text"].splitlines()[-2:]]
    assert rows == [["forward_0", "5"], ["memories", "4"]]
    assert f"<pre>{cells['text']}</pre>" in cells._repr_html_()
    for report in (own, accelerator, cells):
        assert pickle.loads(pickle.dumps(report)).facts == report.facts


def test_exploration(tmp_path: Path) -> None:
    report = api.explore(
        "pendulum", tmp_path / "out", intervals=(1, 2), synthesis=False, jobs=1, functions=("m",)
    )
    assert repr(report).startswith("<pendulum: m on ecp5-85f: ")
    assert json.loads(json.dumps(report)) == report
    assert "data:image/svg+xml" in report._repr_html_()
    again = pickle.loads(pickle.dumps(report))
    assert again == report
    assert again.place == tmp_path / "out"


def test_arrays() -> None:
    found = api.evaluate("pendulum", STATES)
    assert repr(found) == "<tau (3, 2), joint_names (2,)>"


def test_driver() -> None:
    robot = Dynamics("pendulum", "golden", functions=("rnea", "crba"))
    assert repr(robot) == "<Dynamics of pendulum, golden: id, m; nq 2, nv 2>"
    ticket = robot.submit("crba", STATES["q"])
    assert repr(ticket) == "<crba of 3 states, waiting>"
    ticket.result()
    assert repr(ticket) == "<crba of 3 states, done>"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: api.info("pendulum", widht=16), 'no choice "widht"; did you mean "width"?'),
        (lambda: api.generate("pendulum", outptu="x"), 'did you mean "output"?'),
        (lambda: api.explore("pendulum", intervls=(1,)), 'did you mean "intervals"?'),
        (lambda: compare("pendulum", desings=()), 'did you mean "designs"?'),
        (lambda: api.topology("pendulum", bse="floating"), 'did you mean "base"?'),
        (lambda: api.evaluate("pendulum", STATES, modle="rtl"), 'did you mean "model"?'),
        (lambda: api.info("pendulum", zzz=1), 'no choice "zzz"; one of base, mimic'),
        (lambda: Dynamics("pendulum", fuctions=("id",)), 'did you mean "functions"?'),
        (lambda: Dynamics("pendulum", on_overflwo="warn"), 'did you mean "on_overflow"?'),
    ],
)
def test_unknown_choices(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError) as error:
        call()
    assert isinstance(error.value, RobotError)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: api.evaluate("pendulum", STATES, "glden"), 'did you mean "golden"?'),
        (lambda: Dynamics("pendulum", "integre"), 'did you mean "integer"?'),
        (lambda: Dynamics("pendulum", functions="rnae"), 'did you mean "rnea"?'),
        (lambda: Dynamics("pendulum", "golden").submit("rnae"), 'did you mean "rnea"?'),
        (lambda: api.info("pendulum", target="ecp5-85"), 'did you mean "ecp5-85f"?'),
    ],
)
def test_unknown_values(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match="did you mean") as error:
        call()
    assert message in str(error.value)


def test_functions_by_pinocchios_names(made: api.Generated, tmp_path: Path) -> None:
    names = ("rnea", "aba", "crba", "computeMinverse", "computeRNEADerivatives")
    names += ("computeABADerivatives", "computeABADerivativesFromMinverse")
    robot = Dynamics("pendulum", "golden", functions=names, mix="rnea=2,crba=1")
    assert robot.functions == ("id", "fd", "m", "minv", "did", "dfd", "difd")
    (tmp_path / "own.yaml").write_text(f"robot: {made / 'robot.urdf'}\nfunctions: [crba, rnea]\n")
    assert api.info(str(tmp_path / "own.yaml"))["functions"] == ["m", "id"]
    with pytest.raises(RobotError, match="a name stands twice"):
        api.info("pendulum", functions=("rnea", "id"))
