"""Lint of every kind of generated Verilog: no warning that has no reason beside it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rbdgen.api.verilog import shells_of
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.shell.emit import Off, emit, stream_shells, verilog_file
from rbdgen.tools.toolchain import YOSYS, run_tool
from tests.support.lint import check_head, check_lint, icarus_says, said
from tests.support.made import accelerate, generated

pytestmark = pytest.mark.rtl
CORES: dict[str, dict[str, Any]] = {
    "multipliers_shared": {"ii": 4},
    "joints_in_turn": {"ii": 6, "fold": "joints"},
    "latency": {"style": "latency", "clock": 20.0},
    "reciprocals": {"functions": ("fd",), "ii": 3, "target": "xcup"},
    "registers": {"parameters": "registers", "target": "gw2a-18"},
    "scans": {"formulation": "logarithmic"},
    "scans_of_forces": {"formulation": "lathrop-log"},
    "frames": {"functions": ("pose", "jac"), "frames": ("all",), "ii": 2},
}
ACCELERATORS: dict[str, dict[str, Any]] = {
    "slots": {"functions": ("id", "fd"), "ii": 4, "slots": 4},
    "rollouts": {"functions": ("euler", "id"), "ii": 8},
    "joints_of_stages": {"functions": ("id", "did"), "ii": 32, "fold": "joints"},
}
LIMBS = {"ii": 4, "functions": ("id",)}
OFF = (Off("a word is true if its first bit is", "WIDTH", "width-trunc", "line-length"),)


def check_files(subtests: pytest.Subtests, files: dict[str, str], name: str, place: Path) -> None:
    """The Verilog of a core called ``name``, by itself and in each shell."""
    sources = {file: place / file for file in files if file.endswith(".v")}
    for file, source in sources.items():
        source.write_text(files[file])
    core = sources.pop(f"{name}.v")
    assert sources
    for shell in sources.values():
        check_lint(subtests, [core, shell], shell.stem)
        with subtests.test("icarus", top=shell.stem):
            assert icarus_says([core, shell], shell.stem) == []
    check_lint(subtests, [core], name)
    yosys_takes([core, *sources.values()])


def yosys_takes(sources: Sequence[Path]) -> None:
    """It says nothing of any of the modules, nor of what they become."""
    place, names = sources[0].parent, " ".join(source.name for source in sources)
    script = place / "script.ys"
    script.write_text(f"read_verilog {names}\nhierarchy -check\nproc\ncheck -assert\n")
    run_tool(YOSYS, ["-q", "-e", ".", "-s", script.name], place)  # what it says is an error


def test_a_core_and_its_shells(tmp_path: Path, subtests: pytest.Subtests) -> None:
    made = emit(compile_front(front_end("pendulum")).accelerator, "core", stream_shells)
    check_files(subtests, made.files, "core", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CORES)
def test_cores(kind: str, tmp_path: Path, subtests: pytest.Subtests) -> None:
    made = emit(
        compile_front(front_end("pendulum", **CORES[kind])).accelerator, kind, stream_shells
    )
    check_files(subtests, made.files, kind, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ACCELERATORS)
def test_accelerators(kind: str, tmp_path: Path, subtests: pytest.Subtests) -> None:
    made = accelerate("pendulum", accelerator=True, **ACCELERATORS[kind])
    emitted = emit(made.accelerator, kind, partial(shells_of, made=made, identity=1))
    check_files(subtests, emitted.files, kind, tmp_path)


@pytest.mark.slow
def test_limbs_in_turn(tmp_path: Path, subtests: pytest.Subtests) -> None:
    made = emit(compile_front(front_end("hyq", **LIMBS)).accelerator, "limbs", stream_shells)
    check_files(subtests, made.files, "limbs", tmp_path)


@pytest.mark.slow
def test_a_controller_with_ticks(tmp_path: Path, subtests: pytest.Subtests) -> None:
    folder = generated("pendulum", name="law", controller="computed-torque", tick=1000)
    files = {own.name: own.read_text() for own in folder.glob("*.v")}
    assert "law_control.v" in files
    check_files(subtests, files, "law", tmp_path)


def test_other_files_are_checked_as_before(tmp_path: Path) -> None:
    """What a file switches off is off in it alone, and what its reader had off stays off."""
    made, own = sources = [tmp_path / "made.v", tmp_path / "own.v"]
    made.write_text(verilog_file("module made (input [3:0] a, output b = a); endmodule\n", OFF))
    own.write_text("module own (input [3:0] c, output d); made m (c, d); wire e = c; endmodule\n")
    found = said(sources, "own")
    assert found and all("own.v" in line for line in found if "%Warning" in line)
    assert said(sources, "own", "-Wno-WIDTH") == []


def test_a_reason_stands_beside_each() -> None:
    text = "module a;\nendmodule\n"
    check_head(verilog_file(text, OFF))
    assert verilog_file(text) == f"`timescale 1ns / 1ps\n{text}"
    for wrong in ("", "x"):
        with pytest.raises(AssertionError):
            check_head(verilog_file(text, (Off(wrong, "WIDTH"),)))
    with pytest.raises(AssertionError):
        check_head(text)
