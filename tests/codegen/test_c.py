"""Functions in integers, in C: every word and every flag is that of the integer model."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.vectors import sampled_words
from rbdgen.codegen import c_integers
from rbdgen.codegen.c_integers import WordError
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.functions import OF_FRAMES
from rbdgen.graph.fixed import FixedGraph, Format, evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Op
from rbdgen.schedule.plan import flagged_outputs
from tests.support.integer_graphs import WARNINGS, Compiled, all_words, expected, random_graph

UNDEFINED = ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=undefined")


def test_parts_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_integers, "LONGEST", 20)
    monkeypatch.setattr(c_integers, "PART", 7)
    rng = np.random.default_rng(4)
    fixed, flagged = random_graph(rng, 100, 20)
    words = all_words(rng, fixed, 500)
    found, flags = Compiled(fixed, flagged, tmp_path, UNDEFINED).run(words)
    right, raised = expected(fixed, flagged, words)
    assert (found == right).all() and (flags == raised).all()
    assert "made_part_10" in (tmp_path / "made.c").read_text()


def agrees(robot: str, states: int, folder: Path, choices: dict[str, Any]) -> None:
    """Every word and flag, of states and of any words, with what the hardware's plan flags."""
    core = compile_front(front_end(robot, **choices))
    model = Compiled(core.fixed, flagged_outputs(core.plan), folder)
    words = sampled_words(core, states // 2, 5)
    for start in range(0, states, 10_000):
        some = {name: values[start : start + 10_000] for name, values in words.items()}
        found, flags = model.run(some)
        done = evaluate_fixed(core.fixed, some)
        raised = core.plan.flagged(done.overflowed, len(found))
        np.testing.assert_array_equal(found, np.stack(list(done.outputs.values()), axis=1))
        np.testing.assert_array_equal(flags, raised)
    assert raised.any()


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("pendulum", {"functions": ("dfd",), "width": 32}),
        ("gantry", {"functions": ("id", "minv"), "ii": 4}),
        (
            "pendulum",
            {
                "functions": (*OF_FRAMES, "hg", "subcom", "osim"),
                "frames": ("lower_rod",),
                "reference": "world",
                "contact_damping": 0.1,
            },
        ),
        ("pendulum", {"functions": ("step",), "step": 0.01}),
        ("pendulum", {"functions": ("step",), "step": 0.01, "integrator": "rk4"}),
        ("pendulum", {"functions": ("ddid",)}),
        ("pendulum", {"functions": ("regressor", "base_regressor")}),
        (
            "pendulum",
            {"functions": ("cfd",), "frames": ("lower_rod",), "contact_damping": 0.1},
        ),
        ("pendulum", {"target": "xcup"}),
    ],
    ids=[
        *("pendulum-wide", "gantry-fold", "pendulum-frames", "pendulum-step", "pendulum-rk4"),
        *("pendulum-second", "pendulum-regressor", "pendulum-contact", "pendulum-sums-in-cells"),
    ],
)
def test_robots(robot: str, choices: dict[str, Any], tmp_path: Path) -> None:
    agrees(robot, 4000, tmp_path, choices)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "base", "functions"),
    [
        ("gantry", "fixed", ("id", "m", "minv", "fd", "did", "difd")),
        ("gantry", "fixed", ("dfd",)),
        ("iiwa14", "fixed", ("m", "minv", "fd")),
        ("iiwa14", "fixed", ("did",)),
        ("hyq", "floating", ("id", "m")),
        ("iiwa14", "fixed", ("g", "nle", "com", "jcom", "energy", "ag", "hg")),
    ],
    ids=["gantry", "gantry-dfd", "iiwa14-fd", "iiwa14-did", "hyq", "iiwa14-masses"],
)
def test_many_states(robot: str, base: str, functions: tuple[str, ...], tmp_path: Path) -> None:
    agrees(robot, 100_000, tmp_path, {"base": base, "functions": functions, "ii": 1})


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_folder_stands_for_itself(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    made = api.generate("pendulum", tmp_path / "made", to="c", functions=("fd", "id"))
    manifest = made.manifest.program
    (facts,) = manifest.facts["functions"]
    assert [word["name"] for word in facts["inputs"]] == list(manifest.interface.inputs)
    example, sources = str(tmp_path / "example"), sorted(map(str, made.folder.glob("*.c")))
    subprocess.run([compiler, *WARNINGS, *UNDEFINED, *sources, "-lm", "-o", example], check=True)
    command = [example, str(made / "words.txt"), str(made / "expected_words.txt")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr.endswith("32 states, 0 words and flags differ\n")
    outputs = np.loadtxt(made / "expected_words.txt")[:, : len(facts["outputs"])]
    values = outputs / 2.0 ** np.array([word["fraction"] for word in facts["outputs"]])
    np.testing.assert_allclose(np.loadtxt(done.stdout.splitlines()), values, rtol=1e-8)
    header = str(made / f"{manifest.name}_real.h")
    subprocess.run(["g++", "-x", "c++", "-fsyntax-only", "-Wall", "-Wextra", header], check=True)
    wrong = (made / "expected_words.txt").read_text().replace("1\n", "0\n", 1)
    (tmp_path / "wrong.txt").write_text(wrong)
    command[2] = str(tmp_path / "wrong.txt")
    assert subprocess.run(command, capture_output=True).returncode == 1


def test_what_no_integer_holds_is_refused() -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    node = b.node(Op.ADD, x, y)
    word, far = Format(60, 0), Format(60, 30)
    fixed = FixedGraph(
        Graph(("x", "y"), {"z": node}), {"x": word, "y": far}, {x: word, y: far, node: far}, 32
    )
    with pytest.raises(WordError, match="takes 90 bits, and C has 64"):
        c_integers.File("made").add(fixed, "made", {}, "int64_t", "int64_t", 1)
