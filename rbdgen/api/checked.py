"""A generated folder before anything in it is run: its files are those that were generated."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from ..design.manifest import AcceleratorManifest, CoreManifest
from ..system.files import read_regular, sha256_of
from .folder import MARK, Manifest, OutputError, read_manifest

Progress = Callable[[str], None]
LARGEST = 2**32  # bytes of a file
AGAIN = "generate the design again"


def checked_manifest(
    place: Path, trust: bool, progress: Progress, needed: Sequence[str] = ()
) -> CoreManifest | AcceleratorManifest:
    """The manifest of a folder of hardware whose files all have the digests that it says.

    As `checked_folder`, and OutputError for a program.
    """
    read_manifest(place).refuse_program()
    return checked_folder(place, trust, progress, needed).facts


def checked_folder(
    place: Path, trust: bool, progress: Progress, needed: Sequence[str] = ()
) -> Manifest:
    """The manifest of a generated folder whose files all have the digests that it says.

    ``needed``: files that will be read, with ``{name}`` for the design's name; the manifest has to
    list them. ``trust``: files may have changed, which `progress` is told once.

    The digests show what was changed, by accident or by hand; whoever can write the folder can
    write a manifest that fits, too. OutputError, in one line, for a file that differs.
    """
    entry = read_manifest(place)
    listed, name = entry.get("files"), str(entry.get("name"))
    if not isinstance(listed, dict) or not listed or not re.fullmatch(r"[A-Za-z]\w*", name):
        raise OutputError(f"{place / MARK}: has no digests of the design's files; {AGAIN}")
    for file in listed:
        if Path(file).name != file:
            raise OutputError(f"{place / MARK}: {file!r} is no name of a file in the folder")
    for file in needed:
        if (file := file.format(name=name)) not in listed:
            raise OutputError(f"{place / MARK}: does not list {file}, which is not read therefore")
    if trust:
        progress(f"{place}: its files are trusted, not checked against {MARK}")
        return entry
    for file, digest in listed.items():
        try:
            found = sha256_of(place / file, LARGEST)
        except OSError as error:
            raise OutputError(f"{place / file}: {error.strerror}; {AGAIN}") from None
        if found != digest:
            raise OutputError(
                f"{place / file}: changed since it was generated; {AGAIN}, or --trust it as it is"
            )
    return entry


def text_of(place: Path, file: str) -> str:
    """A file of a checked folder, which with ``trust`` may be anything; OutputError."""
    try:
        return read_regular(place / file, LARGEST).decode("utf-8")
    except OSError as error:
        raise OutputError(f"{place / file}: {error.strerror}; {AGAIN}") from None
    except UnicodeDecodeError:
        raise OutputError(f"{place / file}: no text in UTF-8; {AGAIN}") from None


def checked_accelerator(
    place: Path, trust: bool, progress: Progress, needed: Sequence[str], made: str
) -> AcceleratorManifest:
    """The same of an accelerator; OutputError for a core's folder, of which ``made`` are not."""
    entry = checked_manifest(place, trust, progress, needed)
    if not isinstance(entry, AcceleratorManifest):
        raise OutputError(
            f"{place}: {made} are made of accelerators, of one function or several; make one with: "
            "rbdgen generate ROBOT --accelerator --function F"
        )
    return entry
