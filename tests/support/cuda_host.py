"""Programs in CUDA as a CPU runs them."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.codegen.cuda import cuda
from rbdgen.codegen.interface import ArrayInterface
from rbdgen.graph.graph import Graph
from tests.support.library import WARNINGS

ABOUT = {"robot": "a robot", "functions": "functions"}
Numbers = NDArray[Any]


def files(graph: Graph, interface: ArrayInterface, folder: Path, **options: Any) -> Path:
    """The sources in ``folder``; the kernels' file."""
    for name, text in cuda(graph, interface, "made", ABOUT, **options).files.items():
        (folder / name).write_text(text)
    return folder / "made.cu"


class Host:
    """The kernels' file, compiled for the CPU."""

    def __init__(
        self, graph: Graph, interface: ArrayInterface, folder: Path, **options: Any
    ) -> None:
        self.interface, self.outputs = interface, len(graph.outputs)
        made = cuda(graph, interface, "made", ABOUT, **options)
        self.slots, self.numbers = made.slots, made.room
        source, library = files(graph, interface, folder, **options), folder / "made.so"
        flags = ("-std=c++17", "-O0", *WARNINGS, "-DMADE_HOST", "-shared", "-fPIC", "-x", "c++")
        subprocess.run(["g++", *flags, str(source), "-o", str(library)], check=True)
        self.of = ctypes.CDLL(str(library))

    def rows(self, given: Sequence[Numbers], way: str = "") -> tuple[int, list[Numbers]]:
        """The code, and the arrays that are given, of arrays that are taken, by a way to call.

        What all states share is the last of those that are taken.
        """
        n, dtype = len(given[0]), given[0].dtype
        found = [np.full((n, *a.shape), np.pi, dtype) for a in self.interface.gives]
        arrays = [*map(np.ascontiguousarray, given), *found]
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        suffix = "_f32" if dtype == np.float32 else ""
        if way == "_with":
            self.of.made_open.restype = ctypes.c_void_p
            room = ctypes.c_void_p(self.of.made_open(ctypes.c_longlong(n)))
            code = self._call(f"made_with{suffix}", room, ctypes.c_longlong(n), *pointers)
            self.of.made_close(room)
        elif way == "_rows_on_device":
            room, singular = np.full(n * self.numbers + 1, np.nan, dtype), ctypes.c_longlong(-1)
            pointers += [ctypes.c_void_p(room.ctypes.data), ctypes.byref(singular)]
            failed = self._call(f"made{way}{suffix}", ctypes.c_longlong(n), *pointers, None)
            assert failed == 0
            code = singular.value + 1
        else:
            code = self._call(f"made{suffix}", ctypes.c_longlong(n), *pointers)
        return code, found

    def columns(self, given: Numbers, *shared: Numbers) -> tuple[int, Numbers]:
        """The least singular state, or -1, and outputs (outputs, N) of inputs (inputs, N)."""
        n = given.shape[1]
        found = np.full((self.outputs, n), np.pi, given.dtype)
        singular = ctypes.c_longlong(-1)
        place = np.full(n * self.slots + 1, np.nan, given.dtype)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (given, *shared, found, place)]
        suffix = "_f32" if given.dtype == np.float32 else ""
        call = f"made_on_device{suffix}"
        assert self._call(call, ctypes.c_longlong(n), *pointers, ctypes.byref(singular), None) == 0
        return singular.value, found

    def _call(self, name: str, *arguments: Any) -> int:
        call = self.of[name]
        call.restype = ctypes.c_longlong if "device" not in name else ctypes.c_int
        return int(call(*arguments))
