"""What the tests of boards share: a pendulum's accelerator."""

from pathlib import Path
from shutil import copytree

import pytest

from tests.support.made import generated


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy for each file, where what is built for a board is left."""
    choices = {"functions": ("id", "m"), "accelerator": True, "ii": 2, "target": "ecp5-85f"}
    return copytree(generated("pendulum", **choices), tmp_path_factory.mktemp("board") / "pendulum")
