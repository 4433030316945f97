"""Output folders: written beside their place and moved there whole."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MARK = "manifest.json"  # what shows that a folder is one of ours


class OutputError(ValueError):
    """A place that cannot be written to, in one line."""


def write_folder(place: Path, files: Mapping[str, str]) -> None:
    """Make ``place`` a folder of ``files``, in one step.

    A design that was there before is replaced with all its reports; anything else is refused.
    """
    if place.exists() and not (place / MARK).is_file():
        empty = place.is_dir() and not any(place.iterdir())
        if not empty:
            raise OutputError(f"{place}: exists and is no design of rbdgen's; name another with -o")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    except OSError as error:
        raise OutputError(f"{place}: {error.strerror}") from None
    try:
        scratch.chmod(0o755)
        for name, text in files.items():
            (scratch / name).write_text(text, encoding="utf-8")
        old = scratch.with_name(f"{scratch.name}-old")
        if place.exists():
            place.rename(old)
        scratch.rename(place)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def write_file(place: Path, text: str | bytes) -> None:
    """Write one file so that it is there whole or not at all."""
    data = text.encode() if isinstance(text, str) else text
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            dir=place.parent, prefix=f".{place.name}-", delete=False
        ) as scratch:
            scratch.write(data)
        path = Path(scratch.name)
        path.chmod(0o644)
        path.replace(place)
    except OSError as error:
        raise OutputError(f"{place}: {error.strerror}") from None


def write_arrays(place: Path, arrays: Mapping[str, NDArray]) -> None:
    """An .npz file, whole or not at all; the same arrays give the same bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    write_file(place, buffer.getvalue())
