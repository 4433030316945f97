"""What the tests of the driver share: the gantry's accelerator, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.api import generate
from rbdgen.driver import Dynamics
from tests.support.driver_designs import CHOICES, NAME


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("driver") / NAME
    return generate(NAME, place, accelerator=True, **CHOICES)


@pytest.fixture(scope="session")
def integer() -> Dynamics:
    return Dynamics(NAME, "integer", on_overflow="raise", **CHOICES)
