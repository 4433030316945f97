"""Files with something wrong in them: what becomes of each is counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rbdgen.api.results import Mismatch
from rbdgen.robot.model import Robot
from rbdgen.robot.urdf import parse_urdf
from rbdgen_benchmarks.bench import fuzz_urdf


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_urdf, "FILES", 60)


def test_each_is_refused_or_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (found,) = fuzz_urdf.mutated_robots(tmp_path, lambda _: None)
    assert found["files"] == sum(found[own] for own in list(found)[1:]) == 60
    assert found["refused"] > 10
    assert found["as Pinocchio"] > 5
    assert not found["traceback"]
    assert not found["differs"]
    assert (tmp_path / "fuzz-urdf.md").is_file()
    assert "urdfdom" not in capfd.readouterr().err


def test_another_robot_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def heavier(*arguments: str, **options: str) -> Robot:
        robot = parse_urdf(*arguments, **options)
        last = robot.joints[-1]
        body = replace(last.inertia, mass=last.inertia.mass + 1e-6)
        return robot.with_joints([*robot.joints[:-1], replace(last, inertia=body)])

    monkeypatch.setattr(fuzz_urdf, "parse_urdf", heavier)
    with pytest.raises(Mismatch, match=r"0 tracebacks, [1-9]"):
        fuzz_urdf.mutated_robots(tmp_path, lambda _: None)
    assert (tmp_path / "differs-1.urdf").read_text().startswith("<robot")


def test_a_traceback_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: str, **__: str) -> Robot:
        raise ZeroDivisionError

    monkeypatch.setattr(fuzz_urdf, "FILES", 3)
    monkeypatch.setattr(fuzz_urdf, "parse_urdf", fails)
    with pytest.raises(Mismatch, match="3 tracebacks, 0 other robots"):
        fuzz_urdf.mutated_robots(tmp_path, lambda _: None)
