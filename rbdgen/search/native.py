"""C++ that travels with rbdgen, compiled for this machine once."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from ..cache import cache_folder

# without contraction of a * b + c, so that every machine computes the same
FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")


@cache
def library(source: Path) -> ctypes.CDLL | None:
    """The file as a shared library; None where there is no C++ compiler, or it fails.

    It is kept in `cache_folder` under the digest of all that it depends on.
    """
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
    key = hashlib.sha256(source.read_bytes())
    key.update(repr((compiler, FLAGS, _processor())).encode())
    kept = cache_folder() / f"{source.stem}-{key.hexdigest()[:16]}.so"
    try:
        return ctypes.CDLL(str(kept))
    except OSError:  # not there, or damaged
        pass
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".making-", dir=kept.parent) as scratch:
            made = Path(scratch) / kept.name
            command = [compiler, *FLAGS, str(source), "-o", str(made)]
            subprocess.run(command, check=True, capture_output=True)
            made.replace(kept)
        return ctypes.CDLL(str(kept))
    except (OSError, subprocess.CalledProcessError):
        return None


def _processor() -> str:
    """What ``-march=native`` depends on: a home folder may be shared by several machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")
