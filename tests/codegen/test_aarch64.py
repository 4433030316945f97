"""The C++ on aarch64, whose vectors are NEON's, by Debian's cross compiler and emulator."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rbdgen import api

COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
LACKING = [tool for tool in (COMPILER, EMULATOR) if shutil.which(tool) is None]


@pytest.mark.slow
@pytest.mark.skipif(bool(LACKING), reason=f"no {', '.join(LACKING)}")
def test_the_example_finds_what_is_expected(tmp_path: Path) -> None:
    made = api.generate("pendulum", tmp_path / "made", to="cpp", functions=("fd", "did")).folder
    sources = [str(file) for file in sorted(made.glob("*.cpp"))]
    example, check = made / "example", ["--check", made / "expected.txt", made / "states.txt"]
    command = [COMPILER, "-O1", "-static", *sources, made / "example.c", "-o", example]
    subprocess.run(command, check=True)
    for options in ([], ["--float"]):
        command = [EMULATOR, example, *options, *check]
        found = subprocess.run(command, capture_output=True, text=True)
        assert found.returncode == 0 and "16 states" in found.stdout, found.stderr
