"""Programs of a design for all robots of a model: what registers hold comes with each call."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rbdgen.api import generate


@pytest.mark.parametrize("function", ["id", pytest.param("fd", marks=pytest.mark.slow)])
def test_cpp_takes_an_array_more(function: str, tmp_path: Path) -> None:
    """Its example gives what the graph does, of states each of which is another robot's."""
    made = generate(
        "pendulum", tmp_path / "made", to="cpp", functions=(function,), parameters="registers"
    ).folder
    sources = [str(file) for file in sorted(made.glob("*.cpp"))]
    example = str(made / "example")
    command = ["g++", "-O1", "-x", "c", str(made / "example.c"), "-x", "c++", *sources]
    subprocess.run([*command, "-o", example], check=True)
    files = ["--check", str(made / "expected.txt"), str(made / "states.txt")]
    done = subprocess.run([example, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "16 states" in done.stdout
    rows = [line.split() for line in (made / "states.txt").read_text().splitlines()]
    registers = {tuple(row[6:]) for row in rows}  # behind three arrays of two
    assert len(registers) == 16
