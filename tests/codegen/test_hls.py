"""C++ for high-level synthesis, compiled with the open headers of ap_int: every word and flag."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.integer_model import hls_program, integer_results
from rbdgen.api.vectors import sampled_words
from rbdgen.codegen import hls_functions
from rbdgen.codegen.c_file import rows
from rbdgen.codegen.hls_integers import HlsIntegers, units
from rbdgen.codegen.hls_program import WIDEST, headers, hls_files, stream
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.graph.fixed import FixedGraph, Format, Integers
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node
from rbdgen.graph.verify import verify_fixed
from rbdgen.schedule.plan import flagged_outputs
from rbdgen.system.records import NamedWord
from tests.support.hls_bench import BEAT, STREAM, run, run_kernel
from tests.support.integer_graphs import ABOUT, all_words, expected


def written(
    folder: Path,
    fixed: FixedGraph,
    flagged: Mapping[Node, frozenset[int]],
    words: Mapping[str, Integers],
) -> None:
    """The folder of a graph, with words and what is right."""
    found, flags = expected(fixed, flagged, words)
    files, _ = hls_files(fixed, flagged, {}, 1, 0, "made", ABOUT)
    files["words.txt"] = rows(list(words.values()))
    files["expected_words.txt"] = rows([*found.T, *flags.T.astype(np.int64)])
    for name, text in files.items():
        (folder / name).write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "functions", "ii"),
    [("iiwa14", ("did", "m"), 24), ("baxter", ("id",), 24)],
    ids=["did-m", "baxter"],
)
def test_loops_are_the_program_that_joints_take_turns_in(
    robot: str, functions: tuple[str, ...], ii: int, tmp_path: Path
) -> None:
    """Whatever words come in: half of the states raise flags."""
    front = front_end(robot, functions=functions, fold="joints", ii=ii, code="loops")
    core = compile_front(front)
    files, facts = hls_program(core, "made")
    assert facts["code"] == "loops" and facts["functions"] < 15
    words = sampled_words(core, 500, 2)
    found, flags = expected(core.fixed, flagged_outputs(core.plan), words)
    assert flags.any() and not flags.all()
    files["words.txt"] = rows(list(words.values()))
    files["expected_words.txt"] = rows([*found.T, *flags.T.astype(np.int64)])
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert run(tmp_path, "made") == "1000 states, 0 words and flags differ\n"


def of_one_word() -> tuple[FixedGraph, dict[Node, frozenset[int]]]:
    """x, and x and less than a bit, which is the same word; other regions read both, and one."""
    b = Builder()
    with b.region("forward", 0):
        x = b.input("x")
        y = b.add(x, b.const(1e-9))
    with b.region("forward", 1):
        z = b.mul(x, y)
    with b.region("backward", 0):
        w = b.sub(z, y)
    word = Format(12, 6)
    formats = dict.fromkeys(Graph((), {"w": w}).nodes, word)
    fixed = FixedGraph(Graph(("x",), {"w": w, "y": y}), {"x": word}, formats, 12, {})
    return verify_fixed(fixed), {z: frozenset({0}), w: frozenset({0})}


def test_each_name_is_declared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hls_functions, "LONGEST", 1)
    fixed, flagged = of_one_word()
    written(tmp_path, fixed, flagged, all_words(np.random.default_rng(1), fixed, 500))
    assert run(tmp_path, "made") == "500 states, 0 words and flags differ\n"
    body = HlsIntegers(units("made").tables)
    body.let("own", body.bit("1"))
    with pytest.raises(ValueError, match="own is declared twice"):
        body.let("own", body.bit("0"))


@pytest.mark.parametrize(("limit", "calls"), [(0, "INLINE off"), (3, "INLINE")])
def test_pragmas_stand_where_they_apply(
    limit: int, calls: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit reaches what is in-lined where it stands; else each function has its pipeline."""
    monkeypatch.setattr(hls_functions, "LONGEST", 1)
    fixed, flagged = of_one_word()
    files, facts = hls_files(fixed, flagged, {}, 2, limit, "made", ABOUT)
    top, *others = reversed(files["made.cpp"].split("#ifdef")[0].split("void made"))
    assert "#pragma HLS INLINE off\n#pragma HLS PIPELINE II=2\n" in top
    assert ("#pragma HLS ALLOCATION operation instances=mul limit=3\n" in top) == bool(limit)
    assert facts["functions"] == 2  # and none of a region without a statement
    inner = [text for text in others if text.startswith("_")]
    assert len(inner) == 2
    for text in inner:
        assert f"#pragma HLS {calls}\n" in text
        assert ("#pragma HLS PIPELINE II=2\n" in text) != bool(limit)
    assert files["made.tcl"].endswith("cosim_design\nexport_design -format ip_catalog\nexit\n")
    assert "UG1399" in files["README.md"]


