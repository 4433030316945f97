"""The cache of slow results: folders in the user's cache, and files of JSON where a command writes.

The policy is one. A name has a digest of everything that the result depends on. What is written is
there whole or not at all, with digests of its content; what does not match them is made again.
Several processes may make the same result at once. The user's cache keeps to a size. Libraries are
loaded from nowhere else: loading one that came with a folder would run whatever it holds.
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
from typing import Any

from .files import beside, put, read_regular, write
from .quoting import Refusal

DIGESTS = "digests.json"  # of the other files of a folder
LIMIT = 2 << 30  # bytes of the cache
IN_USE = 3600.0  # s
LARGEST = 1 << 30  # bytes of a result in JSON
DIGITS = 16  # of a name's digest


class CacheError(Refusal, OSError):
    """A place of cached results that cannot be written, in one line."""


def cache_folder() -> Path:
    """Where rbdgen keeps what can be made again: ``$XDG_CACHE_HOME/rbdgen``, else in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rbdgen"


def digest_of(file: Path) -> str:
    """SHA-256 of a file's content; OSError."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def named(what: str, *of: object) -> str:
    """A name ``what-0123456789abcdef``; ``of``: everything that the result depends on."""
    return f"{what}-{digest(*of)[:DIGITS]}"


def digest(*of: object) -> str:
    """SHA-256 of a text or of bytes as they are, and of several by their spelling in Python."""
    (one,) = of if len(of) == 1 else (repr(of),)
    data = one if isinstance(one, bytes) else str(one).encode("utf-8", "surrogateescape")
    return hashlib.sha256(data).hexdigest()


@contextmanager
def store(folder: Path) -> Iterator[Path]:
    """A folder to write files into; in the end they are in ``folder``, with digests; OSError."""
    with beside(folder, folder=True) as work:
        yield work
        digests = {file.name: digest_of(file) for file in work.iterdir()}
        (work / DIGESTS).write_text(json.dumps(digests), "utf-8")
        put(work, folder)


def is_cached(folder: Path, names: Sequence[str] = ()) -> bool:
    """Whether ``folder`` has these files (none named: all that it had) as `store` wrote them.

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
    """The folder ``name`` of the user's cache with these files: as it is there, else made.

    ``name`` is one of `named`. ``make`` writes into the folder that it is given. A folder that is
    not as it was written is made again, which ``say`` reports. CacheError where it cannot be
    written.
    """
    folder = cache_folder() / name
    if not is_cached(folder, files):
        if folder.exists():
            say(f"{folder}: damaged, or without digests; made again")
        try:
            with store(folder) as work:
                make(work)
        except OSError as error:
            where = f"{error.filename or cache_folder()}: {error.strerror}"
            raise CacheError(f"{where}; XDG_CACHE_HOME can name another folder") from None
        prune()
    return folder


def cached_result(
    place: Path,
    what: str,
    of: str,
    compute: Callable[[], Any] | None,
    say: Callable[[str], None] = lambda _: None,
) -> Any:
    """The result ``what`` of the input ``of``: read if ``place`` has it, else computed and written.

    ``of`` is everything that the result depends on; the result is what JSON can hold. A file that
    is not as it was written is made again, which ``say`` reports. Without ``compute``: None where
    there is no file as it was written. CacheError where it cannot be written.
    """
    file = place / f"{named(what, of)}.json"
    try:
        found = json.loads(read_regular(file, LARGEST))
        if found["digest"] == digest(json.dumps(found["result"])):
            return found["result"]
        if compute:
            say(f"{file}: damaged; made again")
    except FileNotFoundError:
        pass
    except (OSError, ValueError, TypeError, KeyError, RecursionError):  # or of an older version
        if compute:
            say(f"{file}: damaged, or without a digest; made again")
    if compute is None:
        return None
    result = json.loads(json.dumps(compute()))
    entry = {"digest": digest(json.dumps(result)), "result": result}
    try:
        write(file, (json.dumps(entry, indent=2) + "\n").encode())
    except OSError as error:
        raise CacheError(f"{file}: {error.strerror}") from None
    return result


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
