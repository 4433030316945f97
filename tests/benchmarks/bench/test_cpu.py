"""Times of compiled functions: what the programs that take them print, and the tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rbdgen.api.native_programs import compiled
from rbdgen.compile.flow import front_end
from rbdgen.design.coordinates import CoordinateError
from rbdgen.design.loading import load
from rbdgen.graph.accuracy import SCALES
from rbdgen_benchmarks.bench.cpu import (
    BOUNDARIES,
    GOLDEN,
    HEAD,
    PEERS,
    RATIOS,
    _ours,
    _ratios,
    _sizes,
    _times,
    cpu,
    errors_of,
)
from rbdgen_benchmarks.compare.pinocchio import _tree
from rbdgen_benchmarks.compare.timing import command as times_command
from rbdgen_benchmarks.compare.timing import least


def test_times_of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    design, robot = load("pendulum", functions=("m",))
    own = compiled(design, robot, "cpp", print)
    said: list[str] = []
    sizes = _sizes(own)
    assert sizes == (256, 100_000)
    command = times_command(own, sizes, 2, said.append)
    assert said == ["compiling times of pendulum_m"]
    found = least({"ours": command}, processes=2)["ours"]
    assert len(found) == 1 + 5 * len(sizes)
    ours = _ours(own, found)
    assert tuple(ours) == BOUNDARIES and all(0 < ns < 1e5 for ns in ours.values())
    assert [ours[own] for own in ("one", "blocks", "zeros", "batch_threads")] == [
        found[k] for k in (0, 1, 5, 9)
    ]
    assert ours["zeros"] < ours["rows"]
    assert times_command(own, sizes, 2, said.append) == command and len(said) == 1


def test_errors_are_those_of_rounding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    front = front_end("gantry", functions=("fd",))
    programs = {kind: compiled(front.design, front.robot, kind, print) for kind in ("cpp", "cpp32")}
    found = errors_of(front, programs, 100, lambda _: None)
    assert list(found) == ["cpp", GOLDEN, "cpp32"]
    worst = {kind: [CoordinateError.from_json(x) for x in own] for kind, own in found.items()}
    for kind, (low, high) in {
        "cpp": (0, 1e-13),
        GOLDEN: (0, 1e-13),
        "cpp32": (1e-9, 1e-4),
    }.items():
        assert {own.array for own in worst[kind]} == {"qdd"} and len(worst[kind]) in (1, 2)
        assert all(low < own.relative(scale) < high for own in worst[kind] for scale in SCALES)


def test_results_are_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = ("pendulum", "fixed", "m", ())
    monkeypatch.setattr("rbdgen_benchmarks.bench.cpu.CASES", (case,))
    monkeypatch.setattr("rbdgen_benchmarks.bench.cpu.STATES", 100)
    monkeypatch.setattr("rbdgen_benchmarks.compare.timing.PROCESSES", 1)
    found = json.loads(json.dumps(cpu(tmp_path, lambda _: None)))["results"]["pendulum m"]
    assert found["ns"]["cpp"]["one"] > 0 and found["binding"]["instructions"] > 0
    assert "of the port bound" in (tmp_path / "cpu.md").read_text("utf-8")


def test_tables() -> None:
    ours = dict.fromkeys(BOUNDARIES, 10.0) | {"rows": 12.0}
    ns = {"cpp": ours, "cpp32": dict.fromkeys(BOUNDARIES, 5.0)}
    scales = {"at the limits": {"relative": 1e-7, "rms": 1.0, "largest": 2.0}}
    off = {"row": "tau[1]", "joint": "", "unit": "N·m", "effort": None, "scales": scales}
    result = {"ns": ns, "errors": {kind: [off] for kind in ("cpp", "cpp32", GOLDEN)}}
    assert _ratios("a", result)[1:10] == ["-"] * 6 + [2.0, 1.2, 1.0]
    assert _ratios("a", result)[10:] == ["tau[1] 1.0e-07"] * 3
    ns |= dict(zip(PEERS, (100.0, 40.0, 50.0), strict=True))
    assert _ratios("a", result)[1:7] == [10.0, 4.0, 5.0] * 2
    assert len(_ratios("a", result)) == len(RATIOS)
    assert len(_times("a", ns)) == len(HEAD)


def test_residues_are_zeros() -> None:
    """Of a URDF's angles nothing is left that generated code would compute with."""
    words = _tree(load("iiwa14")[1]).split()
    numbers = [float(x) for x in words if x != "revolute"]
    assert all(x == 0 or abs(x) > 1e-9 for x in numbers)
