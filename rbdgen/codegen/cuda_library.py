"""A program in CUDA as a shared library, called with arrays of NumPy's, or of the GPU's."""

from __future__ import annotations

import ctypes
import math
import os
import shlex
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import Command, NoGpu, compile_with
from . import nvcc
from .interface import ArrayInterface
from .library import SUFFIX, Rows, Singular, like_numpy, module_of, on_device

SHARED = ("-shared", "-Xcompiler", "-fPIC")
HOST_FLAGS = ("-std=c++17", "-O2", "-shared", "-fPIC", "-x", "c++")
ROOM = 1 << 30  # bytes of the GPU that are kept between calls, at most
NO_ROOM = -1_000_000  # what is returned where memory is asked for in vain
FORKED = ": CUDA does not work in a forked process; start it by spawn, and send the driver there"
LONG, POINTER = ctypes.c_longlong, ctypes.c_void_p


def build(
    architecture: str, folder: Path, name: str, into: Path, say: Callable[[str], None]
) -> None:
    """Compile what ``codegen.cuda`` wrote to ``into/NAME.so``, for such as sm_90; NoCompiler."""
    say(f"compiling {name} with nvcc for {architecture}")
    nvcc.compiled(folder / f"{name}.cu", into / f"{name}.so", f"-arch={architecture}", *SHARED)


def build_for_cpu(
    compiler: Command, folder: Path, name: str, into: Path, say: Callable[[str], None]
) -> None:
    """The same text for this processor, a loop in place of threads; CompilerError."""
    say(f"compiling {name}'s CUDA for the CPU with {shlex.join(compiler)}")
    flags = [*HOST_FLAGS, f"-D{name.upper()}_HOST"]
    compile_with([*compiler, *flags, str(folder / f"{name}.cu"), "-o", str(into / f"{name}.so")])


class CudaLibrary(Rows):
    """The functions of a library that ``codegen.cuda`` has written.

    Arrays are NumPy's, which are copied to the GPU and back through buffers that are kept; or all
    are on the GPU, CuPy's, PyTorch's or JAX's, and so are the results then: nothing is copied.
    ``room``: numbers of one state that functions of arrays on the GPU need besides. ``divides``:
    whether a state can be singular, which is then waited for.
    """

    def __init__(
        self,
        file: Path,
        name: str,
        interface: ArrayInterface,
        dtype: Any,
        room: int,
        divides: bool,
    ) -> None:
        super().__init__(interface, dtype, interface.same.name if interface.same else "")
        self._library = ctypes.CDLL(str(file))  # calls let other threads of Python run
        self._arrays = [POINTER] * (len(self.takes) + bool(interface.same) + len(self.gives))
        self.name, self._room_of_state, self._divides = name, room, divides
        suffix = SUFFIX[self.dtype]
        self._call = self._function(f"{name}{suffix}", LONG, LONG, *self._arrays)
        self._with = self._function(f"{name}_with{suffix}", LONG, POINTER, LONG, *self._arrays)
        device = f"{name}_rows_on_device{suffix}"
        self._on_device = self._function(device, ctypes.c_int, LONG, *self._arrays, *[POINTER] * 3)
        self._finish = self._function(f"{name}_finish", ctypes.c_int, POINTER)
        self._open = self._function(f"{name}_open", POINTER, LONG)
        self._close = self._function(f"{name}_close", None, POINTER)
        rows = sum(array.size for array in (*interface.takes, *interface.gives))
        self._most = ROOM // (8 * (rows + room))  # states whose buffers are kept
        self._room, self._buffers = 0, _Buffers(None, self._close)
        self._lock = threading.Lock()
        self._made_in = os.getpid()

    def _function(self, name: str, result: Any, *arguments: Any) -> Any:
        function = self._library[name]
        function.restype, function.argtypes = result, arguments
        return function

    def fits(self, arrays: Sequence[Any]) -> tuple[int, ...] | None:
        """The same, of arrays that are all on the GPU, too."""
        if not any(map(on_device, arrays)):
            return super().fits(arrays)
        if len(arrays) != len(self.takes) or not all(map(on_device, arrays)):
            return None
        device = device_of(arrays[0])
        if device is None or any(type(own) is not type(arrays[0]) for own in arrays):
            return None
        leading = tuple(arrays[0].shape[: arrays[0].ndim - len(self.takes[0])])
        for array, own in zip(arrays, self.takes, strict=True):
            if tuple(array.shape) != leading + own or not device.is_plain(array, self.dtype):
                return None
        return leading

    def run(self, leading: tuple[int, ...], arrays: Sequence[Any], threads: int = 1) -> list[Any]:
        """The results, where the arrays are; on the GPU it waits where a state can be singular.

        Raises Singular, NoGpu.
        """
        n = math.prod(leading)
        if not arrays or not on_device(arrays[0]):
            return self._run_on_host(n, leading, arrays)
        device = device_of(arrays[0])
        assert device is not None  # it `fits`
        found = [device.empty(leading + shape) for shape in self.gives]
        if n == 0:
            return found
        room = device.empty((n * self._room_of_state,)) if self._room_of_state else None
        least = device.minus_one() if self._divides else None
        device.wait([*arrays, *found, room, least])
        others = [device.address(array) if array is not None else None for array in (room, least)]
        places = [*map(device.address, (*arrays, *found)), *others]
        same = self._same  # the host's
        if same is not None:
            places.insert(self._same_at, same.ctypes.data)
        stream = device.stream()
        self._refuse(self._on_device(n, *places, stream))
        if device.waits:
            self._refuse(self._finish(stream))
        if least is not None and (singular := device.read(least)) >= 0:
            raise Singular(singular, self.inverted)
        return found

    def _run_on_host(
        self, n: int, leading: tuple[int, ...], arrays: Sequence[NDArray]
    ) -> list[NDArray]:
        """The results of arrays of NumPy's."""
        found = [np.empty(leading + shape, self.dtype) for shape in self.gives]
        if n == 0:
            return found
        given = [*arrays, *found]
        if self._same is not None:
            given.insert(self._same_at, self._same)
        if wrong := self._compute(n, [array.ctypes.data for array in given]):
            raise Singular(wrong - 1, self.inverted)
        return found

    def _compute(self, n: int, places: Sequence[int]) -> int:
        """Compute n states at the addresses of arrays: 0, or 1 + the first singular state."""
        with self._lock:  # a buffer serves one call at a time
            if self._room < n <= self._most:
                self._buffers.close()
                size = min(1 << (n - 1).bit_length(), self._most)
                opened = self._open(size)
                self._room = size if opened else 0
                self._buffers = _Buffers(opened, self._close)
            if n <= self._room:
                code = self._with(self._buffers.at, n, *places)
            else:
                code = self._call(n, *places)
        self._refuse(-code if code < 0 else 0)
        return code

    def _refuse(self, failed: int) -> None:
        """NoGpu for a code of CUDA's that is not 0."""
        if failed == -NO_ROOM:
            raise NoGpu(f"{self.name}: no memory of a GPU is to be had")
        if failed:
            forked = "" if os.getpid() == self._made_in else FORKED
            raise NoGpu(f"{self.name}: the GPU fails with error {failed} of CUDA's{forked}")


