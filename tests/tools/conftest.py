"""The FIFO that Verilated models are tried with."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.tools.model import Model
from rbdgen.tools.verilate import build
from tests.support.stream_fifo import DESIGN, PORTS


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("verilated")


@pytest.fixture(scope="session")
def source(folder: Path) -> Path:
    path = folder / "fifo.v"
    path.write_text(DESIGN)
    return path


@pytest.fixture(scope="session")
def fifo(source: Path) -> Model:
    return build([source], "fifo", ports=PORTS)
