"""A folder's files say all of its design: nothing is compiled to simulate it."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api import filed_design as reader
from rbdgen.api.compilation import Compilation, graph_files, sources_of
from rbdgen.api.design_file import GRAPH
from rbdgen.api.facts import task_facts
from rbdgen.api.filed_design import filed_design
from rbdgen.api.folder import digests, read_manifest, sealed
from rbdgen.api.integer_model import integer_results
from rbdgen.api.vectors import sampled_tasks, sampled_words
from rbdgen.compile.product import Product
from rbdgen.design.manifest import HardwareManifest
from rbdgen.golden import random_state, rnea
from rbdgen.graph.text import WIDTH
from rbdgen.robot.model import Robot
from tests.support.made import generated

STAGES: dict[str, Any] = {"accelerator": True, "width": 18}
GIVEN = {"base": "floating", "root": "given"}
DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    "pipeline": ("pendulum", {"functions": ("fd",), "width": 18, "parameters": "registers"}),
    "fold": ("pendulum", {"functions": ("did",), "ii": 4, "base": "floating", "width": 18}),
    "joints": ("pendulum", {"functions": ("id",), "ii": 8, "fold": "joints"}),
    "registers": ("pendulum", STAGES | {"functions": ("fd",), "ii": 6, "parameters": "registers"}),
    "stages": ("pendulum", STAGES | {"functions": ("dfd", "rk4", "g"), "ii": 4}),
    "given": ("pendulum", STAGES | GIVEN | {"functions": ("id",), "ii": 6}),
    "limbs": ("hyq", {"functions": ("id",), "ii": 4, "fold": "limbs"}),  # mirrored: they saturate
    "stages of limbs": (
        "hyq",
        STAGES | {"functions": ("id",), "base": "floating", "ii": 32, "fold": "limbs"},
    ),
}
SLOW = ("limbs", "stages of limbs")
STATES, SEED = 8, 3


def written(place: Path, robot: str, choices: dict[str, Any]) -> tuple[Product, HardwareManifest]:
    """The design, of which all that is read is in the folder ``place``, and its manifest."""
    product = Compilation(robot, lambda _: None, choices).product
    files = graph_files(product) | sources_of(product.front)
    for name, text in files.items():
        (place / name).write_text(text)
    any_other = read_manifest(generated("pendulum", functions=("m",))).facts
    entry = replace(any_other, tasks=task_facts(product), files=digests(files))
    return product, HardwareManifest.from_json(json.loads(json.dumps(entry.to_json())))


def tasks_of(product: Product) -> dict[str, dict[str, Any]]:
    """Tasks of each kind, half of them of any words."""
    if product.is_core:
        return {"": sampled_words(product, STATES, SEED)}
    return sampled_tasks(product, STATES, SEED)


def dynamics(robot: Robot) -> Any:
    state = random_state(robot, 3, np.random.default_rng(SEED))
    return rnea(robot, state.q, state.qd, state.qdd)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in DESIGNS]
)
def test_every_bit_is_as_it_was_compiled(name: str, tmp_path: Path) -> None:
    product, entry = written(tmp_path, *DESIGNS[name])
    made = filed_design(tmp_path, entry)
    assert not isinstance(made, Product)
    own, whole = made.accelerator, product.accelerator
    assert own.tasks == whole.tasks and own.formats == whole.formats
    assert own.words == whole.words and own.result_formats == whole.result_formats
    for stage, one in own.stages.items():
        other = whole.stages[stage]
        assert one.takes_every == other.takes_every and one.latency == other.latency
        assert one.fixed.inputs == other.fixed.inputs
        assert product.is_core or one.of_limbs == other.of_limbs
    assert any(one.of_limbs for one in own.stages.values()) == (name == "stages of limbs")
    for kind, words in tasks_of(product).items():
        (found, flags), (due, raised) = (integer_results(m, words, kind) for m in (made, product))
        assert list(found) == list(due)
        for output, values in due.items():
            np.testing.assert_array_equal(found[output], values)
        np.testing.assert_array_equal(flags, raised)
    assert made.design.functions == product.design.functions
    assert made.design.error == product.design.error
    assert made.front.robot.name == product.front.robot.name
    np.testing.assert_array_equal(*map(dynamics, (made.front.canonical, product.front.canonical)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy, to be changed."""
    return shutil.copytree(generated("pendulum", functions=("m",)), tmp_path / "design")


def change(folder: Path, file: str, text: str) -> None:
    """Put a text in a file's place, with its digest in the manifest."""
    (folder / file).write_text(text)
    manifest = read_manifest(folder)
    manifest["files"] |= digests({file: text})
    (folder / "manifest.json").write_text(sealed(manifest))


def test_a_folder_of_an_older_version_is_compiled_with_a_note(folder: Path) -> None:
    text = (folder / GRAPH).read_text()
    change(folder, GRAPH, text[: text.index(f"{WIDTH} ")])
    said: list[str] = []
    made = filed_design(folder, read_manifest(folder).facts, said.append)
    assert isinstance(made, Product)
    assert said[0] == f"note: {folder}: made by an older rbdgen, so its design is compiled again"


def test_an_older_version_s_other_graph_is_refused(folder: Path) -> None:
    text = (folder / GRAPH).read_text().replace("= add", "= sub", 1)
    change(folder, GRAPH, text[: text.index(f"{WIDTH} ")])
    with pytest.raises(api.OutputError, match="made by another version of rbdgen; generate it"):
        filed_design(folder, read_manifest(folder).facts)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "= add",
            "= foo",
            r"graph.txt: line \d+: no operation 'foo': .*; generate the design again",
        ),
        (rf"{WIDTH} \d+", f"{WIDTH} 2", "graph.txt: .* bits; generate the design again"),
    ],
)
def test_what_is_no_graph_is_refused(folder: Path, before: str, after: str, message: str) -> None:
    text, count = re.subn(before, after, (folder / GRAPH).read_text(), count=1)
    assert count
    change(folder, GRAPH, text)
    with pytest.raises(api.OutputError, match=message):
        filed_design(folder, read_manifest(folder).facts)


def test_a_graph_that_no_manifest_lists_is_not_read(folder: Path) -> None:
    manifest = read_manifest(folder)
    del manifest["files"][GRAPH]
    (folder / "manifest.json").write_text(sealed(manifest))
    with pytest.raises(api.OutputError, match=r"does not list graph\.txt"):
        filed_design(folder, read_manifest(folder).facts)


@pytest.mark.rtl
def test_simulate_compiles_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(*_: Any) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(reader, "recompiled", compiled)
    assert api.simulate(folder, states=20)["bit_exact"]
