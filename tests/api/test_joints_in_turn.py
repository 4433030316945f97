"""Designs whose joints are time-multiplexed: what info and generate say of them, and what is
refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from rbdgen import api
from rbdgen.cli.main import main
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.loading import load
from rbdgen.graph.fixed import evaluate_fixed
from rbdgen.graph.node import Op
from rbdgen.graph.word import indices
from rbdgen.robot.model import RobotError
from rbdgen.schedule.round_plan import GATHERING, RoundPlan
from rbdgen_benchmarks.bench.chains import chain_urdf

CHOICES: dict[str, Any] = {"fold": "joints", "ii": 6}


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return api.generate("pendulum", tmp_path_factory.mktemp("joints") / "design", **CHOICES)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_folder_speaks_of_the_whole_robot(design: Path) -> None:
    manifest, facts = api.read_manifest(design), api.info("pendulum", **CHOICES)
    assert manifest["joints_in_turn"] is True
    assert manifest["limbs_in_turn"] == 1
    assert manifest["initiation_interval"] == facts["initiation_interval"] == 6
    for key in ("latency", "formats", "operations", "joint_names"):
        assert manifest[key] == facts[key]
    assert manifest["multipliers"]["hardware"] == facts["multipliers"]
    assert manifest["axi"]["wide"]["clocks_per_task"] == 6
    names = [field["name"] for field in manifest["ports"]["output"]["fields"]]
    assert names == ["tau[0]", "tau[1]", "overflow[0]", "overflow[1]"]
    own = load(design / "design.yaml")[0]
    assert (own.fold, own.ii) == ("joints", 6)
    ElementTree.parse(design / "pipeline.svg")


def test_other_designs_have_no_joints_in_turn(tmp_path: Path) -> None:
    place = api.generate("pendulum", tmp_path / "design", ii=6)
    assert api.read_manifest(place)["joints_in_turn"] is False


def test_same_bytes_in_every_process(design: Path, tmp_path: Path) -> None:
    """Hashes of strings, and with them the order of sets, differ between these processes."""
    arguments = ["generate", "pendulum", "--fold", "joints", "--ii", "6", "-o", str(tmp_path / "1")]
    subprocess.run(
        [sys.executable, "-m", "rbdgen", *arguments],
        env=os.environ | {"PYTHONHASHSEED": "1"},
        check=True,
        capture_output=True,
    )
    assert contents(tmp_path / "1") == contents(design)


def test_a_design_makes_itself_again(design: Path, tmp_path: Path) -> None:
    again = api.generate(str(design / "design.yaml"), tmp_path / "again")
    assert contents(again) == contents(design)


def test_info_says_what_takes_turns() -> None:
    facts = api.info("iiwa14", fold="joints", ii=12)
    (note,) = [note for note in facts["notes"] if note.startswith("joints are time-multiplexed")]
    assert "20 visits to 5 datapaths in 6 rounds of 2 cycles" in note
    assert facts["lowered_operations"]["mul"] < 0.6 * facts["operations"]["mul"]


def test_a_budget_chooses_the_interval() -> None:
    facts = api.info("iiwa14", fold="joints", multipliers=18)
    assert facts["multipliers"] <= 18
    sooner = {"fold": "joints", "ii": facts["initiation_interval"] - 1}
    assert api.info("iiwa14", **sooner)["multipliers"] > 18


def test_the_integer_model_is_near_the_float_one() -> None:
    """As the hardware computes it, from the same call as for any design."""
    rng = np.random.default_rng(6)
    states = {name: rng.uniform(-1, 1, (50, 7)) for name in ("q", "qd", "qdd")}
    exact = api.evaluate("iiwa14", states)["tau"]
    found = api.evaluate("iiwa14", states, "fixed", fold="joints", ii=12)
    error = np.sqrt(((found["tau"] - exact) ** 2).sum() / (exact**2).sum())
    assert 0 < error < 2.5e-3
    assert not found["overflow"].any()


def test_m_inverted_by_joints_in_turn() -> None:
    """Words of all joints have one binary point, and M⁻¹ is as good as words of 18 bits allow."""
    core = compile_front(front_end("iiwa14", functions=("minv",), fold="joints", ii=16))
    plan, fixed = core.plan, core.fixed
    assert isinstance(plan, RoundPlan)
    products = [node for node in plan.fixed.graph.nodes if node.op is Op.MUL]
    assert max(plan.fixed.formats[a].width for node in products for a in node.args) == 18
    assert plan.fixed.graph.operations()["recip"] == 1  # for seven pivots
    q = np.random.default_rng(8).uniform(-np.pi, np.pi, (500, 7))
    words = {f"q[{k}]": fixed.inputs[f"q[{k}]"].quantize(q[:, k]) for k in range(1, 7)}
    found = evaluate_fixed(fixed, {"q[0]": words["q[1]"], **words})
    assert not found.overflowed
    exact = api.evaluate("iiwa14", {"q": q}, functions=("minv",))["Minv"]
    off = total = 0.0
    for name, node in fixed.graph.outputs.items():
        i, j = indices(name)
        off += np.sum((fixed.formats[node].real(found.outputs[name]) - exact[:, i, j]) ** 2)
        total += np.sum(exact[:, i, j] ** 2)
    assert 1e-6 < np.sqrt(off / total) < 2e-4


@pytest.mark.parametrize("functions", [("id",), ("did",)])
def test_one_joint_alone(functions: tuple[str, ...], tmp_path: Path) -> None:
    """Its templates have no products."""
    file = tmp_path / "chain.urdf"
    file.write_text(chain_urdf(1))
    plan = compile_front(front_end(str(file), functions=functions, **CHOICES)).plan
    assert isinstance(plan, RoundPlan)
    assert plan.interval == 6
    assert plan.template.jobs.multipliers(6) == plan.multipliers


def test_what_is_the_same_in_every_state_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "chain.urdf"
    file.write_text(chain_urdf(1))
    with pytest.raises(RobotError, match="m: the same in every state, so there is no hardware"):
        compile_front(front_end(str(file), functions=("m",), **CHOICES))


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("iiwa14", {"functions": ("dfd", "difd")}, r"iiwa14: functions: difd: .*\(difd without dfd\)"),
    (
        "iiwa14",
        {"functions": ("did", "ddid", "step")},
        "iiwa14: functions: ddid, step: time-multiplexed joints",
    ),
    (
        "iiwa14",
        {"functions": ("id", "nle")},
        "functions: nle: .*, dfd and difd .*, or g or nle al",
    ),
    (
        "iiwa14",
        {"formulation": "recursive"},
        "iiwa14: formulation: time-multiplexed joints support composite",
    ),
    (
        "iiwa14",
        {"angles": "sincos"},
        "iiwa14: angles: time-multiplexed joints compute the sines themselves",
    ),
    ("iiwa14", {"style": "latency"}, "fold: joints is for style throughput, not latency"),
    (
        "iiwa14",
        {"scheduler": "exact"},
        "iiwa14: scheduler: time-multiplexed joints use the list sched",
    ),
    ("iiwa14", {"ii": None}, "iiwa14: fold: joints: give the interval with ii, or the multipliers"),
    (
        "iiwa14",
        {"ii": GATHERING},
        f"ii: 4: time-multiplexed joints take {GATHERING + 1} cycles and more",
    ),
    ("iiwa14", {"ii": 1025}, "ii: a whole number of cycles from 1 to 1024, not 1025"),
    (
        "iiwa14",
        {"functions": ("did",), "ii": 6, "target": "ecp5-45f"},
        r"ii: 6 takes more than the 72 .*; from \d+ on it fits",
    ),
    ("iiwa14", {"ii": None, "multipliers": 1}, "budget has 1: it takes at least"),
]


@pytest.mark.parametrize(("robot", "choices", "says"), REFUSED)
def test_refused_in_one_line(robot: str, choices: dict[str, Any], says: str) -> None:
    with pytest.raises(RobotError, match=says) as raised:
        compile_front(front_end(robot, **{"fold": "joints", "ii": 12, **choices}))
    assert "\n" not in str(raised.value)


def test_refused_from_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = tmp_path / "design"
    assert main(["generate", "gantry", "--fold", "joints", "--ii", "4", "-o", str(place)]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "rbdgen: ii: 4: time-multiplexed joints take 5 cycles and more"
    assert not place.exists()


@pytest.mark.parametrize("fold", ["auto", "none", "limbs"])
def test_long_intervals_are_for_joints(fold: str) -> None:
    with pytest.raises(RobotError, match="ii: a whole number of cycles from 1 to 64, not 65"):
        load("iiwa14", fold=fold, ii=65)
    assert load("iiwa14", fold="joints", ii=65)[0].ii == 65