@pytest.mark.parametrize(("flagging", "bits"), [("", 0), ("word", 1), ("angle", 0)])
def test_an_overflow_is_a_bit_where_it_flags_something(flagging: str, bits: int) -> None:
    """No angle overflows, as it is meant to wrap around."""
    b = Builder()
    x, y = b.input("x"), b.input("y")
    nodes = {"word": b.add(x, y), "angle": b.sub(x, y)}
    word = Format(12, 6)
    formats = {x: word, y: word, nodes["word"]: word, nodes["angle"]: replace(word, wraps=True)}
    fixed = FixedGraph(Graph(("x", "y"), nodes), {"x": word, "y": word}, formats, 12, {})
    flagged = {nodes[name]: frozenset({0}) for name in (flagging,) if name}
    files, _ = hls_files(verify_fixed(fixed), flagged, {}, 1, 0, "made", ABOUT)
    assert len(re.findall(r"\w+_over = ", files["made.cpp"])) == bits


def test_products_by_constants_take_no_multiplier() -> None:
    for by in (1, 3, 7, 6434, 411775):
        body = HlsIntegers(units("made").tables)
        found = body.multiple(body.declare("x", -5, 9), by)
        assert (found.low, found.high) == (-5 * by, 9 * by)
        assert not any("*" in line for line in body.statements)


