"""A program as a module of Python, compiled for this machine and called with NumPy arrays."""

from __future__ import annotations

import importlib.util
import shlex
import sys
import sysconfig
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..system.compiler import Command, NoCompiler, compile_with
from ..system.quoting import Refusal
from .interface import ArrayInterface, inverted

FLAGS = ("-std=c++17", "-O3", "-march=native", "-fPIC", "-pthread")
OTHER = {np.dtype(np.float64): "FLOAT", np.dtype(np.float32): "DOUBLE"}  # which is left out
SUFFIX = {np.dtype(np.float64): "", np.dtype(np.float32): "_f32"}
# what a compiled module depends on besides: headers of NumPy 2 serve all its versions
PYTHON = sys.implementation.cache_tag, np.__version__.partition(".")[0], sysconfig.get_platform()


class Singular(Refusal, np.linalg.LinAlgError):
    """A matrix has no inverse in the state ``state``; ``inverted``: which, in words."""

    def __init__(self, state: int, inverted: str) -> None:
        super().__init__(f"the {inverted} of state {state} is singular, or not finite")
        self.state = state


def build(
    compiler: Command,
    dtype: Any,
    folder: Path,
    name: str,
    into: Path,
    say: Callable[[str], None],
    flags: Sequence[str] = FLAGS,
    module: bool = False,
) -> None:
    """Compile the files that ``codegen.cpp`` wrote to ``into/NAME.so``, all cores at once.

    For this processor and one precision only. ``module``: to ``into/_NAME.so``, too, which Python
    imports. CompilerError; NoCompiler where a module's headers are missing.
    """
    import tempfile  # what programs that are in the cache do without
    from concurrent.futures import ThreadPoolExecutor

    sources = sorted(folder.glob(f"{name}*.cpp"))
    only = [f"-D{name.upper()}_{what}" for what in ("NATIVE", f"NO_{OTHER[np.dtype(dtype)]}")]
    flags = [*flags, *only]
    if module:
        sources.append(folder / f"{name}_python.cc")
        flags += headers()
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

        def link(file: str, objects: Sequence[str]) -> None:
            compile_with([*compiler, *flags, "-shared", *objects, "-o", str(into / file)])

        if module:
            link(f"_{name}.so", objects)
        link(f"{name}.so", objects[: len(objects) - module])


def load_module(file: Path) -> Any:
    """The module that a shared library ``_NAME.so`` is; ImportError."""
    loader = ExtensionFileLoader(file.stem, str(file))
    spec = importlib.util.spec_from_file_location(file.stem, file, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def headers() -> list[str]:
    """Flags of a compiler that name the headers of Python and of NumPy; NoCompiler without them."""
    python = Path(sysconfig.get_paths()["include"])
    if not (python / "Python.h").is_file():
        raise NoCompiler(
            f"no header Python.h in {python}: install it (Debian: apt-get install python3-dev)"
        )
    return [f"-I{python}", f"-I{np.get_include()}"]


class Rows(ABC):
    """Functions of arrays as NumPy has them, in one precision.

    ``takes`` and ``gives`` are the shapes of one state's arrays, in the order of the interface;
    ``dtype`` is that of all of them. ``same``: the name of an array that is none of ``takes``: what
    `hold` was told is every state's.
    """

    def __init__(self, interface: ArrayInterface, dtype: Any, same: str = "") -> None:
        self.dtype = np.dtype(dtype)
        self.names = tuple(array.name for array in interface.gives)
        self.takes = tuple(array.shape for array in interface.takes if array.name != same)
        self.gives = tuple(array.shape for array in interface.gives)
        self.inverted = inverted(interface)
        taken = [array.name for array in interface.takes]
        self._same_at = taken.index(same) if same in taken else len(taken)
        self._same: NDArray | None = None

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

    @abstractmethod
    def run(
        self, leading: tuple[int, ...], arrays: Sequence[NDArray], threads: int = 1
    ) -> list[NDArray]:
        """The arrays that come out, (*leading, …), of those that `fits`; nothing is copied.

        NaN where anything of a state that is read is not finite. Singular where the mass matrix
        that is divided by is not positive definite.
        """


class Library(Rows):
    """The functions of a module that `build` has compiled.

    ``bind`` makes a call of the driver of them, as ``templates/cpp/python.cc.jinja`` describes it;
    None where an array is every state's. ``module``: for its steps in configuration space.
    """

    def __init__(
        self, file: Path, name: str, interface: ArrayInterface, dtype: Any, same: str = ""
    ) -> None:
        super().__init__(interface, dtype, same)
        module = load_module(file)
        self.module, self._compute, self._singular = module, module.compute, module.Singular
        self.bind: Callable[..., Any] | None = None if same else module.bind

    def run(
        self, leading: tuple[int, ...], arrays: Sequence[NDArray], threads: int = 1
    ) -> list[NDArray]:
        given = list(arrays)
        if self._same is not None:
            given.insert(self._same_at, np.tile(self._same, (*leading, 1)))
        try:
            found = self._compute(*given, threads=threads)
        except self._singular as error:
            raise Singular(error.state, self.inverted) from None
        return [found] if len(self.names) == 1 else list(found)


XLA_ON_GPU = ("cuda", "gpu")  # platforms of JAX


def on_device(array: Any) -> bool:
    """Whether an array lies on a GPU: one of CuPy, PyTorch, JAX, or of any package that says so."""
    if type(array).__module__.partition(".")[0] == "jaxlib":  # an array, which nothing traces
        return getattr(array.device, "platform", None) in XLA_ON_GPU
    return hasattr(array, "__cuda_array_interface__")


def like_numpy(array: Any) -> bool:
    """Whether its package makes arrays on the GPU as NumPy does here, as CuPy does."""
    return isinstance(array, getattr(module_of(array), "ndarray", ()))


def module_of(array: Any) -> Any:
    """The package whose array it is."""
    return sys.modules[type(array).__module__.partition(".")[0]]
