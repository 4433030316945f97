"""Results that took long, each kept in a file of its own, named after what it is a result of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .folder import write_file


def kept(
    place: Path,
    what: str,
    of: str,
    compute: Callable[[], Any],
    say: Callable[[str], None] = lambda _: None,
) -> Any:
    """The result ``what`` of the input ``of``: read if ``place`` has it, else computed and kept.

    ``of`` is everything that the result depends on; the result is what JSON can hold. A file that
    is not as it was written is made again, which `say` is told.
    """
    file = place / f"{what}-{_digest(of)[:16]}.json"
    try:
        found = json.loads(file.read_bytes())
        if found["digest"] == _digest(json.dumps(found["result"])):
            return found["result"]
        say(f"{file}: damaged; made again")
    except FileNotFoundError:
        pass
    except (ValueError, TypeError, KeyError, RecursionError):  # incomplete, or of an older version
        say(f"{file}: damaged, or without a digest; made again")
    result = json.loads(json.dumps(compute()))
    entry = {"digest": _digest(json.dumps(result)), "result": result}
    write_file(file, json.dumps(entry, indent=2) + "\n")
    return result


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
