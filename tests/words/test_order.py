"""The list of passes: it is what runs, each pass verified, each with a reason."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.graph.fixed import FixedGraph
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.verify import GraphError
from rbdgen.words.order import EXACT, PASSES, Pass, run

ROOT = Path(__file__).parents[2]


def test_the_list_is_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pass once, in order, whatever else a compilation does."""
    ran: list[str] = []
    real = Pass.__call__

    def noted(self: Pass[object], graph: Graph, known: object) -> Graph | FixedGraph:
        ran.append(self.name)
        return real(self, graph, known)

    monkeypatch.setattr(Pass, "__call__", noted)
    front = front_end("pendulum", width=18)
    assert ran == [step.name for step in EXACT]
    compile_front(front)
    assert ran == [step.name for step in PASSES]


def test_nobody_else_runs_a_pass() -> None:
    names = {step.name for step in PASSES}
    for path in (ROOT / "rbdgen").rglob("*.py"):
        imported = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and path.name != "order.py"
            for alias in node.names
        }
        assert not names & imported, f"{path}: {names & imported}"


def test_each_has_a_reason() -> None:
    """The page prints them, too: tests/test_docs.py."""
    assert len({step.name for step in PASSES}) == len(PASSES)
    assert all(step.reason for step in PASSES)


def test_what_is_broken_is_said_of_its_pass() -> None:
    builder = Builder()
    x = builder.input("x")
    wrong = Node(builder, 99, Op.ADD, (x,))
    broken = Pass("breaks", lambda graph, _: replace(graph, outputs={"y": wrong}), "")
    with pytest.raises(GraphError, match="after breaks: add node 99 takes 2 operands"):
        run([broken], Graph(("x",), {"y": x}), None)
