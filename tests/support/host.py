"""The example in C that is written beside a bitstream, compiled."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from rbdgen.api import read_manifest

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion")


def example(folder: Path, place: Path, into: Path) -> Path:
    """The program of the example in ``place``, of the accelerator in ``folder``; no warning."""
    source, program = place / f"{read_manifest(folder)['name']}_example.c", into / "example"
    assert COMPILER is not None
    patient = "-DPATIENCE=12000"  # ms, of a simulation on a machine that has more to do
    command = [COMPILER, "-std=gnu99", *WARNINGS, patient, f"-I{folder}", source, "-o", program]
    done = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program
