"""Accelerators of robots, for tests."""

from __future__ import annotations

from typing import Any

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product


def accelerate(robot: str, **choices: Any) -> Product:
    """The accelerator of a robot or a design file, without a measure of its words' errors."""
    return compile_front(front_end(robot, **{"accelerator": True, **choices}))
