"""Solvers beside their own dynamics: rows, what is not installed, and costs that differ."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from rbdgen.api.results import Mismatch
from rbdgen_benchmarks.bench import python, solvers


def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *case: str) -> tuple[list, Any]:
    """The rows of a case, each run once, and the text below them."""
    monkeypatch.setattr(solvers, "RUNS", 1)
    monkeypatch.setattr(python, "SECONDS", 1e-4)
    rows, of = [], solvers.solvers.measure(tmp_path, lambda _: None, *case)
    while True:
        try:
            rows.append(next(of))
        except StopIteration as end:
            return rows, end.value


def test_mujoco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    rows, _ = measured(tmp_path, monkeypatch, "mujoco", "pendulum by computed torque")
    assert [row[6] for row in rows] == ["rnea", "aba", "efforts and mj_step"]
    assert all(len(row) == len(solvers.HEAD) and row[-1] > 0 for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("problem", [own for solver, own in solvers.CASES if solver == "crocoddyl"])
def test_crocoddyl(problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many iterations as over its own dynamics."""
    pytest.importorskip("crocoddyl", reason="crocoddyl is not installed: the extra solvers")
    rows, _ = measured(tmp_path, monkeypatch, "crocoddyl", problem)
    assert rows[0][3] == rows[0][4] > 2


@pytest.mark.parametrize("solver", ["crocoddyl", "casadi"])
def test_what_is_not_installed(
    solver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if all(find_spec(package) for package in solvers.NEEDS[solver]):
        pytest.skip("all of it is installed")
    rows, said = measured(tmp_path, monkeypatch, solver, "a reach")
    assert not rows
    assert "a reach: no " in said and "pip install" in said


def test_costs_that_differ() -> None:
    row = solvers.solved("FDDP", "a reach", "its own", (3, 3), (1.0, 1.0), (1e-3, 2e-3), 25)
    assert row[-1] == 2.0
    with pytest.raises(Mismatch, match=r"a cost of 1\.1, beside 1"):
        solvers.solved("FDDP", "a reach", "its own", (3, 3), (1.1, 1.0), (1e-3, 2e-3), 25)
