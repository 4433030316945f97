"""Designs that tests share: each is made once in a process, and nobody changes one."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from rbdgen import api
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product

KEPT = 24  # designs at a time; one of a large robot takes 100 MB


@lru_cache(KEPT)
def compiled(robot: str, **choices: Any) -> Product:
    """The core of a robot, with the choices of a command line."""
    return compile_front(front_end(robot, **choices))


def accelerate(robot: str, **choices: Any) -> Product:
    """The accelerator of a robot or a design file, made for the caller alone."""
    return compile_front(front_end(robot, **{"accelerator": True, **choices}))


@lru_cache(KEPT)
def accelerated(robot: str, **choices: Any) -> Product:
    """The same, once in a process."""
    return accelerate(robot, **choices)


@cache
def generated(robot: str, **choices: Any) -> Path:
    """The folder of a design, to be read; a test that writes in one copies it first."""
    return api.generate(robot, Path(mkdtemp(dir=_folder().name)) / "design", **choices).folder


@cache
def _folder() -> TemporaryDirectory[str]:
    """Removed when the process ends."""
    return TemporaryDirectory(prefix="rbdgen-tests-")
