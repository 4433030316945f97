"""C++ that travels with rbdgen, compiled for this machine once."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from functools import cache
from pathlib import Path

from ..system.cache import cached
from ..system.compiler import NoCompiler, find_compiler, processor
from ..system.stopping import run_child

# without contraction of a * b + c, so that every machine computes the same
FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")


@cache
def library(source: Path) -> ctypes.CDLL | None:
    """The file as a shared library; None where there is no C++ compiler, or it cannot.

    It is kept in the cache under the digest of all that it depends on.
    """
    try:
        compiler = find_compiler()
    except NoCompiler:
        return None
    key = hashlib.sha256(source.read_bytes())
    key.update(repr((compiler, FLAGS, processor())).encode())
    name = f"{source.stem}.so"

    def make(work: Path) -> None:
        run_child([*compiler, *FLAGS, str(source), "-o", str(work / name)]).check_returncode()

    try:
        folder = cached(f"{source.stem}-{key.hexdigest()[:16]}", make, files=[name])
        return ctypes.CDLL(str(folder / name))
    except (OSError, subprocess.CalledProcessError):
        return None
