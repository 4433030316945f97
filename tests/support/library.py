"""Graphs in C++, compiled, and called for arrays of states in every way that there is."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.codegen.cpp import cpp
from rbdgen.codegen.interface import Array, ArrayEntry, ArrayInterface
from rbdgen.graph.graph import Graph
from rbdgen.system.cache import cached
from rbdgen.system.compiler import about as said_by

WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
STRICT = (*WARNINGS, "-Wsign-conversion", "-Wshadow", "-Wfloat-conversion")
# a thread's share is worth it from 64 states on, so that the small graphs of tests are shared, too
FLAGS = ("-std=c++17", "-O1", *WARNINGS, "-shared", "-fPIC", "-pthread", "-DMADE_SHARE=1")
CFLAGS = {"avx512": {"avx512f", "avx512dq", "avx512vl"}, "avx2": {"avx2", "fma"}, "base": set()}
GUARD = 64  # numbers behind an array that nothing may write to
Numbers = NDArray[Any]


def intrinsics(compiler: str, flags: Sequence[str]) -> list[str]:
    """What to compile with, so that the header which takes longest is read once for all tests."""
    if compiler != "g++":
        return []
    flags = [flag for flag in flags if flag != "-shared"]
    key = hashlib.sha256(repr((said_by((compiler,)), flags)).encode()).hexdigest()[:16]

    def make(work: Path) -> None:
        (work / "intrinsics.h").write_text("#ifdef __SSE2__\n#include <immintrin.h>\n#endif\n")
        command = [compiler, *flags, "-x", "c++-header", str(work / "intrinsics.h")]
        subprocess.run([*command, "-o", str(work / "intrinsics.h.gch")], check=True)

    folder = cached(f"tests-{key}", make, files=["intrinsics.h", "intrinsics.h.gch"])
    return ["-Winvalid-pch", "-include", str(folder / "intrinsics.h")]


def compiled_strictly(source: Path, *options: object, compiler: str = "g++") -> str:
    """What the compiler says of a source; empty where it compiles without a warning."""
    command = [compiler, *STRICT, *map(str, options), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode or not done.stderr, done.stderr
    return done.stderr


def has() -> list[str]:
    """What this processor has of the instruction sets that there are files for."""
    text = Path("/proc/cpuinfo").read_text()
    words = set(next((line for line in text.splitlines() if line.startswith("flags")), "").split())
    return [isa for isa, needed in CFLAGS.items() if needed <= words]


def plain(graph: Graph) -> ArrayInterface:
    """One array of the graph's inputs and one of its outputs, in their order."""
    return ArrayInterface(
        (Array("given", (len(graph.inputs),)),),
        (Array("found", (len(graph.outputs),)),),
        {name: ArrayEntry("given", k) for k, name in enumerate(graph.inputs)},
        {name: (ArrayEntry("found", k),) for k, name in enumerate(graph.outputs)},
    )


class Library:
    """The library of a graph, in ``folder``."""

    def __init__(
        self,
        graph: Graph,
        folder: Path,
        interface: ArrayInterface | None = None,
        flags: Sequence[str] = FLAGS,
        compiler: str = "g++",
        **options: Any,
    ) -> None:
        self.interface = plain(graph) if interface is None else interface
        about = {"robot": "a robot", "functions": "functions"}
        files, self.facts = cpp(graph, self.interface, "made", about, **options)
        for name, text in files.items():
            (folder / name).write_text(text)
        sources = sorted(str(file) for file in folder.glob("made*.cpp"))
        library = folder / "made.so"
        command = [compiler, *flags, *intrinsics(compiler, flags), *sources]
        subprocess.run([*command, "-o", str(library)], check=True)
        self.of = ctypes.CDLL(str(library))
        self.inputs, self.outputs = len(graph.inputs), len(graph.outputs)

    def rows(self, *given: Numbers, threads: int | None = None, isa: str = "") -> tuple[Any, ...]:
        """The code that comes back, and the arrays that are given, for arrays that are taken.

        ``isa``: by that one's own function, not by the public one.
        """
        dtype, suffix, pointer = _kind(given[0])
        n = len(given[0])
        guarded = [np.full(n * a.size + GUARD, np.pi, dtype) for a in self.interface.gives]
        shapes = [(n, *a.shape) for a in self.interface.gives]
        found = [a[:-GUARD].reshape(s) for a, s in zip(guarded, shapes, strict=True)]
        takes = [a.ctypes.data_as(pointer) for a in map(np.ascontiguousarray, given)]
        gives = [a.ctypes.data_as(pointer) for a in found]
        count = ctypes.c_longlong(n)
        if isa:
            call = self.of[f"made_rows{suffix}_{isa}"]
            call.restype = ctypes.c_longlong
            code = call(count, (pointer * len(takes))(*takes), (pointer * len(gives))(*gives))
        else:
            call = self.of[f"made{'' if threads is None else '_threads'}{suffix}"]
            call.restype = ctypes.c_longlong
            code = call(*([] if threads is None else [threads]), count, *takes, *gives)
        assert all((a[-GUARD:] == dtype.type(np.pi)).all() for a in guarded)
        return code, *found

    def blocks(self, given: Numbers, isa: str = "") -> tuple[int, Numbers]:
        """Code and outputs (outputs, N) for inputs (inputs, N); N is a number of whole blocks."""
        dtype, suffix, pointer = _kind(given)
        states = 64 // dtype.itemsize
        n = given.shape[1] // states
        blocked = given.reshape(self.inputs, n, states).transpose(1, 0, 2)
        into = np.ascontiguousarray(blocked)
        found = np.full((n, self.outputs, states), np.pi, dtype)
        call = self.of[f"made_blocks{suffix}{'_' + isa if isa else ''}"]
        call.restype = ctypes.c_longlong
        code = call(
            ctypes.c_longlong(n), into.ctypes.data_as(pointer), found.ctypes.data_as(pointer)
        )
        return code, found.transpose(1, 0, 2).reshape(self.outputs, -1)


def _kind(array: Numbers) -> tuple[np.dtype, str, Any]:
    scalar = ctypes.c_float if array.dtype == np.float32 else ctypes.c_double
    return array.dtype, "_f32" if array.dtype == np.float32 else "", ctypes.POINTER(scalar)
