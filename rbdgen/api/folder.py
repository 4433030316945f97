"""Output folders: moved to their place whole; their digests are checked before they are used."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ..design.manifest import DesignManifest, HardwareManifest, ProgramManifest
from ..robot.xml_lines import neighbour, one_line
from ..system.files import read_regular, recover, sha256_of, write, write_tree
from ..system.quoting import Progress, Refusal
from ..system.records import NoRecord, Record
from .design_file import DESIGN, ROBOT

MARK = "manifest.json"  # what shows that a folder is one of ours
LARGEST_MANIFEST = 2**28  # bytes
AGAIN = "make the design again with: rbdgen generate ROBOT"
R = TypeVar("R", bound=Record)
LARGEST = 2**32  # bytes of a file
ANEW = "generate the design again"


class InputError(Refusal, ValueError):
    """States that do not fit the robot or the design, or cannot be read, in one line."""


class UsageError(InputError):
    """A request that contradicts itself, in one line."""

    usage = True


class NoInput(InputError):
    """The file of states ``name`` is not there."""

    def __init__(self, message: str, name: object) -> None:
        super().__init__(message)
        self.name = str(name)


class OutputError(Refusal, ValueError):
    """A place that cannot be written to, in one line."""


class NoDesign(OutputError):
    """The folder ``name`` is not there, or has no design."""

    def __init__(self, message: str, name: object) -> None:
        super().__init__(message)
        self.name = str(name)


def write_folder(place: Path, files: Mapping[str, str]) -> None:
    """Make ``place`` a folder of ``files``, in one step.

    A design that was there before is replaced with all its reports; anything else is refused.
    """
    refuse_foreign(place)
    with writing(place):
        whole = {n: text.encode("utf-8", "surrogateescape") for n, text in files.items()}
        write_tree(place, whole)


def refuse_foreign(place: Path) -> None:
    """OutputError for a folder that is neither empty nor a design of rbdgen's."""
    with writing(place):
        if not place.exists() or (place.is_dir() and not any(place.iterdir())):
            return
        try:
            ours = b'"generator": "rbdgen' in read_regular(place / MARK, LARGEST_MANIFEST)
        except OSError:
            ours = False
        if not ours and not all((place / name).is_file() for name in (MARK, DESIGN, ROBOT)):
            raise OutputError(f"{place}: exists and is no design of rbdgen's; name another with -o")


