"""Generated folders as modules for LiteX; where LiteX is, it simulates their example."""

from __future__ import annotations

import ast
import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rbdgen.api import generate
from rbdgen.api.fusesoc import NOTE, package_litex
from rbdgen.system.signals import child

NAMES = {"accelerator": "pendulum_ii8_accelerator_id_m", "core": "pendulum_registers_id"}
LONGEST = 1200.0  # seconds for what takes twenty
HEADERS = ("event2/listener.h", "json-c/json.h", "zlib.h")


@pytest.fixture(scope="module", params=NAMES)
def packaged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("litex") / str(request.param)
    if request.param == "core":
        generate("pendulum", place, parameters="registers")
    else:
        generate("pendulum", place, accelerator=True, functions=("id", "m"), ii=8)
    assert package_litex(place) == (place / "litex", [NOTE])
    return place / "litex"


def name_of(packaged: Path) -> str:
    return NAMES[packaged.parent.name]


def test_what_is_written(packaged: Path) -> None:
    name = name_of(packaged)
    for kind in ("litex", "sim"):
        text = (packaged / f"{name}_{kind}.py").read_text()
        ast.parse(text)
        assert max(map(len, text.splitlines())) <= 100
    module = (packaged / f"{name}_litex.py").read_text()
    packets = json.loads((packaged / f"{name}_packets.json").read_text())
    words_in = ast.literal_eval(module.partition("WORDS_IN = ")[2].partition("  #")[0])
    if packaged.parent.name == "core":
        assert {len(task) for task in packets["tasks"]} == {words_in}
    else:
        assert {task[0] & 0xFF: len(task) - 1 for task in packets["tasks"]} == words_in
    assert len(packets["answers"]) == len(packets["tasks"]) == 64


def _needed() -> None:
    """Skip unless LiteX can simulate here."""
    pytest.importorskip("litex", reason="no LiteX: pip install rbdgen[dev]")
    if shutil.which("verilator") is None:
        pytest.skip("no verilator that brings a makefile: apt-get install verilator")
    includes = "".join(f"#include <{header}>\n" for header in HEADERS)
    command = ["g++", "-E", "-x", "c++", "-"]
    found = subprocess.run(command, input=includes, text=True, capture_output=True, check=False)
    if found.returncode:
        pytest.skip("apt-get install libevent-dev libjson-c-dev zlib1g-dev")


@pytest.mark.rtl
@pytest.mark.slow
def test_simulated_by_litex(packaged: Path, tmp_path: Path) -> None:
    """Registers, streams, both DMAs and their CSRs; one bit of one answer is made wrong."""
    _needed()
    shutil.copytree(packaged.parent, tmp_path / "all")
    example = tmp_path / "all" / "litex"
    name = name_of(packaged)
    file = example / f"{name}_packets.json"
    packets = json.loads(file.read_text())
    packets["answers"][5][1] ^= 1
    file.write_text(json.dumps(packets))
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [sys.executable, f"{name}_sim.py", "--build", str(tmp_path), "--port", str(port)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # The simulation, which never ends by itself, is killed with its host.
    with child(command, cwd=example, **pipes) as process:
        out, errors = process.communicate(timeout=LONGEST)
    words = sum(map(len, packets["answers"]))
    line = f"64 tasks, {words} words of responses, 1 differ\n"
    assert (process.returncode, out[-len(line) :]) == (1, line), errors
