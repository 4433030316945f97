"""Results that took long, each kept in a file of its own, named after what it is a result of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..system.files import read_regular
from .folder import write_file

LARGEST = 2**30  # bytes of a result


def kept(
    place: Path,
    what: str,
    of: str,
    compute: Callable[[], Any] | None,
    say: Callable[[str], None] = lambda _: None,
) -> Any:
    """The result ``what`` of the input ``of``: read if ``place`` has it, else computed and kept.

    ``of`` is everything that the result depends on; the result is what JSON can hold. A file that
    is not as it was written is made again, which `say` is told. Without ``compute``: None where
    there is no file as it was written.
    """
    file = place / f"{what}-{_digest(of)[:16]}.json"
    try:
        found = json.loads(read_regular(file, LARGEST))
        if found["digest"] == _digest(json.dumps(found["result"])):
            return found["result"]
        if compute:
            say(f"{file}: damaged; made again")
    except FileNotFoundError:
        pass
    except (
        OSError,
        ValueError,
        TypeError,
        KeyError,
        RecursionError,
    ):  # or of an older version
        if compute:
            say(f"{file}: damaged, or without a digest; made again")
    if compute is None:
        return None
    result = json.loads(json.dumps(compute()))
    entry = {"digest": _digest(json.dumps(result)), "result": result}
    write_file(file, json.dumps(entry, indent=2) + "\n")
    return result


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
