"""A program as a shared library of this machine, called with NumPy arrays."""

from __future__ import annotations

import ctypes
import shlex
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import Command, compile_with
from ..system.messages import Refusal
from .interface import ArrayInterface

FLAGS = ("-std=c++17", "-O3", "-march=native", "-fPIC", "-pthread")
OTHER = {np.dtype(np.float64): "FLOAT", np.dtype(np.float32): "DOUBLE"}  # which is left out
SUFFIX = {np.dtype(np.float64): "", np.dtype(np.float32): "_f32"}
_byte = ctypes.c_char.from_buffer
_at = ctypes.addressof


class Singular(Refusal, np.linalg.LinAlgError):
    """A mass matrix has no inverse in the state ``state``."""

    def __init__(self, state: int) -> None:
        super().__init__(f"the mass matrix of state {state} is singular, or not finite")
        self.state = state


def build(
    compiler: Command,
    dtype: Any,
    folder: Path,
    name: str,
    into: Path,
    say: Callable[[str], None],
    flags: Sequence[str] = FLAGS,
) -> None:
    """Compile the files that ``codegen.cpp`` wrote to ``into/NAME.so``, all cores at once.

    For this processor and one precision only. CompilerError.
    """
    sources = sorted(folder.glob(f"{name}*.cpp"))
    only = [f"-D{name.upper()}_{what}" for what in ("NATIVE", f"NO_{OTHER[np.dtype(dtype)]}")]
    flags = [*flags, *only]
    say(f"compiling {name} with {shlex.join(compiler)}")
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as work, ThreadPoolExecutor() as pool:

        def compile_one(source: Path) -> str:
            made = str(Path(work) / f"{source.stem}.o")
            compile_with([*compiler, *flags, "-c", str(source), "-o", made])
            return made

        try:
            objects = list(pool.map(compile_one, sources))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        compile_with([*compiler, *flags, "-shared", *objects, "-o", str(into / f"{name}.so")])


class Rows(ABC):
    """Functions of arrays as NumPy has them, in one precision.

    ``takes`` and ``gives`` are the shapes of one state's arrays, in the order of the interface;
    ``dtype`` is that of all of them. ``same``: the name of an array that is none of ``takes``: what
    `hold` was told is every state's.
    """

    def __init__(self, file: Path, interface: ArrayInterface, dtype: Any, same: str = "") -> None:
        self.dtype = np.dtype(dtype)
        self.names = tuple(array.name for array in interface.gives)
        self.takes = tuple(array.shape for array in interface.takes if array.name != same)
        self.gives = tuple(array.shape for array in interface.gives)
        taken = [array.name for array in interface.takes]
        self._same_at = taken.index(same) if same in taken else len(taken)
        self._same: NDArray | None = None
        self._library = ctypes.CDLL(str(file))  # calls let other threads of Python run
        self._arrays = [ctypes.c_void_p] * (len(self.takes) + bool(same) + len(self.gives))

    def hold(self, numbers: Sequence[float]) -> None:
        """Set the array ``same`` for all calls from the next one on."""
        self._same = np.array(numbers, self.dtype)

    def fits(self, arrays: Sequence[Any]) -> tuple[int, ...] | None:
        """The leading shape of arrays that `run` takes as they lie in memory; else None."""
        leading = None
        if len(arrays) != len(self.takes):
            return None
        for array, shape in zip(arrays, self.takes, strict=True):
            if type(array) is not np.ndarray or array.dtype is not self.dtype:
                return None
            before = array.shape[: array.ndim - len(shape)]
            if array.shape != before + shape or not array.flags.c_contiguous:
                return None
            if leading is None:
                leading = before
            elif leading != before:
                return None
        return leading

    def run(
        self, leading: tuple[int, ...], arrays: Sequence[NDArray], threads: int = 1
    ) -> list[NDArray]:
        """The arrays that come out, (*leading, …), of those that `fits`; nothing is copied.

        NaN where anything of a state that is read is not finite. Singular where the mass matrix
        that is divided by is not positive definite.
        """
        n = 1
        for count in leading:
            n *= count
        found = [np.empty(leading + shape, self.dtype) for shape in self.gives]
        if n == 0:
            return found
        given = [*arrays, *found]
        if self._same is not None:
            given.insert(self._same_at, self._same_of(n))
        wrong = self._compute(n, [_address(array) for array in given], threads)
        if wrong:
            raise Singular(wrong - 1)
        return found

    def _same_of(self, n: int) -> NDArray:
        """The shared array for n states, as the functions take it."""
        assert self._same is not None
        return self._same

    @abstractmethod
    def _compute(self, n: int, places: Sequence[int], threads: int) -> int:
        """Compute n states at the addresses of arrays: 0, or 1 and the first singular state."""


class Library(Rows):
    """The functions of a library that ``codegen.cpp`` has written."""

    def __init__(
        self, file: Path, name: str, interface: ArrayInterface, dtype: Any, same: str = ""
    ) -> None:
        super().__init__(file, interface, dtype, same)
        self._call = self._library[f"{name}{SUFFIX[self.dtype]}"]
        self._call.argtypes = [ctypes.c_longlong, *self._arrays]
        self._threads = self._library[f"{name}_threads{SUFFIX[self.dtype]}"]
        self._threads.argtypes = [ctypes.c_int, *self._call.argtypes]
        for function in (self._call, self._threads):
            function.restype = ctypes.c_longlong

    def _same_of(self, n: int) -> NDArray:
        return np.tile(super()._same_of(n), (n, 1))

    def _compute(self, n: int, places: Sequence[int], threads: int) -> int:
        if threads > 1 and n > 1:
            return self._threads(threads, n, *places)
        return self._call(n, *places)


def _address(array: NDArray) -> int:
    try:
        return _at(_byte(array))  # type: ignore[arg-type]  # five times as quick as the other
    except (TypeError, ValueError):  # to be read only
        return array.ctypes.data
