"""C made here, compiled for this machine once, and kept."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Mapping
from pathlib import Path

from .cache import cache_folder, cached, is_kept
from .compiler import CompilerError, about, compile_with, find_compiler

# of a C++ compiler; -O2 takes longer than it saves
FLAGS = ("-x", "c", "-std=c99", "-O1", "-shared", "-fPIC")
LIBRARY = "library.so"


def c_library(files: Mapping[str, str], kept_only: bool = False) -> ctypes.CDLL | None:
    """The library of C files by name, from the cache or compiled into it.

    ``kept_only``: None unless it is in the cache. NoCompiler, CompilerError.
    """
    compiler = find_compiler()
    parts = compiler, about(compiler), FLAGS, sorted(files.items())
    name = f"integers-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"
    if kept_only and not is_kept(cache_folder() / name, [LIBRARY]):
        return None

    def make(work: Path) -> None:
        for own, text in files.items():
            (work / own).write_text(text)
        sources = [str(work / own) for own in files if own.endswith(".c")]
        compile_with([compiler, *FLAGS, *sources, "-o", str(work / LIBRARY)])

    try:
        return ctypes.CDLL(str(cached(name, make, files=[LIBRARY]) / LIBRARY))
    except OSError as error:
        raise CompilerError(f"{name}: {error}") from None
