"""C++ that travels with rbdgen, compiled for this machine once."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path

from ..system.cache import cached
from ..system.stopping import run_child

# without contraction of a * b + c, so that every machine computes the same
FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")


@cache
def library(source: Path) -> ctypes.CDLL | None:
    """The file as a shared library; None where there is no C++ compiler, or it cannot.

    It is kept in the cache under the digest of all that it depends on.
    """
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
    key = hashlib.sha256(source.read_bytes())
    key.update(repr((compiler, FLAGS, _processor())).encode())
    name = f"{source.stem}.so"

    def make(work: Path) -> None:
        run_child([compiler, *FLAGS, str(source), "-o", str(work / name)]).check_returncode()

    try:
        folder = cached(f"{source.stem}-{key.hexdigest()[:16]}", make, files=[name])
        return ctypes.CDLL(str(folder / name))
    except (OSError, subprocess.CalledProcessError):
        return None


def _processor() -> str:
    """What ``-march=native`` depends on: a home folder may be shared by several machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")
