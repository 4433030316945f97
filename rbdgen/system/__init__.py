"""Services of the machine: files written whole or not at all, a cache, an end by Ctrl-C; and names
of a package whose files are imported when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_from(package: str, files: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """A package's ``__getattr__``: file → the names that it has for the package.

    No such name may be a file's: once that is imported, the package has the file by that name.
    """
    where = {name: file for file, names in files.items() for name in names}

    def found(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(where[name], package), name)

    return found