def test_a_function_for_each_region_through_streams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the bench fails where a word, a flag or TLAST is another."""
    monkeypatch.setattr(hls_functions, "LONGEST", 50)
    made = api.generate(
        "pendulum",
        tmp_path / "made",
        to="hls",
        functions=("fd",),
        width=18,
        ii=2,
        name="pendulum_ii2_fd",
    )
    facts = made.manifest.program.facts
    text = (made / "pendulum_ii2_fd.cpp").read_text()
    assert text.count("#pragma HLS INLINE\n") >= facts["functions"] > 3
    assert text.count("#pragma HLS PIPELINE II=2\n") == 2 == facts["interval"]
    assert "limit=8\n" in text
    assert "BIND_OP" not in text
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "hls_stream.h").write_text(STREAM)
    (tools / "ap_axi_sdata.h").write_text(BEAT)
    assert run(made.folder, "pendulum_ii2_fd", "-I", str(tools)) == (
        "32 states, 0 words and flags differ\n"
    )
    # of a file that is named it prints the numbers
    command = [made / "tb", made / "words.txt"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    scales = [2.0 ** -word["fraction"] for word in facts["outputs"]]
    words = np.loadtxt(made / "expected_words.txt")[:, : len(scales)] * scales
    np.testing.assert_allclose(np.loadtxt(printed.splitlines()), words, rtol=1e-8)
    assert subprocess.run([made / "tb", "nosuch.txt"], capture_output=True).returncode == 2
    right = (made / "expected_words.txt").read_text().split()
    place = tmp_path / "wrong.txt"
    for at in (0, len(right) - 1):
        wrong = [*right]
        wrong[at] = str(1 - int(wrong[at]))
        place.write_text(" ".join(wrong))
        done = subprocess.run(
            [made / "tb", made / "words.txt", place], capture_output=True, text=True
        )
        assert done.returncode == 1 and ", 1 words and flags differ" in done.stderr
        assert done.stdout == printed


@pytest.mark.parametrize(
    ("choices", "registers"),
    [
        ({"functions": ("g",), "width": 16}, False),
        pytest.param(
            {"functions": ("g",), "parameters": "registers", "fit": False},
            True,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"functions": ("id",), "fold": "joints", "ii": 16, "code": "loops"},
            False,
            marks=pytest.mark.slow,
        ),
    ],
    ids=["inlined", "registers", "loops"],
)
def test_a_kernel_and_its_host(choices: dict[str, Any], registers: bool, tmp_path: Path) -> None:
    """Through memories; the host sees a word that is wrong."""
    made = api.generate("pendulum", tmp_path / "made", to="hls", name="own", **choices).folder
    said = run_kernel(made, "own", tmp_path / "tools", registers)
    assert said == "32 states, 0 words and flags differ\n"
    kernel = (made / "own_kernel.cpp").read_text()
    assert kernel.count("#pragma HLS INTERFACE m_axi") == 2 + registers
    compute = kernel.split("void own_compute(")[1].split("void own_store(")[0]
    assert ("#pragma HLS PIPELINE II=" in compute) != ("code" in choices)
    right = (made / "expected_words.txt").read_text().split()
    right[-1] = str(1 - int(right[-1]))
    (made / "expected_words.txt").write_text(" ".join(right))
    command = [str(tmp_path / "tools" / "host"), "own.xclbin"]
    done = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "32 states, 1 words and flags differ\n")


def test_scripts_of_the_tools(tmp_path: Path) -> None:
    """Tcl, make and configurations, by stubs that write down what they are asked."""
    made = api.generate(
        "pendulum", tmp_path / "made", to="hls", functions=("g",), name="own"
    ).folder
    tkinter = pytest.importorskip("tkinter", reason="Python is without Tcl")
    tcl = tkinter.Tcl()
    said: list[tuple[str, ...]] = []
    commands = (
        *("open_project", "set_top", "add_files", "open_solution", "set_part", "create_clock"),
        *("csim_design", "csynth_design", "cosim_design", "export_design", "exit"),
    )
    for command in commands:
        tcl.createcommand(command, lambda *words, own=command: said.append((own, *words)))
    tcl.eval(f"source {{{made / 'own.tcl'}}}")
    assert [own[0] for own in said if own[0] != "add_files"] == [
        own for own in commands if own != "add_files"
    ]
    assert ("set_top", "own_axis") in said and ("export_design", "-format", "ip_catalog") in said
    files = [Path(word) for own in said if own[0] == "add_files" for word in own if "/" in word]
    assert len(files) == 4 and all(file.is_file() for file in files)

    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("v++", "vitis-run", "g++"):
        (tools / tool).write_text(f'#!/bin/sh\necho {tool} "$@"\n')
        (tools / tool).chmod(0o755)
    steps = ["csim", "cosim", "package", "xclbin", "host"]
    done = subprocess.run(
        ["make", "-s", "-f", "own.mk", *steps, "CXX=g++", "XILINX_XRT=/xrt", "PLATFORM=card"],
        cwd=made,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "MAKEFLAGS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    component = "--config own.cfg --work_dir own_hls"
    assert done.stdout.splitlines() == [
        f"vitis-run --mode hls --csim {component}",
        f"v++ -c --mode hls {component}",
        f"vitis-run --mode hls --cosim {component}",
        f"vitis-run --mode hls --package {component}",
        "v++ -c --mode hls --platform card --config own_kernel.cfg --work_dir own_kernel_hls",
        "v++ -l -t hw --platform card own_kernel.xo -o own.xclbin",
        "g++ -std=c++17 -O2 -I/xrt/include own_host.cpp -o own_host -L/xrt/lib -lxrt_coreutil "
        "-pthread",
    ]
    for file, target, top in (("own.cfg", "vivado", "axis"), ("own_kernel.cfg", "vitis", "kernel")):
        lines = [
            line for line in (made / file).read_text().splitlines() if not line.startswith("#")
        ]
        settings = [line.partition("=")[::2] for line in lines if "=" in line]
        named = [value for key, value in settings if key in ("syn.file", "tb.file")]
        assert all((made / name).is_file() for name in named)
        assert ("flow_target", target) in settings and ("syn.top", f"own_{top}") in settings
        assert any(f"void own_{top}(" in (made / name).read_text() for name in named)
        assert "[hls]" in lines


def test_words_lie_in_one_beat_each() -> None:
    words = [NamedWord(str(k), 3 + k % 30) for k in range(100)]
    found = stream(words)
    assert found.bits == WIDEST and len(found.beats) > 2
    for k, beat in enumerate(found.beats):
        assert [own.beat for own in beat] == [k] * len(beat)
        assert beat[0].low == 0 and beat[-1].high < WIDEST
        for own, after in pairwise(beat):
            assert after.low == own.high + 1 == own.low + own.width
    assert stream(words[:3]).bits == 32 and len(stream(words[:3]).beats) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("gantry", {"functions": ("did", "minv"), "ii": 1}),
        ("iiwa14", {"functions": ("id",), "ii": 4}),
    ],
    ids=["gantry", "iiwa14"],
)
def test_robots(robot: str, choices: dict[str, Any], tmp_path: Path) -> None:
    """With what the hardware's plan flags."""
    core = compile_front(front_end(robot, **choices))
    words = sampled_words(core, 5000, 5)
    outputs, flags = integer_results(core, words)
    made = api.generate(robot, tmp_path / "made", to="hls", **choices).folder
    (made / "words.txt").write_text(rows(list(words.values())))
    right = rows([*outputs.values(), *flags.T.astype(np.int64)])
    (made / "expected_words.txt").write_text(right)
    name = next(made.glob("*.tcl")).stem
    # what the optimiser finds uninitialised is in the headers of ap_int
    quiet = ("-Wno-uninitialized", "-Wno-maybe-uninitialized")
    assert run(made, name, "-O1", *quiet) == "10000 states, 0 words and flags differ\n"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_the_folder_builds_and_its_words_agree(tmp_path: Path) -> None:
    made = api.generate("pendulum", tmp_path / "made", to="hls", functions=("g",)).folder
    build = ["cmake", "-S", str(made), "-B", str(tmp_path / "build")]
    without = subprocess.run(build, capture_output=True, text=True, check=False)
    assert without.returncode and "no ap_int.h: give -DAP_TYPES=FOLDER" in without.stderr
    subprocess.run([*build, f"-DAP_TYPES={headers()}"], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", str(tmp_path / "build")], check=True, capture_output=True)
    test = ["ctest", "--test-dir", str(tmp_path / "build"), "--no-tests=error"]
    subprocess.run(test, check=True, capture_output=True)
