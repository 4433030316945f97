"""Launches and copies of a call, counted where a stand-in for CUDA's runtime is called."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.program_folder import interface_of
from rbdgen.codegen.cuda import FEW, MOST
from rbdgen.codegen.interface import ArrayInterface
from rbdgen.codegen.nvcc import compiled
from rbdgen.compile.flow import front_end
from rbdgen.system.compiler import compile_with, find_compiler
from tests.support.cuda_host import files
from tests.support.nvcc import needed_nvcc

SUPPORT = Path(__file__).parents[1] / "support"
LONG, POINTER = ctypes.c_longlong, ctypes.c_void_p


class Counted:
    """A program compiled by nvcc for a GPU, whose runtime lists calls."""

    def __init__(self, runtime: ctypes.CDLL, folder: Path, most: int) -> None:
        front = front_end("gantry", functions=("did",))
        self.interface: ArrayInterface = interface_of(front)
        source = files(front.graph, self.interface, folder, most=most)
        self._runtime, self._arrays = runtime, list[Any]()
        shared = ("-shared", "-Xcompiler", "-fPIC", "-cudart", "none", "-Xptxas", "-O0")
        compiled(source, folder / "made.so", "-arch=sm_90", *shared)
        self.of = ctypes.CDLL(str(folder / "made.so"))
        self.of.made_open.restype = POINTER
        self.of.made_array_f32.restype = POINTER
        self.kernels = source.read_text().count("LAUNCH(kernel_")

    def places(self, n: int) -> list[Any]:
        """Addresses of arrays of float, of what is taken and given, which stay."""
        both = (*self.interface.takes, *self.interface.gives)
        arrays = [np.zeros((n, *array.shape), np.float32) for array in both]
        self._arrays += arrays
        return [POINTER(array.ctypes.data) for array in arrays]

    def calls(self, name: str, *arguments: Any) -> Counter[str]:
        """The number of calls of each kind, and of each kernel, in a function of the program."""
        self._runtime.forget()
        function = getattr(self.of, name)
        function.restype = LONG if "device" not in name else ctypes.c_int
        assert function(*arguments) == 0
        text = (ctypes.c_char * (1 << 16)).in_dll(self._runtime, "calls").value.decode()
        found = Counter[str]()
        for line in text.splitlines():
            kind = line.split()[0]
            found[kind] += 1
            if kind == "launch":
                (kernel,) = re.findall(r"kernel_\d+|in_rows|to_rows|to_columns", line)
                found[kernel] += 1
        return found


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The stand-in, whose functions programs find."""
    needed_nvcc()
    library = tmp_path_factory.mktemp("runtime") / "libruntime.so"
    source = str(SUPPORT / "cuda_runtime.c")
    compile_with([*find_compiler(), "-x", "c", "-shared", "-fPIC", source, "-o", str(library)])
    return ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)


@pytest.fixture(scope="module")
def one(runtime: ctypes.CDLL, tmp_path_factory: pytest.TempPathFactory) -> Counted:
    """A program of one kernel."""
    return Counted(runtime, tmp_path_factory.mktemp("one"), MOST)


@pytest.fixture(scope="module")
def several(runtime: ctypes.CDLL, tmp_path_factory: pytest.TempPathFactory) -> Counted:
    """A program of several kernels."""
    return Counted(runtime, tmp_path_factory.mktemp("several"), 100)


def on_device(of: Counted, n: int) -> Counter[str]:
    return of.calls("made_rows_on_device_f32", LONG(n), *of.places(n), None, None, None)


def test_one_kernel_computes_rows_of_any_number(one: Counted) -> None:
    assert one.kernels == 1
    for n in (1, FEW, 100 * FEW):
        assert on_device(one, n) == {"launch": 1, "in_rows": 1}
    assert not on_device(one, 0)


def test_few_states_take_one_launch_and_many_are_turned(several: Counted) -> None:
    assert several.kernels > 1
    assert on_device(several, FEW) == {"launch": 1, "in_rows": 1}
    found = on_device(several, FEW + 1)
    assert found["launch"] == several.kernels + 2
    assert found["to_columns"] == found["to_rows"] == 1 and found["in_rows"] == 0


def test_columns_take_a_launch_for_each_kernel(several: Counted) -> None:
    found = several.calls("made_on_device_f32", LONG(9), *[None] * 5)
    assert found["launch"] == several.kernels


@pytest.mark.parametrize("n", [1, 1000])
def test_a_copy_each_way(one: Counted, n: int) -> None:
    """Through page-locked memory, which is asked for once."""
    buffers = POINTER(one.of.made_open(LONG(n)))
    found = one.calls("made_with_f32", buffers, LONG(n), *one.places(n))
    assert found == {"copy": 2, "launch": 1, "in_rows": 1, "wait": 1}
    one.of.made_close(buffers)


def test_page_locked_arrays_are_copied_as_they_lie(one: Counted) -> None:
    """More states than the call would bring together itself; the copies are of what is there."""
    n = 1 << 17
    buffers = POINTER(one.of.made_open(LONG(n)))
    places = one.places(n)
    apart = one.calls("made_with_f32", buffers, LONG(n), *places)
    assert apart["copy"] == len(places) + 2  # and the singular state, there and back
    locked = [POINTER(one.of.made_array_f32(buffers, LONG(n), k)) for k in range(len(places))]
    assert len({place.value for place in locked}) == len(places) and locked[0].value
    found = one.calls("made_with_f32", buffers, LONG(n), *locked)
    assert found == {"copy": 2, "launch": 1, "in_rows": 1, "wait": 1}
    for wrong in (-1, len(places)):
        assert one.of.made_array_f32(buffers, LONG(n), wrong) is None
    assert one.of.made_array_f32(buffers, LONG(n + 1), 0) is None
    one.of.made_close(buffers)


def test_without_buffers_memory_is_taken_once(one: Counted) -> None:
    found = one.calls("made_f32", LONG(5), *one.places(5))
    assert (found["take"], found["lock"], found["launch"], found["wait"]) == (1, 0, 1, 1)
