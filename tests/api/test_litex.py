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
PICOLIBC = Path("/usr/lib/picolibc/riscv64-unknown-elf/lib")
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
    code, out, errors = run(f"{name}_sim.py", example, tmp_path, "--port", str(free_port()))
    words = sum(map(len, packets["answers"]))
    line = f"64 tasks, {words} words of responses, 1 differ\n"
    assert (code, out[-len(line) :]) == (1, line), errors


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def run(script: str, place: Path, build: Path, *options: str) -> tuple[int | None, str, str]:
    """The exit status of a script in its folder, and what it prints."""
    command = [sys.executable, script, "--build", str(build), *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # A simulation that never ends by itself is killed with its host.
    with child(command, cwd=place, **pipes) as process:
        out, errors = process.communicate(timeout=LONGEST)
    return process.returncode, out, errors


# Another core, and the accelerator, beside the core of the example.
THREE = """
import argparse, json, sys
from pathlib import Path

places = [Path(own) for own in PLACES]
sys.path += [str(place) for place in places]
import torque_sim, mass_sim, many_sim
from litex.build.sim import SimPlatform

parser = argparse.ArgumentParser()
parser.add_argument("--build", type=Path)
parser.add_argument("--port", type=int)
options = parser.parse_args()
platform = SimPlatform("SIM", torque_sim.SERIAL)
soc = torque_sim.SoC(platform)
mass_sim.Mass(platform).add_to(soc, "mass")
many_sim.Many(platform).add_to(soc, "many", many_sim.REGISTERS)
of = {"rbd": torque_sim, "mass": mass_sim, "many": many_sim}
with torque_sim.simulated(soc, options.build, options.port) as host:
    for place, (name, module) in zip(places, of.items(), strict=True):
        (file,) = place.glob("*_packets.json")
        packets = json.loads(file.read_text())
        wrong = module.run(host, packets["tasks"], packets["answers"], name)
        print(f"{name}: {len(packets['tasks'])} tasks, {wrong} differ")
"""


@pytest.mark.rtl
@pytest.mark.slow
def test_two_cores_and_an_accelerator_in_one(tmp_path: Path) -> None:
    _needed()
    many = {"functions": ("id", "m"), "accelerator": True, "ii": 8}
    kinds = {"torque": {}, "mass": {"functions": ("m",), "width": 16}, "many": many}
    for name, choices in kinds.items():
        generate("pendulum", tmp_path / name, name=name, **choices)
        package_litex(tmp_path / name)
    places = [str(tmp_path / name / "litex") for name in kinds]
    (tmp_path / "three.py").write_text(THREE.replace("PLACES", repr(places)))
    code, out, errors = run("three.py", tmp_path, tmp_path / "built", "--port", str(free_port()))
    lines = [f"{name}: 64 tasks, 0 differ" for name in ("rbd", "mass", "many")]
    assert (code, out.splitlines()[-3:]) == (0, lines), errors


@pytest.mark.rtl
@pytest.mark.slow
def test_firmware_on_a_vexriscv(packaged: Path, tmp_path: Path) -> None:
    """Tasks one by one with interrupts, and all at once; one bit of one response is made wrong."""
    name = name_of(packaged)
    if packaged.parent.name == "core":
        assert not (packaged / f"{name}_firmware.c").exists()
        return
    _needed()
    for own in ("cpu_vexriscv", "software_picolibc", "software_compiler_rt"):
        pytest.importorskip(f"pythondata_{own}", reason=f"no {own}: pip install rbdgen[dev]")
    if shutil.which("riscv64-unknown-elf-gcc") is None or not PICOLIBC.exists():
        pytest.skip("apt-get install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf")
    shutil.copytree(packaged.parent, tmp_path / "all")
    example = tmp_path / "all" / "litex"
    file = example / f"{name}_packets.json"
    packets = json.loads(file.read_text())
    packets["answers"][20][1] ^= 1
    file.write_text(json.dumps(packets))
    code, out, errors = run(f"{name}_soc.py", example, tmp_path / "built")
    words = sum(map(len, packets["answers"]))
    lines = ["8 interrupts", f"64 tasks, {words} words of responses, 1 differ", "FAIL"]
    at = out.splitlines().index(lines[0])
    assert (code, out.splitlines()[at : at + 3]) == (1, lines), errors
