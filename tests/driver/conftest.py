"""What the tests of the driver share: the gantry's accelerator, made once."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from rbdgen.api import generate, read_manifest
from rbdgen_host.driver import Dynamics
from tests.support.c_header import library
from tests.support.driver_designs import CHOICES, NAME


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("driver") / NAME
    return generate(NAME, place, accelerator=True, **CHOICES)


@pytest.fixture(scope="session")
def integer() -> Dynamics:
    return Dynamics(NAME, "integer", on_overflow="raise", **CHOICES)


@pytest.fixture(scope="session")
def golden() -> Dynamics:
    return Dynamics(NAME, "golden", **CHOICES)


@pytest.fixture(scope="session")
def manifest(folder: Path) -> dict[str, Any]:
    return read_manifest(folder)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory, manifest: dict[str, Any]) -> ctypes.CDLL:
    return library(tmp_path_factory.mktemp("header"), manifest, {})
