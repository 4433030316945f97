"""Launch bounds: guessed from a graph, and as ptxas' figures have them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rbdgen import api
from rbdgen.codegen import nvcc
from rbdgen.codegen.nvcc import Kernel, Use, most_blocks, settled
from tests.support.nvcc import needed_nvcc

FREE = Use("kernel_0", "sm_90", "float", 100, 0, 0, 0, 10_000)
KERNEL = Kernel(1000, 90, blocks_f32=4, blocks_f64=3)


def test_registers_and_blocks() -> None:
    """A multiprocessor has 65536 registers, given to threads eight at a time."""
    for blocks in range(2, 9):
        registers = 65536 // (128 * blocks) // 8 * 8
        assert most_blocks(registers) == blocks
    assert most_blocks(255) == most_blocks(500) == 2 and most_blocks(10) == 8


def test_where_it_spills_there_are_fewer_blocks() -> None:
    spilt = replace(FREE, architecture="sm_80", spill_loads=8)
    once = settled([KERNEL], [FREE, spilt], first=True)
    assert once == (replace(KERNEL, blocks_f32=3),)  # of double nothing is known
    twice = settled(once, [FREE, spilt], first=False)
    assert twice == (replace(KERNEL, blocks_f32=2),)
    assert settled(twice, [FREE, spilt], first=False) == twice


def test_where_registers_are_left_there_are_more_blocks_once() -> None:
    few = replace(FREE, scalar="double", registers=80)
    assert settled([KERNEL], [FREE, few], first=True) == (replace(KERNEL, blocks_f64=6),)
    assert settled([KERNEL], [FREE, few], first=False) == (KERNEL,)
    other = replace(few, kernel="to_rows", spill_stores=4)
    assert settled([KERNEL], [other], first=True) == (KERNEL,)


def test_the_manifest_has_what_ptxas_says(tmp_path: Path) -> None:
    needed_nvcc()
    said: list[str] = []
    choices = {"functions": ("fd",), "to": "cuda"}
    made = [api.generate("pendulum", tmp_path / name, said.append, **choices) for name in "ab"]
    for file in made[0].folder.iterdir():
        assert file.read_bytes() == (made[1].folder / file.name).read_bytes()
    assert f"nvcc {nvcc.version()} for sm_80 and sm_90" in said
    facts = made[0].manifest.program.facts
    assert facts["ptxas"]["nvcc"] == nvcc.version() and facts["ptxas"]["flags"]
    (kernel,) = facts["kernels"]
    used = [own for own in facts["ptxas"]["kernels"] if own["kernel"] == "kernel_0"]
    assert len(used) == 4  # two architectures, float and double
    for own in used:
        assert 0 < own["registers"] <= 255 and 0 < own["code"] < 100_000
        assert own["spill_stores"] == own["spill_loads"] == 0
    registers = max(own["registers"] for own in used if own["scalar"] == "double")
    assert kernel["blocks_f64"] >= most_blocks(registers)
    text = (made[0].folder / "README.md").read_text()
    assert text.count("| `kernel_0` | sm_") == 4


def test_without_nvcc_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rbdgen.codegen.nvcc.os.access", lambda *_: False)
    said: list[str] = []
    choices = {"functions": ("id",), "to": "cuda"}
    made = api.generate("pendulum", tmp_path / "made", said.append, **choices)
    (note,) = (line for line in said if "nvcc" in line)
    assert note.startswith("note: no nvcc; install CUDA, or: pip install nvidia-cuda-nvcc")
    assert note.endswith("are not known; their launch bounds are guessed from the graph")
    manifest = json.loads((made.folder / "manifest.json").read_text())
    assert note.removeprefix("note: ") in manifest["notes"]
    assert made.manifest.program.facts["ptxas"] is None
    assert "not known: no nvcc has said so" in (made.folder / "README.md").read_text()


def test_nvcc_is_not_asked_about_the_longest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take minutes for them; a folder says that, and is the same everywhere."""
    monkeypatch.setattr("rbdgen.api.programs.MEASURED", 10)
    monkeypatch.setattr("rbdgen.codegen.nvcc.version", pytest.fail)
    made = api.generate("pendulum", tmp_path / "made", functions=("id",), to="cuda")
    assert sum("nvcc takes minutes" in own for own in made.manifest.program.notes) == 1
    assert made.manifest.program.facts["ptxas"] is None
