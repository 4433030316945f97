"""A cache of slow results, which are used again only if their digests match.

A file that is incomplete or changed is made again. Libraries are loaded from nowhere else: loading
one that came with a folder would run whatever it holds.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from .files import beside, put

DIGESTS = "digests.json"  # of the other files of a folder
LIMIT = 2 << 30  # bytes of the cache
IN_USE = 3600.0  # s


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
        (work / DIGESTS).write_text(json.dumps(digests), "utf-8")
        put(work, folder)


def is_kept(folder: Path, names: Sequence[str] = ()) -> bool:
    """Whether ``folder`` has these files (none named: all that it had), as :func:`keep` wrote them.

    A folder that has is used now, for :func:`prune`.
    """
    try:
        digests = json.loads((folder / DIGESTS).read_bytes())
        if not all(digests[name] == digest_of(folder / name) for name in names or list(digests)):
            return False
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    with suppress(OSError):  # another's cache, to read only
        os.utime(folder)
    return bool(digests)


def cached(
    name: str,
    make: Callable[[Path], None],
    say: Callable[[str], None] = lambda _: None,
    files: Sequence[str] = (),
) -> Path:
    """The folder ``name`` of the cache with these files: as it is there, else made; OSError.

    ``name`` has a digest of everything that the content depends on. ``make`` writes into the
    folder that it is given. A folder that is not as it was written is made again, which `say` is
    told. Several processes may make the same one at once: any one of theirs stays.
    """
    folder = cache_folder() / name
    if not is_kept(folder, files):
        if folder.exists():
            say(f"{folder}: damaged, or without digests; made again")
        with keep(folder) as work:
            make(work)
        prune()
    return folder


def prune(limit: int = LIMIT) -> None:
    """Remove from the cache what was not used for longest, until it has ``limit`` bytes.

    What was used within `IN_USE` seconds stays: a process may be about to read it.
    """
    total, now = 0, time.time()
    entries = []
    with suppress(OSError):
        for entry in cache_folder().iterdir():
            with suppress(OSError):  # another process was quicker
                entries.append((entry.stat().st_mtime, entry))
    for used, entry in sorted(entries, reverse=True):
        total += _size(entry)
        if total > limit and now - used > IN_USE:
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with suppress(OSError):
                    entry.unlink()


def _size(entry: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    size = 0
    for file in [entry, *entry.rglob("*")]:
        with suppress(OSError):
            size += 0 if file.is_dir() else file.lstat().st_size
    return size
