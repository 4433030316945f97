"""A robot's functions in C++, as calls of XLA's FFI within JAX's programs: no copy, no Python."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from jaxlib.version import __version__ as jaxlib

from rbdgen.api.folder import InputError
from rbdgen.api.native_programs import NativeProgram, compiled
from rbdgen.codegen.library import FLAGS, OTHER, SUFFIX, headers
from rbdgen.design.design import Design, of_functions
from rbdgen.robot.model import Robot
from rbdgen.system.cache import cached, named
from rbdgen.system.compiler import NoCompiler, compile_with, find_compiler
from rbdgen.system.quoting import Progress

from .algebra import Array
from .jax_installed import jax
from .straight import forced_links

KINDS = {"float64": "cpp", "float32": "cpp32"}  # by the type of its arrays
NATIVE = "native"  # the method that these calls are


class Native:
    """A design's functions compiled for this machine, called within JAX's programs.

    Arrays have any leading axes, the same for all of a call; ``jax.vmap`` adds one, so that a batch
    is one call. Results of a state whose mass matrix is singular are NaN. ``threads``: those that a
    large batch is shared by; 0: as many as there are cores.
    """

    def __init__(
        self, design: Design, robot: Robot, dtype: np.dtype, threads: int, say: Progress
    ) -> None:
        self._design, self._robot, self._dtype = design, robot, np.dtype(dtype)
        self._threads, self._say = threads, say
        self._program = cache(self._compiled)

    def __call__(self, functions: tuple[str, ...], arrays: Mapping[str, Array]) -> dict[str, Array]:
        """The results of ``functions`` at the same states, (…, shape of each) by name.

        ``arrays``: those that they take, and f_ext (…, bodies, 6) for forces on links. InputError
        where JAX computes elsewhere than on a CPU; RobotError where the robot cannot have them.
        """
        if jax.default_backend() != "cpu":
            raise InputError(
                f"method: {NATIVE} is compiled for a CPU, and JAX computes on a "
                f"{jax.default_backend()}; take another method, or JAX_PLATFORMS=cpu"
            )
        program, target = self._program(functions, "f_ext" in arrays)
        leading = arrays["q"].shape[:-1]
        gives = program.interface.gives
        call = jax.ffi.ffi_call(
            target,
            [jax.ShapeDtypeStruct((*leading, *own.shape), self._dtype) for own in gives],
            vmap_method="broadcast_all",
        )
        given = (arrays[own.name] for own in program.interface.takes)
        found = call(*given, threads=np.int64(self._threads))
        return dict(zip((own.name for own in gives), found, strict=True))

    def _compiled(self, functions: tuple[str, ...], forced: bool) -> tuple[NativeProgram, str]:
        """The program of some functions, and the name by which XLA knows it."""
        own = of_functions(self._design, functions)
        own = replace(own, external_forces=forced_links(self._robot, forced))
        program = compiled(own, self._robot, KINDS[self._dtype.name], self._say)
        return program, registered(program, self._dtype, self._say)


def registered(program: NativeProgram, dtype: np.dtype, say: Progress) -> str:
    """The name of a program's target of XLA: that of the cache's folder with its handler.

    So it is in another process, whose compiled programs JAX may have kept. CompilerError.
    """
    name = named("xla", str(program.file), jaxlib, dtype.name)
    if name in _REGISTERED:
        return name
    handler, only = f"{program.name}_xla", f"-D{program.name.upper()}_NO_{OTHER[dtype]}"

    def make(work: Path) -> None:
        compiler = find_compiler()
        say(f"compiling {handler} with {compiler[0]}")
        source = str(program.folder / f"{handler}.cc")
        made = ["-shared", "-o", str(work / f"{handler}.so")]
        include = f"-I{jax.ffi.include_dir()}"
        compile_with([*compiler, *FLAGS, only, include, source, str(program.file), *made])

    file = cached(name, make, say) / f"{handler}.so"
    function = getattr(ctypes.CDLL(str(file)), handler + SUFFIX[dtype])
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(function), platform="cpu")
    _REGISTERED.add(name)
    return name


@cache
def can_compile() -> bool:
    """Whether there is what a program is compiled with: a C++ compiler, and Python's headers.

    Without, a warning says so, once in a process.
    """
    try:
        find_compiler()
        headers()
    except NoCompiler as error:
        slower = f"methods are slower than {NATIVE!r} by default: {error}"
        warnings.warn(slower, RuntimeWarning, stacklevel=4)
        return False
    return True


_REGISTERED: set[str] = set()  # with JAX, once in a process
