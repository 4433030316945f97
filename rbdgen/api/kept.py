"""Results that took long, each kept in a file of its own, named after what it is a result of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .folder import write_file


def kept(place: Path, what: str, of: str, compute: Callable[[], Any]) -> Any:
    """The result ``what`` of the input ``of``: read if ``place`` has it, else computed and kept.

    ``of`` is everything that the result depends on; the result is what JSON can hold.
    """
    file = place / f"{what}-{hashlib.sha256(of.encode()).hexdigest()[:16]}.json"
    try:
        return json.loads(file.read_bytes())
    except (FileNotFoundError, ValueError):  # none yet, or no JSON
        text = json.dumps(compute(), indent=2) + "\n"
    write_file(file, text)
    return json.loads(text)
