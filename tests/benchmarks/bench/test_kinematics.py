"""Kinematics beside Pinocchio's: a row, and results that differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.api.results import Mismatch
from rbdgen_benchmarks.bench import kinematics, python

pytest.importorskip("pinocchio")


def test_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python, "SECONDS", 1e-4)
    choices = {"frames": "link_7"}
    (row,) = kinematics.kinematics.measure(tmp_path, lambda _: None, "iiwa14", "jac", choices)
    assert row[0] == "iiwa14 jac frames=link_7" and len(row) == len(kinematics.HEAD)
    assert all(own > 0 for own in row[1:])


def test_results_that_differ() -> None:
    inertia = np.diag([1.0, 2.0, 0.0])
    kinematics._refuse_unlike("arm osim", "osim", inertia, [np.array([1.0, 2.0])])
    with pytest.raises(Mismatch, match="arm jac: is not Pinocchio's"):
        kinematics._refuse_unlike("arm jac", "jac", inertia, [inertia + 1e-3])
