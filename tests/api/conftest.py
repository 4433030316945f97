"""The folder that commands are tried in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

BENT = """<robot name="bent">
  <link name="a"/>
  <joint name="j" type="revolut"><parent link="a"/><child link="b"/></joint>
</robot>
"""
STILL = '<robot name="still"><link name="a"/></robot>'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a test, with some inputs in it."""
    monkeypatch.chdir(tmp_path)
    Path("bent.urdf").write_text(BENT)
    Path("still.urdf").write_text(STILL)
    Path("text.txt").write_text("x")
    states = {name: np.zeros((3, 2)) for name in ("q", "qd", "qdd")}
    np.savez("states.npz", **states)
    whole = Path("states.npz").read_bytes()
    Path("cut.npz").write_bytes(whole[:-40])
    Path("flipped.npz").write_bytes(whole[:150] + b"\xff" + whole[151:])
    np.savez("objects.npz", q=np.array([None, {}], dtype=object))
    np.save("one.npy", np.zeros(3))
    return tmp_path
