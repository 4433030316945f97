"""The whole compiler: what it refuses before it works for hours."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.chains import chain_urdf
from rbdgen.compiler import front_end
from rbdgen.robot.model import RobotError


@pytest.mark.parametrize("function", ["m", "did"])
def test_large_matrices_are_refused(function: str, tmp_path: Path) -> None:
    (tmp_path / "chain.urdf").write_text(chain_urdf(142))
    with pytest.raises(RobotError, match=f"chain: {function}: 10153 entries of a matrix, of 10000"):
        front_end(str(tmp_path / "chain.urdf"), functions=("id", function))


def test_progress_names_every_rewrite() -> None:
    said: list[str] = []
    front = front_end("pendulum", said.append)
    assert said[0] == "trace: 2 coordinates"
    names = [name for name, _ in front.rewrites[1:-2]]
    assert said[1:-1] == [f"trace: {name}" for name in names]
