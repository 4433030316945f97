"""Netlists that Yosys wrote as JSON, read with care: no digest covers the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from .toolchain import SynthesisError

Module = Mapping[str, Any]
T = TypeVar("T")


def read_netlist(file: Path, top: str, read: Callable[[Module], T]) -> T:
    """Result of ``read``, given the module ``top`` of a netlist.

    Raises SynthesisError, in one line, for a file that is no netlist of it.
    """
    try:
        return read(json.loads(file.read_text("utf-8"))["modules"][top])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}"
        raise SynthesisError(
            f"{file}: no netlist of {top} ({what:.80}); run rbdgen synthesize again"
        ) from None
