"""Where the files that travel with rbdgen are: beside the package in the source tree, inside it
once installed."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def data_folder(name: str) -> Path:
    """The folder "robots", "templates" or "sim"."""
    # The wheel puts them under _data. That comes first: what stands beside an installed package
    # is somebody else's.
    for folder in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"rbdgen's data folder {name!r} is missing; install rbdgen again")
