"""Gains along visits to one graph are those of the graph that the visits make."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.graph.visits import Program, Visit, VisitResult
from rbdgen.words.program_ranges import evaluate_program, parts
from rbdgen.words.word_options import gains

FIRST, SECOND = Visit("whole", (0,)), Visit("whole", (1,))


def twice() -> tuple[Graph, Program]:
    """y = x a, then z = y² b + x with x = 3 in the second visit, which is unlike the task's."""
    b = Builder()
    x, a, y, by = (b.input(name) for name in ("x", "a", "y", "by"))
    graph = Graph(("x", "a", "y", "by"), {"y[0]": x * a, "z[0]": y * y * by + x})
    reads = {
        FIRST: {name: name for name in graph.inputs},
        SECOND: {"x": 3.0, "a": "a", "y": VisitResult(FIRST, "y[0]"), "by": "by"},
    }
    return graph, Program({"whole": graph}, reads, {"z[0]": VisitResult(SECOND, "z[0]")})


def test_values_and_parts() -> None:
    graph, task = twice()
    own = parts(task, graph)
    assert [list(part.outputs) for part in own.values()] == [["y[0]"], ["z[0]"]]
    rng = np.random.default_rng(0)
    x, a, by = rng.uniform(-1, 1, (3, 50))
    found = evaluate_program(task, graph, {"x": x, "a": a, "by": by})
    np.testing.assert_allclose(found["z[0]"], (x * a) ** 2 * by + 3)


def test_errors_go_on_into_the_next_visit() -> None:
    graph, task = twice()
    rng = np.random.default_rng(1)
    x, a, by = np.tile(rng.uniform(1, 2, (3, 10_000)), 2)
    found = gains(graph, {"x": x, "a": a, "by": by}, [task])
    size = np.sqrt(np.mean(((x * a) ** 2 * by + 3) ** 2))
    size /= np.sqrt((1 + 0.1**2) / 2)  # half of the states may be off ten times as much

    def rms(values: np.ndarray) -> float:
        return float(np.sqrt(np.mean(values**2)) / size)

    slope = 2 * x * a * by
    nodes = {node.name: node for node in graph.nodes if node.name}
    assert found[graph.outputs["y[0]"]] == pytest.approx(rms(slope))
    assert found[nodes["y"]] == pytest.approx(rms(slope))
    assert found[nodes["a"]] == pytest.approx(rms(slope * x))
    # x in both visits: what rounds it there rounds twice
    assert found[nodes["x"]] == pytest.approx(np.hypot(rms(slope * a), 1 / size))


def test_tasks_add_up() -> None:
    graph, task = twice()
    rng = np.random.default_rng(2)
    samples = dict(zip(("x", "a", "y", "by"), rng.uniform(1, 2, (4, 500)), strict=True))
    alone = gains(graph, samples, [task])
    both = gains(graph, samples, [task, task])
    for node, gain in alone.items():
        assert both[node] == pytest.approx(np.sqrt(2) * gain)
