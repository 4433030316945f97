"""What has been compiled is used again only if it is, by its digest, what was compiled here.

A file that is incomplete or changed is made again; so is a library that came with a folder from
elsewhere, as loading it would run whatever it holds.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .files import beside, put, write

DIGESTS = "digests.json"  # of the other files of a folder


def cache_folder() -> Path:
    """Where rbdgen keeps what can be made again: ``$XDG_CACHE_HOME/rbdgen``, else in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rbdgen"


def digest_of(file: Path) -> str:
    """SHA-256 of a file's content; OSError."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def keep(folder: Path) -> Iterator[Path]:
    """A folder to write files into; in the end they are in ``folder``, with digests; OSError."""
    with beside(folder, folder=True) as work:
        yield work
        digests = {file.name: digest_of(file) for file in work.iterdir()}
        (work / DIGESTS).write_text(json.dumps(digests))
        put(work, folder)


def is_kept(folder: Path, names: Sequence[str]) -> bool:
    """Whether ``folder`` has these files, each as :func:`keep` wrote it."""
    try:
        digests = json.loads((folder / DIGESTS).read_bytes())
        return all(digests[name] == digest_of(folder / name) for name in names)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def remember(library: Path, key: str) -> None:
    """Note in the cache that ``library`` is what was built here for ``key``; OSError."""
    write(_note(library, key), b"")


def is_remembered(library: Path, key: str) -> bool:
    """Whether ``library``, as it is now, is what was built here for ``key``."""
    try:
        return _note(library, key).is_file()
    except OSError:
        return False


def _note(library: Path, key: str) -> Path:
    return cache_folder() / "built" / f"{key}-{digest_of(library)[:32]}"
