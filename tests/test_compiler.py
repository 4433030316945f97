"""The whole compiler: what it refuses before it works for hours."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.chains import chain_urdf
from rbdgen.compiler import front_end, trace
from rbdgen.graph.graph import Graph
from rbdgen.robot.canonical import rewrites
from rbdgen.robot.design import Design
from rbdgen.robot.model import Robot, RobotError


@pytest.mark.parametrize("function", ["m", "did"])
def test_large_matrices_are_refused(function: str, tmp_path: Path) -> None:
    (tmp_path / "chain.urdf").write_text(chain_urdf(142))
    with pytest.raises(RobotError, match=f"chain: {function}: 10153 entries of a matrix, of 10000"):
        front_end(str(tmp_path / "chain.urdf"), functions=("id", function))


def test_front_ends_trace_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of rewrites, of one more trace for each rewrite, is for those who ask for it."""
    traced: list[str] = []

    def counted(design: Design, robot: Robot) -> Graph:
        traced.append(robot.name)
        return trace(design, robot)

    monkeypatch.setattr("rbdgen.compiler.trace", counted)
    front = front_end("pendulum")
    assert len(traced) == 1
    names = [name for name, _ in front.rewrites]
    assert names == ["as read", *(name for name, _ in rewrites()), "identities", "factor"]
    assert front.rewrites[-1][1] == front.graph.operations()
    assert len(traced) == 1 + len(rewrites())
