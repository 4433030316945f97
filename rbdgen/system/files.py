"""Files and folders that appear whole or not at all, whoever writes, whatever ends a writer.

What is written lies beside its place under a hidden name until it is moved there in one step. Its
writer holds a lock on it: what no living writer holds is cleared away by the next one.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path

TRIES = 1000  # of writers that take each other's place
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of renameat2(2)
_WHOLE = "-old"  # ends the name of a folder that stepped aside and lacks nothing
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST)


def read_regular(path: str | Path, most: int) -> bytes:
    """The content of an ordinary file; never waits, as for the other end of a pipe.

    OSError if it cannot be read, is no ordinary file, or is larger than ``most`` bytes.
    """
    with _regular(path, most) as stream:
        size = os.fstat(stream.fileno()).st_size  # reading takes memory for all that is asked for
        data = stream.read(size + 1)
    if len(data) > size:
        raise OSError(errno.EBUSY, "it grows while it is read", str(path))
    return data


def read_within(folder: Path, file: str, most: int) -> bytes:
    """`read_regular` of a file in ``folder``; OSError, too, where a link leads out of that."""
    place = Path(os.path.realpath(folder / file))
    if not place.is_relative_to(os.path.realpath(folder)):
        raise OSError(errno.EXDEV, "a link out of its folder", str(folder / file))
    return read_regular(place, most)


def sha256_of(path: str | Path, most: int) -> str:
    """The digest of an ordinary file, which is not in memory as a whole; OSError as there."""
    with _regular(path, most) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def _regular(path: str | Path, most: int) -> Iterator[BufferedReader]:
    """An ordinary file, open."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:
        raise OSError(errno.EINVAL, "a path has no NUL character", str(path)) from None
    with open(file, "rb") as stream:  # noqa: PTH123 (a descriptor, not a path)
        about = os.fstat(file)
        if stat.S_ISDIR(about.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "a pipe or a device; name an ordinary file", str(path))
        if about.st_size > most:
            raise _too_large(path, most)
        yield stream


def _too_large(path: str | Path, most: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {most >> 20} MiB", str(path))


def write(place: Path, data: bytes) -> None:
    """Write a file, and the folders that it lies in; OSError if that cannot be."""
    place = _target(place)
    if place.exists() and not place.is_file() and not place.is_dir():
        raise OSError(errno.EINVAL, "a pipe or a device; name an ordinary file", str(place))
    with beside(place, folder=False) as new:
        new.write_bytes(data)
        new.replace(place)


def write_tree(place: Path, files: Mapping[str, bytes]) -> None:
    """Make ``place`` a folder of ``files`` in place of the folder that is there, if any.

    At any moment it is the whole old or the whole new one, also for several writers at once. Where
    the file system cannot exchange two folders, a writer that is killed between two steps leaves
    none; :func:`recover` brings the old one back. OSError if it cannot be written.
    """
    place = _target(place)
    with beside(place, folder=True) as new:
        recover(place)
        for name, data in files.items():
            (new / name).write_bytes(data)
        put(new, place)


def recover(place: Path) -> None:
    """Put the folder back that stepped aside for one that never came, if there is such."""
    try:
        place = _target(place)
    except ValueError:  # no place at all
        return
    if os.path.lexists(place):
        return
    aside = [path for path in _hidden(place) if path.name.endswith(_WHOLE)]
    for path in sorted(aside, key=_written, reverse=True):
        with suppress(OSError):
            path.rename(place)
            return


def exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; False where that cannot be. OSError."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    if renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), str(other))


def put(new: Path, place: Path) -> None:
    """Move a folder to ``place``, as :func:`write_tree` says.

    What was there is then where ``new`` was, or gone.
    """
    place = _target(place)
    for _ in range(TRIES):
        try:
            new.rename(place)  # where nothing is, or an empty folder
            return
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
        with suppress(FileNotFoundError):  # another writer's, gone again
            if exchange(new, place) or _step_aside(new, place):
                return
        time.sleep(0.001)
    raise OSError(errno.EBUSY, "others write it all the time", str(place))


def _step_aside(new: Path, place: Path) -> bool:
    """Replace in two steps, where one cannot be; False where another writer was first."""
    lock = os.open(place, os.O_RDONLY)
    try:
        if not _lock(lock):
            return False
        old = new.with_name(new.name + _WHOLE)
        place.rename(old)
        try:
            new.rename(place)
        except OSError as error:
            if error.errno not in _TAKEN:
                old.rename(place)
                raise
            _discard(old)
            return False
        _discard(old)
        return True
    finally:
        os.close(lock)


def _discard(old: Path) -> None:
    """Remove a whole folder; it loses the name of one before it loses anything else."""
    with suppress(OSError):
        _remove(old.rename(old.with_name(old.name.removesuffix(_WHOLE) + "-gone")))


@contextmanager
def beside(place: Path, folder: bool = False) -> Iterator[Path]:
    """A new hidden file or folder beside ``place``, to be moved there; gone in the end."""
    place = _target(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    path, lock = _claimed(place, folder)
    try:
        yield path
    finally:
        _remove(path)
        os.close(lock)
        _clear(place)


def _claimed(place: Path, folder: bool) -> tuple[Path, int]:
    """The path, and a descriptor that has it locked."""
    while True:
        path = place.with_name(f"{_prefix(place)}{secrets.token_hex(4)}")
        path.mkdir() if folder else path.touch(exist_ok=False)
        try:
            lock = os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # cleared away before it was locked
            continue
        if _lock(lock) and path.exists():
            return path, lock
        os.close(lock)


def _lock(file: int) -> bool:
    """Lock a file; False if another holds it. Where nothing can be locked, nobody holds it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _clear(place: Path) -> None:
    """Remove what writers of ``place`` left that are no more."""
    for path in _hidden(place):
        with suppress(OSError):
            lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not path.name.endswith(_WHOLE):
                    _remove(path)
                elif place.exists():
                    _discard(path)
            finally:
                os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _hidden(place: Path) -> list[Path]:
    """The temporary files that writers of ``place`` have beside it."""
    name = re.compile(re.escape(_prefix(place)) + rf"[0-9a-f]{{8}}({_WHOLE}|-gone)?")
    with suppress(OSError), os.scandir(place.parent) as entries:
        return [place.with_name(entry.name) for entry in entries if name.fullmatch(entry.name)]
    return []


def _prefix(place: Path) -> str:
    """Short, as ``place`` may have the longest name that there is."""
    return f".rbdgen-{hashlib.sha256(os.fsencode(place.name)).hexdigest()[:8]}-"


def _target(place: Path) -> Path:
    """Where a link points to, and a name for a place such as ``.``, which has none."""
    return Path(os.path.realpath(place))


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
