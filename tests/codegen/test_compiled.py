"""The integer model in compiled C: when it is, and that nothing shows it but the time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.api.integer_model import IntegerModel, integer_results
from rbdgen.api.vectors import sampled_tasks, sampled_words
from rbdgen.codegen import compiled
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.tasks.model import evaluate_task
from tests.support.made import accelerate


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    core = compile_front(front_end("pendulum", fit=False))
    words = sampled_words(core, 15_000, 1)  # three chunks
    right, raised = integer_results(core, words)
    said: list[str] = []
    model = IntegerModel(core, said.append)
    for worth in (1.0, 0.0, 0.0):  # none; at first; kept
        monkeypatch.setattr(compiled, "COMPILING", worth)
        model = IntegerModel(core, said.append)
        found, flags = model(words)
        assert list(found) == list(right)
        for name, values in found.items():
            assert values.dtype == np.int64
            np.testing.assert_array_equal(values, right[name])
        np.testing.assert_array_equal(flags, raised)
    assert said == [f"integer model: compiling {len(core.fixed.graph.nodes)} nodes"]


def test_an_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "COMPILING", 0.0)
    made = accelerate("pendulum", functions=("id", "rk4"), ii=8, target="xcup")
    model = IntegerModel(made)
    for function, words in sampled_tasks(made, 100, 1).items():
        right, raised = evaluate_task(made.accelerator, function, words)
        found, flags = model(words, function)
        assert list(found) == list(right) and raised.any()
        for name, values in found.items():
            np.testing.assert_array_equal(values, right[name])
        np.testing.assert_array_equal(flags[:, 0], raised)


def test_without_a_compiler_numpy_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "COMPILING", 0.0)
    monkeypatch.setenv("PATH", "")
    core = compile_front(front_end("pendulum", fit=False))
    said: list[str] = []
    model = IntegerModel(core, said.append)
    words = sampled_words(core, 5, 1)
    for _ in range(2):
        np.testing.assert_array_equal(model(words)[1], integer_results(core, words)[1])
    (note,) = said
    assert note.startswith("note: integer model stays in NumPy: no C++ compiler: install g++")
