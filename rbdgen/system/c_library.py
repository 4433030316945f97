"""C and C++ made here, compiled for this machine once, and kept."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path

from .cache import cache_folder, cached, is_cached, named
from .compiler import CompilerError, about, compile_with, find_compiler, processor

# of a C++ compiler; -O2 takes longer than it saves
FLAGS: tuple[str, ...] = ("-x", "c", "-std=c99", "-O1")
SHARED = ("-shared", "-fPIC")
LIBRARY = "library.so"


def c_library(
    files: Mapping[str, str], kept_only: bool = False, flags: Sequence[str] = FLAGS
) -> ctypes.CDLL | None:
    """The library of C or C++ files by name, from the cache or compiled into it.

    ``kept_only``: None unless it is in the cache. NoCompiler, CompilerError.
    """
    compiler = find_compiler()
    parts = compiler, about(compiler), processor(), (*flags, *SHARED), sorted(files.items())
    name = named("integers", *parts)
    if kept_only and not is_cached(cache_folder() / name, [LIBRARY]):
        return None

    def make(work: Path) -> None:
        build(files, work, flags)

    try:
        return ctypes.CDLL(str(cached(name, make, files=[LIBRARY]) / LIBRARY))
    except OSError as error:
        raise CompilerError(f"{name}: {error}") from None


def build(files: Mapping[str, str], into: Path, flags: Sequence[str] = FLAGS) -> Path:
    """The library in a folder, beside its files; NoCompiler, CompilerError."""
    for own, text in files.items():
        (into / own).write_text(text, "utf-8")
    sources = [str(into / own) for own in files if own.endswith((".c", ".cpp"))]
    made = into / LIBRARY
    compile_with([*find_compiler(), *flags, *SHARED, *sources, "-o", str(made)])
    return made