def write_file(place: Path, text: str | bytes) -> None:
    """Write one file so that it is there whole or not at all."""
    with writing(place):
        write(place, text.encode() if isinstance(text, str) else text)


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """OutputError, in one line, for what keeps ``place`` from being written."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{one_line(str(place), 200)}: {error.strerror}") from None
    except ValueError as error:  # NUL, or no character
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{one_line(str(place), 200)}: {error}") from None


class Manifest(dict[str, Any]):
    """A manifest as it was read from ``file``."""

    def __init__(self, entries: Mapping[str, Any], file: Path) -> None:
        super().__init__(entries)
        self.file = file

    @property
    def facts(self) -> HardwareManifest:
        """The same of hardware, typed; OutputError for what is missing or is of another type."""
        self.refuse_program()
        return self._read(HardwareManifest)

    def refuse_program(self) -> None:
        """OutputError for a design that is not in Verilog."""
        if "language" in self:
            raise OutputError(
                f"{self.file.parent}: holds {self['language']}, not Verilog, which this is for; "
                "its README.md says what it is for"
            )

    @property
    def program(self) -> ProgramManifest:
        """The same of a design in another language than Verilog; OutputError as for ``facts``."""
        return self._read(ProgramManifest)

    @property
    def design(self) -> DesignManifest:
        """The same of a design in any language."""
        return self.program if "language" in self else self.facts

    def _read(self, kind: type[R]) -> R:
        try:
            return kind.from_json(self)
        except NoRecord as error:
            raise OutputError(f"{self.file}: {error}; {AGAIN}") from None


def digests(files: Mapping[str, str]) -> dict[str, str]:
    """SHA-256 of each file."""
    return {
        name: hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        for name, text in files.items()
    }


def sealed(manifest: Mapping[str, Any]) -> str:
    """A manifest as JSON text, with a digest of itself."""
    return json.dumps({**manifest, "digest": _digest(manifest)}, indent=2, allow_nan=False) + "\n"


def read_manifest(folder: str | Path) -> Manifest:
    """Read the manifest of a generated folder; OutputError if it is missing or damaged."""
    place = Path(folder)
    file = place / MARK
    try:
        recover(place)
        manifest = json.loads(read_regular(file, LARGEST_MANIFEST))
        whole = manifest["digest"] == _digest(manifest)
    except (FileNotFoundError, NotADirectoryError):
        make = "; make a design with: rbdgen generate ROBOT"
        if place.is_dir():
            raise NoDesign(f"{place}: no {MARK}{make}", place) from None
        if place.exists():
            raise NoDesign(
                f"{place}: is a file; name the folder that generate wrote", place
            ) from None
        raise NoDesign(f"{place}: no such folder{neighbour(place, make)}", place) from None
    except OSError as error:
        raise OutputError(f"{one_line(str(file), 200)}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, RecursionError):  # no JSON, or no such object
        whole = False
    if not whole:
        raise OutputError(f"{file}: damaged, or of an older rbdgen; {AGAIN}")
    return Manifest(manifest, file)


def _digest(manifest: Mapping[str, Any]) -> str:
    entries = {key: value for key, value in manifest.items() if key != "digest"}
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()


def checked_manifest(
    place: Path, trust: bool, progress: Progress, needed: Sequence[str] = ()
) -> HardwareManifest:
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
        raise OutputError(f"{place / MARK}: has no digests of the design's files; {ANEW}")
    for file in listed:
        if Path(file).name != file:
            raise OutputError(f"{place / MARK}: {file!r} is no name of a file in the folder")
    for file in needed:
        if (file := file.format(name=name)) not in listed:
            raise unlisted(place, file)
    if trust:
        progress(f"{place}: its files are trusted, not checked against {MARK}")
        return entry
    for file, digest in listed.items():
        try:
            found = sha256_of(place / file, LARGEST)
        except OSError as error:
            raise OutputError(f"{place / file}: {error.strerror}; {ANEW}") from None
        if found != digest:
            raise OutputError(
                f"{place / file}: changed since it was generated; {ANEW}, or --trust it as it is"
            )
    return entry


def unlisted(place: Path, file: str) -> OutputError:
    """The error for a file that the manifest of a folder does not list."""
    return OutputError(f"{place / MARK}: does not list {file}, which is not read therefore")


def text_of(place: Path, file: str) -> str:
    """A file of a checked folder, which with ``trust`` may be anything; OutputError."""
    try:
        return read_regular(place / file, LARGEST).decode("utf-8")
    except OSError as error:
        raise OutputError(f"{place / file}: {error.strerror}; {ANEW}") from None
    except UnicodeDecodeError:
        raise OutputError(f"{place / file}: no text in UTF-8; {ANEW}") from None


def checked_accelerator(
    place: Path, trust: bool, progress: Progress, needed: Sequence[str], who: str
) -> HardwareManifest:
    """The same of an accelerator; OutputError for a core, as of `refuse_core`."""
    refuse_core(place, read_manifest(place).facts, who)
    return checked_manifest(place, trust, progress, needed)


def refuse_core(place: Path, entry: HardwareManifest, who: str) -> None:
    """OutputError for a core in ``place``; ``who``: takes accelerators instead."""
    if entry.is_core:
        raise OutputError(
            f"{place}: {who} accelerators, of one function or several; make one with: rbdgen "
            "generate ROBOT --accelerator --function F"
        )
