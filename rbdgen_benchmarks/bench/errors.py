"""Errors of the integer model against the golden one; the same design under other choices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from rbdgen.api.design_file import design_text
from rbdgen.compile.flow import Front
from rbdgen.compile.product import Product
from rbdgen.graph.text import to_text
from rbdgen.system.cache import cached_result

from ..compare.integer_errors import IntegerRun, integer_errors

SEED = 0


def redesigned(front: Front, **choices: Any) -> Front:
    """The same graph at another ``width``, or under other ``limits``: neither enters it."""
    return replace(front, design=replace(front.design, **choices))


def errors(core: Product, states: int, place: Path) -> IntegerRun:
    """The integer model's errors over random states, half of them at the limits; kept in
    ``place``."""
    of = measured_of(core, states)
    data = cached_result(
        place, "coordinates", of, lambda: integer_errors(core, states, SEED).to_json()
    )
    return IntegerRun.from_json(data)


def measured_of(core: Product, states: int) -> str:
    """All that errors of a core in so many states depend on."""
    return f"{to_text(core.fixed)}{design_text(core.front.design)}{states} {SEED}"
