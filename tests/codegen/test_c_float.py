"""C in float: it compiles without a warning, and its results are right to float's precision."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.codegen import c_file
from rbdgen.codegen.library import Singular
from rbdgen.graph.evaluate import evaluate, to_float
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from tests.support.driver_designs import SINGULAR
from tests.support.library import plain

STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wdouble-promotion"]
STRICT += ["-Wpedantic", "-Werror"]
UNDEFINED = ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=undefined"]
ABOUT = {"robot": "a robot", "functions": "a function"}
ARM = "arm-none-eabi-gcc"


def run(*command: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True)


def test_the_folder_compiles_as_its_readme_says_and_is_right(tmp_path: Path) -> None:
    choices: dict[str, Any] = {"functions": ("fd", "m"), "real": "float", "name": "swing"}
    said: list[str] = []
    made = api.generate("pendulum", tmp_path / "made", said.append, to="c", **choices)
    program, folder = made.manifest.program, made.folder
    facts = program.facts
    assert facts["real"] == "float" and facts["float"]["in_double"] == 0
    (note,) = program.notes
    assert f"off by {facts['float']['alone']:.1e}" in note and f"note: {note}" in said
    assert f"up to {facts['float']['alone']:.1e}" in (folder / "README.md").read_text()
    example = tmp_path / "example"
    sources = [folder / "swing.c", folder / "example.c"]
    for compiler, standard in (("gcc", "c99"), ("clang", "c99"), ("gcc", "gnu17")):
        if shutil.which(compiler) is None:
            continue
        options = [f"-std={standard}", *STRICT, *UNDEFINED]
        found = run(compiler, *options, *sources, "-lm", "-o", example)
        assert found.returncode == 0, found.stderr
        checked = run(example, "--check", folder / "expected.txt", folder / "states.txt")
        assert checked.returncode == 0 and checked.stdout == "16 states: right\n", checked.stderr
    header = ["g++", "-x", "c++", "-std=c++11", *STRICT, "-fsyntax-only", folder / "swing.h"]
    assert run(*header).returncode == 0
    printed = np.loadtxt(run(example, folder / "states.txt").stdout.splitlines())
    np.testing.assert_allclose(printed, np.loadtxt(folder / "expected.txt"), rtol=1e-4, atol=1e-5)
    wrong = tmp_path / "wrong.txt"
    wrong.write_text((folder / "expected.txt").read_text().replace("1", "2"))
    assert run(example, "--check", wrong, folder / "states.txt").returncode == 1
    assert run(example, folder / "no such file").returncode == 2
    fast = run("gcc", "-ffast-math", "-c", folder / "swing.c", "-o", example)
    assert fast.returncode and "compile without it" in fast.stderr


@pytest.mark.parametrize("functions", [("id", "did"), ("minv", "dfd"), ("step",), ("pose", "jac")])
def test_every_result_is_right_to_float(functions: tuple[str, ...]) -> None:
    choices: dict[str, Any] = {"functions": functions}
    if "pose" in functions:
        choices["frames"] = ("lower_rod",)
    given = api.states("pendulum", 50, **choices)
    given |= {name: to_float(values) for name, values in given.items() if values.dtype == float}
    golden = api.evaluate("pendulum", given, **choices)
    found = api.evaluate("pendulum", given, "c", real="float", **choices)
    for name in set(found) - {"joint_names"}:
        apart = np.abs(found[name] - golden[name]).max() / np.abs(golden[name]).max()
        assert 0 < apart < 1e-4 or not golden[name].any(), (name, apart)


def build(graph: Graph, folder: Path, **options: Any) -> Any:
    """A function of one state, (inputs,) to a code and (outputs,)."""
    files, _ = c_file.float_files(graph, plain(graph), "made", ABOUT, 0.0, 0, **options)
    for name in ("made.h", "made.c"):
        (folder / name).write_text(files[name])
    command = ["gcc", "-std=c99", *STRICT, *UNDEFINED, "-shared", "-fPIC", folder / "made.c"]
    found = run(*command, "-lm", "-o", folder / "made.so")
    assert found.returncode == 0, found.stderr
    call = ctypes.CDLL(str(folder / "made.so")).made

    def called(*numbers: float) -> tuple[int, np.ndarray]:
        taken, given = np.array(numbers, np.float32), np.full(len(graph.outputs), 7, np.float32)
        code = call(ctypes.c_void_p(taken.ctypes.data), ctypes.c_void_p(given.ctypes.data))
        return code, given

    return called


def operations() -> Graph:
    """Every operation that functions of robots have."""
    b = Builder()
    x, y = b.input("x"), b.input("y")
    turn = b.sin(x, 2 * np.pi), b.cos(x, 2 * np.pi)
    outputs = {
        "sine": turn[0],
        "cosine": turn[1],
        "ratio": (x - 2.5 * y) * b.recip(y),
        "chosen": b.select(x, -y, turn[0] + 0.1),
        "constant": b.const(-0.3),
        "same": x,
    }
    return Graph(("x", "y", "unread"), outputs)


def test_parts_and_broken_states(tmp_path: Path) -> None:
    graph = operations()
    rng = np.random.default_rng(6)
    options: dict[str, int]
    for options in ({}, {"longest": 4, "part": 2}):
        folder = tmp_path / f"parts{len(options)}"
        folder.mkdir()
        call = build(graph, folder, **options)
        for x, y in to_float(rng.uniform([-4, 0.5], [4, 2], (50, 2))):
            code, found = call(x, y, 1.0)
            columns = {"x": np.array([x]), "y": np.array([y]), "unread": np.zeros(1)}
            wanted = [np.broadcast_to(own, 1)[0] for own in evaluate(graph, columns).values()]
            assert code == 0
            np.testing.assert_allclose(found, wanted, 1e-6, 1e-6)
        for bad in (np.nan, np.inf, -np.inf):
            for state in ((bad, 1.0), (1.0, bad)):
                code, found = call(*state, 1.0)
                assert code == 0 and np.isnan(found).all()
        for pivot in (0.0, -1.0):
            code, found = call(1.0, pivot, 1.0)
            assert code == 1 and np.isnan(found).all()


def test_sine_and_cosine_are_right_to_an_ulp(tmp_path: Path) -> None:
    b = Builder()
    x = b.input("x")
    call = build(Graph(("x",), {"s": b.sin(x, 2 * np.pi), "c": b.cos(x, 2 * np.pi)}), tmp_path)
    rng = np.random.default_rng(3)
    quarters = rng.integers(-6366, 6367, 3000) * (np.pi / 2)
    for angle in to_float([*rng.uniform(-1e4, 1e4, 3000), *quarters, 0.0, 1e4, 1.5e5, -3e20]):
        _, found = call(angle)
        wanted = np.array([np.sin(angle), np.cos(angle)])
        ulps = np.abs(found - wanted) / np.spacing(np.abs(wanted.astype(np.float32)))
        assert ulps.max() < 1.01, angle


def test_a_singular_state_is_named() -> None:
    given = {"q": np.array([[0.1, 1.0], [0.3, 0.0]]), "qd": np.ones((2, 2)), "tau": np.ones((2, 2))}
    with pytest.raises(Singular, match="state 1 is singular"):
        api.evaluate(str(SINGULAR), given, "c", functions=("fd",), real="float")


@pytest.mark.skipif(shutil.which(ARM) is None, reason=f"no {ARM}")
def test_a_microcontroller_gets_no_double(tmp_path: Path) -> None:
    """Of a Cortex-M4F's code nothing calls a function of double, nor one that asks for memory."""
    made = api.generate("pendulum", tmp_path / "made", to="c", functions=("dfd",), real="float")
    flags = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-O2"]
    (source,) = made.folder.glob("pendulum*.c")
    found = run(ARM, *flags, *STRICT, "-c", source, "-o", tmp_path / "made.o")
    assert found.returncode == 0, found.stderr
    symbols = run("arm-none-eabi-nm", "-u", tmp_path / "made.o").stdout.split()
    assert set(symbols) - {"U"} <= {"sinf", "cosf"}