class _Buffers:
    """Memory of the GPU, given back when nobody has it any more."""

    def __init__(self, at: int | None, close: Callable[[int | None], None]) -> None:
        self.at = at
        self.close = weakref.finalize(self, close, at)
        self.close.atexit = False  # the driver may be gone by then


class _Device:
    """Makes and reads arrays as CuPy has them, or a package like it, on the GPU of ``like``."""

    waits = False  # whether a call waits for its kernels, since the package does not see them

    def __init__(self, like: Any) -> None:
        self.like, self.package = like, module_of(like)

    def is_plain(self, array: Any, dtype: Any) -> bool:
        """Whether an array has the type ``dtype`` and is C-contiguous."""
        return bool(array.dtype == dtype and array.flags.c_contiguous)

    def empty(self, shape: tuple[int, ...]) -> Any:
        """An array of this shape, of the type of ``like``."""
        return self.package.empty(shape, self.like.dtype)

    def minus_one(self) -> Any:
        """-1 in 64 bits, as an array (2,) of 32, since JAX has no others by default."""
        return self.package.full(2, -1, np.int32)

    def read(self, least: Any) -> int:
        """The value that `minus_one` has after a call."""
        return int(np.asarray(least.get() if hasattr(least, "get") else least).view(np.int64)[0])

    def address(self, array: Any) -> int:
        """The address of an array."""
        return int(array.__cuda_array_interface__["data"][0])

    def wait(self, arrays: Sequence[Any]) -> None:
        """Wait until the arrays are there, unless the stream sees to that."""

    def stream(self) -> int:
        """The stream that the package launches in, as an address; 0 is the default stream."""
        return self.like.__cuda_array_interface__.get("stream") or 0


class _Torch(_Device):
    """PyTorch's tensors."""

    def is_plain(self, array: Any, dtype: Any) -> bool:
        own = getattr(self.package, str(np.dtype(dtype)))
        return bool(array.dtype == own and array.is_contiguous() and array.device == self._device)

    @property
    def _device(self) -> Any:
        return self.like.device

    def empty(self, shape: tuple[int, ...]) -> Any:
        return self.package.empty(shape, dtype=self.like.dtype, device=self._device)

    def minus_one(self) -> Any:
        return self.package.full((2,), -1, dtype=self.package.int32, device=self._device)

    def read(self, least: Any) -> int:
        return int(least.cpu().numpy().view(np.int64)[0])

    def address(self, array: Any) -> int:
        return int(array.data_ptr())

    def stream(self) -> int:
        return int(self.package.cuda.current_stream(self._device).cuda_stream)


class _Jax(_Device):
    """JAX's arrays, which are immutable: results go to new ones that nobody has read yet."""

    waits = True

    def __init__(self, like: Any) -> None:
        self.like, self.package = like, sys.modules["jax"].numpy

    def is_plain(self, array: Any, dtype: Any) -> bool:
        return bool(array.dtype == dtype and array.device == self.like.device)

    def empty(self, shape: tuple[int, ...]) -> Any:
        return self.package.empty(shape, self.like.dtype, device=self.like.device)

    def minus_one(self) -> Any:
        return self.package.full((2,), -1, np.int32, device=self.like.device)

    def read(self, least: Any) -> int:
        return int(np.asarray(least).view(np.int64)[0])

    def address(self, array: Any) -> int:
        return int(array.unsafe_buffer_pointer())

    def wait(self, arrays: Sequence[Any]) -> None:
        for array in arrays:
            if array is not None:
                array.block_until_ready()

    def stream(self) -> int:
        return 0


DEVICES = {"torch": _Torch, "jaxlib": _Jax}  # by package


def device_of(array: Any) -> _Device | None:
    """The maker of arrays on the GPU of ``array``; None for a package that is not known."""
    package = type(array).__module__.partition(".")[0]
    if package in DEVICES:
        return DEVICES[package](array)
    return _Device(array) if like_numpy(array) else None
