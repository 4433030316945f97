"""Programs of a design for all robots of a model: what registers hold comes with each call."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rbdgen.api import generate, read_manifest
from rbdgen.codegen import hls_functions
from rbdgen.codegen.hls_program import headers
from tests.support.hls_bench import BEAT, STREAM, run
from tests.support.marks import slow


@pytest.mark.parametrize(
    ("function", "code"),
    [
        ("id", "inlined"),
        pytest.param("fd", "inlined", marks=pytest.mark.slow),
        slow(("did", "loops")),
    ],
)
def test_cpp_takes_an_array_more(function: str, code: str, tmp_path: Path) -> None:
    """Its example gives what the graph does, of states each of which is another robot's."""
    choices = {"functions": (function,), "code": code, "parameters": "registers"}
    made = generate("pendulum", tmp_path / "made", to="cpp", **choices).folder
    sources = [str(file) for file in sorted(made.glob("*.cpp"))]
    example = str(made / "example")
    command = ["g++", "-O0", "-x", "c", str(made / "example.c"), "-x", "c++", *sources]
    subprocess.run([*command, "-o", example], check=True)
    files = ["--check", str(made / "expected.txt"), str(made / "states.txt")]
    done = subprocess.run([example, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "16 states" in done.stdout
    rows = [line.split() for line in (made / "states.txt").read_text().splitlines()]
    registers = {tuple(row[6:]) for row in rows}  # behind three arrays of two
    assert len(registers) == 16


def test_cuda_takes_one_array_for_all_states(tmp_path: Path) -> None:
    """Compiled for the CPU, its example gives what the graph does of its own robot."""
    choices = {"parameters": "registers", "name": "swing"}
    made = generate("pendulum", tmp_path / "made", to="cuda", **choices).folder
    sources = [
        "-x",
        "c++",
        str(made / "swing.cu"),
        "-x",
        "c",
        str(made / "example.c"),
    ]
    example = str(made / "example")
    subprocess.run(["g++", "-O1", "-DSWING_HOST", *sources, "-o", example, "-lm"], check=True)
    interface = read_manifest(made).program.interface
    assert "parameter" not in [array.name for array in interface.takes]
    assert interface.same is not None
    assert interface.same.shape == (5,)
    for scalar in ([], ["--float"]):
        check = [example, *scalar, "--check", str(made / "expected.txt"), str(made / "states.txt")]
        done = subprocess.run(check, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "16 states" in done.stdout


def test_hls_takes_a_struct_beside_the_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own words, and with any, which each of several functions gets that reads them."""
    monkeypatch.setattr(hls_functions, "LONGEST", 15)
    choices = {"functions": ("id",), "parameters": "registers", "fit": False, "name": "swing"}
    made = generate("pendulum", tmp_path / "made", to="hls", **choices).folder
    facts = read_manifest(made)["facts"]
    words = facts["parameters"]
    rows = [line.split() for line in (made / "words.txt").read_text().splitlines()]
    own = [str(word["word"]) for word in words]
    assert [row[-len(own) :] == own for row in rows] == [True] * 16 + [False] * 16
    text = (made / "swing.cpp").read_text()
    assert text.count("#pragma HLS INTERFACE s_axilite port=parameters.") == len(words)
    assert facts["functions"] > 3
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "hls_stream.h").write_text(STREAM)
    (tools / "ap_axi_sdata.h").write_text(BEAT)
    for flags in ([], ["-I", str(tools)]):
        assert run(made, "swing", *flags) == "32 states, 0 words and flags differ\n"


def test_hls_begins_with_the_words_of_its_own_robot(tmp_path: Path) -> None:
    choices = {"parameters": "registers", "fit": False, "name": "swing"}
    made = generate("pendulum", tmp_path / "made", to="hls", **choices).folder
    words = read_manifest(made)["facts"]["parameters"]
    printed = "".join(f"    std::cout << words.{word['field']} << '\\n';\n" for word in words)
    (made / "own.cpp").write_text(
        '#include "swing.h"\n#include <iostream>\n'
        f"int main()\n{{\n    swing_parameters words;\n{printed}}}\n"
    )
    command = ["g++", "-std=c++17", "-isystem", str(headers()), str(made / "own.cpp")]
    subprocess.run([*command, "-o", str(made / "own")], check=True)
    found = subprocess.run([made / "own"], check=True, capture_output=True, text=True).stdout
    assert [int(line) for line in found.split()] == [word["word"] for word in words]
