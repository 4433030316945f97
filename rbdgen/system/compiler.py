"""The C++ compiler of this machine, and what its code may depend on."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .refusal import Refusal
from .stopping import run_child


class NoCompiler(Refusal, RuntimeError):
    """There is no C++ compiler, in one line that says what to install."""


class CompilerError(Refusal, RuntimeError):
    """The C++ compiler has refused its input, in one line: its first that speaks of an error."""


def find_compiler() -> str:
    """``$CXX``, else g++ or clang++; NoCompiler."""
    named = os.environ.get("CXX")
    found = shutil.which(named) if named else shutil.which("g++") or shutil.which("clang++")
    if found is None:
        what = f"no C++ compiler {named}, which $CXX names" if named else "no C++ compiler"
        raise NoCompiler(f"{what}: install g++ (Debian: apt-get install g++)")
    return found


def compile_with(command: Sequence[str]) -> None:
    """Run a compiler or linker; CompilerError."""
    done = run_child(command)
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines() or [f"exit status {done.returncode}"]
        first = next((line for line in lines if re.search(r"error", line, re.IGNORECASE)), lines[0])
        raise CompilerError(f"{Path(command[0]).name}: {first.strip()}")


def about(compiler: str) -> str:
    """What the compiler says of itself, by which one version is told from another."""
    file = Path(shutil.which(compiler) or compiler)
    changed = file.stat().st_mtime_ns if file.exists() else 0
    return _said(compiler, changed)


@cache
def _said(compiler: str, changed: int) -> str:
    return run_child([compiler, "--version"]).stdout


def processor() -> str:
    """What ``-march=native`` depends on: a home folder may be shared by several machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")
