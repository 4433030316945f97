"""A design's functions compiled to this machine's code, once, and kept in the cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..codegen import library
from ..codegen.interface import ANGLES, ArrayInterface, angle_arrays
from ..codegen.library import Library, Singular
from ..design.choices import COMPILED
from ..design.design import Design, choice_of, promising, with_choice
from ..design.functions import ROLLOUTS
from ..design.manifest import ProgramManifest
from ..design.nested import FORMULATED
from ..design.options import OF_PROGRAMS, OF_REGISTERS
from ..graph.word import PARAMETER
from ..robot.model import Array, Robot
from ..robot.xml_lines import read_bytes
from ..system.cache import cache_folder, cached, cached_result, is_cached, named
from ..system.compiler import NoCompiler, about, find_compiler, processor
from ..system.quoting import Progress
from .arrays import refuse_missing_forces
from .design_file import DESIGN, FOLDER, ROBOT, compiler_digest, design_digest, design_text
from .folder import InputError, read_manifest

if TYPE_CHECKING:
    from ..codegen.cuda_library import CudaLibrary

DTYPES = {"cpp": np.dtype(np.float64), "cpp32": np.dtype(np.float32)}
KEPT = ("robot", *OF_PROGRAMS)  # what a program depends on
ON_CPU = "-on-cpu"  # of CUDA, compiled for the CPU


@dataclass(frozen=True)
class ProgramKind:
    """One of `COMPILED`: C++ (``cpp``), CUDA on a GPU (``cuda``), its text on the CPU
    (``cuda-on-cpu``); in double, or with 32 in single precision."""

    name: str

    @property
    def language(self) -> str:
        """The language of its text: cpp or cuda."""
        return "cpp" if self.name in DTYPES else "cuda"

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU runs it, so that nvcc compiles it."""
        return self.language == "cuda" and not self.name.endswith(ON_CPU)

    @property
    def dtype(self) -> np.dtype:
        """The type of its arrays: float32 or float64."""
        return np.dtype(np.float32 if "32" in self.name else np.float64)

    def builder(self) -> ProgramBuilder:
        """The compiler of a shared library on this machine; NoGpu, NoCompiler."""
        if self.on_gpu:
            from ..codegen import cuda_library, nvcc  # which a program in C++ does without
            from ..system.compiler import NoGpu, find_gpu

            try:
                gpu = find_gpu()
            except NoGpu as error:
                raise NoGpu(
                    f"{error}. {self.name} runs where there is one; {self.name}{ON_CPU} is the "
                    "same text compiled for this processor"
                ) from None
            compiler = nvcc.find_nvcc()
            of = compiler, about(compiler), nvcc.FLAGS, cuda_library.SHARED, gpu.architecture
            return ProgramBuilder(repr(of), partial(cuda_library.build, gpu.architecture))
        compiler = find_compiler()
        about_it = about(compiler), processor()
        if self.language == "cuda":
            from ..codegen import cuda_library

            build = partial(cuda_library.build_for_cpu, compiler)
            return ProgramBuilder(repr((*about_it, cuda_library.HOST_FLAGS)), build)
        build = partial(library.build, compiler, self.dtype, module=True)
        return ProgramBuilder(repr((*about_it, library.FLAGS, library.PYTHON)), build)


@dataclass(frozen=True)
class ProgramBuilder:
    """``build(folder, name, into, say)`` compiles a program; ``of``: what the code depends on."""

    of: str
    build: Callable[[Path, str, Path, Progress], None]


class NativeProgram:
    """A design's functions, all at once, of a kind.

    ``folder``: as `generate` writes it, with the manifest ``entry``, which has the ``notes``;
    ``file``: the shared library.
    """

    def __init__(
        self,
        design: Design,
        robot: Robot,
        folder: Path,
        entry: ProgramManifest,
        place: Path,
        kind: ProgramKind,
    ) -> None:
        self.design, self.robot, self.folder = design, robot, folder
        self.name, self.facts, self.notes = entry.name, entry.facts, entry.notes
        own: ArrayInterface = entry.interface
        # what registers hold is given by itself
        takes = tuple(array for array in own.takes if array.name != PARAMETER)
        self.interface = replace(own, takes=takes)
        self.file = place / f"{self.name}.so"
        module = place / f"_{self.name}.so"
        held = [number["real"] for number in self.facts["parameters"]]
        self.library: Library | CudaLibrary
        if kind.language == "cpp":
            same = PARAMETER if held else ""
            self.library = Library(module, self.name, own, kind.dtype, same)
        else:
            from ..codegen.cuda_library import CudaLibrary

            rooms = self.facts["room"], self.facts["divides"]
            self.library = CudaLibrary(self.file, self.name, own, kind.dtype, *rooms)
        if held:
            self.library.hold(held)

    def __call__(self, arrays: Mapping[str, Array], threads: int = 1) -> dict[str, NDArray]:
        """All that the functions give, (N, …), of arrays as `checked` has them.

        InputError for a force on a link that has no force input; Singular.
        """
        refuse_missing_forces(self.design, self.robot, arrays["f_ext"])
        n = len(arrays["q"])
        given = {**arrays, **self._angles(arrays)}
        takes = [
            np.ascontiguousarray(given[a.name], self.library.dtype) for a in self.interface.takes
        ]
        found = self.library.run((n,), takes, threads)
        return dict(zip(self.library.names, found, strict=True))

    def _angles(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """The arrays sin and cos, where they are inputs; zero for joints that have neither."""
        own = self.interface
        names = [name for name, entry in own.inputs.items() if entry.array in ANGLES]
        if not names:
            return {}
        from ..dynamics.interface import to_columns

        columns = to_columns(self._canonical, names, arrays)
        return angle_arrays(own, columns, len(arrays["q"]))

    @cached_property
    def _canonical(self) -> Robot:
        from ..design.design import rewritten

        *_, (_, last) = rewritten(self.design, self.robot, in_floats=True)
        return last


def compiled(
    design: Design, robot: Robot, kind: str, progress: Progress, registers: bool = False
) -> NativeProgram:
    """The functions of a design, of ``robot``, its robot; ``kind``: one of `COMPILED`.

    ``registers``: what a design holds in registers can be other numbers, too, and is not constant.

    Generated and compiled into the cache the first time, and found there by a digest of robot,
    choices, rbdgen and compiler. InputError for rollouts, which only accelerators have;
    NoCompiler, CompilerError, NoGpu; CacheError where the cache cannot be written.
    """
    assert kind in COMPILED
    if rollouts := [name for name in design.functions if name in ROLLOUTS]:
        raise InputError(
            f"{kind} has no {rollouts[0]}: rollouts are of golden, integer and rtl only"
        )
    own, of = _of_programs(design, KEPT + OF_REGISTERS * registers), ProgramKind(kind)
    builder = of.builder()
    source = _source(own, of, builder)
    folder = cached(source, lambda work: _write(own, of, work, progress), progress)
    entry = read_manifest(folder).program

    def make(work: Path) -> None:
        builder.build(folder, entry.name, work, progress)

    library_folder = cached(named("program", source, kind, builder.of), make, progress)
    for note in entry.notes:
        progress(f"note: {note}")
    return NativeProgram(own, robot, folder, entry, library_folder, of)


def _source(own: Design, of: ProgramKind, builder: ProgramBuilder) -> str:
    """The cached folder of a program's files."""
    bounds = builder.of if of.on_gpu else ""  # its launch bounds are chosen by what nvcc says
    return named(of.language, compiler_digest(FOLDER), design_digest(own), bounds)


TIMED, REPEATED = 1024, 30  # states of a batch, and batches


def measured(design: Design, robot: Robot) -> float | None:
    """The time of a state in C++ on this machine [ns], of one core in batches of `TIMED`.

    The shortest of several, measured once and kept; None unless `compiled` made the program here.
    """
    own, of = _of_programs(design, KEPT), ProgramKind("cpp")
    try:
        builder = of.builder()
    except NoCompiler:
        return None
    source = _source(own, of, builder)
    name = named("program", source, of.name, builder.of)
    folder, library_folder = cache_folder() / source, cache_folder() / name
    if not (is_cached(folder) and is_cached(library_folder)):
        return None

    def measure() -> float:
        entry = read_manifest(folder).program
        program = NativeProgram(own, robot, folder, entry, library_folder, of)
        draw = np.random.default_rng(1).uniform
        takes = [draw(-1, 1, (TIMED, *array.shape)) for array in program.interface.takes]
        times = []
        for _ in range(REPEATED):
            before = perf_counter_ns()
            with suppress(Singular):  # of matrices that no robot has
                program.library.run((TIMED,), takes)
            times.append(perf_counter_ns() - before)
        return round(min(times) / TIMED, 1)

    found: float = cached_result(cache_folder(), "time", name, measure)
    return found


def _of_programs(design: Design, kept: Sequence[str]) -> Design:
    """The design with nothing but what a program depends on."""
    plain = promising(Design(design.robot))
    others = [field.name for field in fields(Design) if field.name not in kept]
    own = replace(design, **{name: getattr(plain, name) for name in others})
    choice = choice_of(design, FORMULATED)
    return with_choice(own, choice) if choice else own


def _write(design: Design, kind: ProgramKind, work: Path, progress: Progress) -> None:
    """Write the program's folder."""
    import tempfile  # which a program that is kept does without

    from ..compile.flow import front_end
    from .programs import cpp_program, cuda_program

    with tempfile.TemporaryDirectory(prefix="rbdgen-") as place:
        (Path(place) / ROBOT).write_bytes(read_bytes(design.robot))
        (Path(place) / DESIGN).write_text(design_text(design), "utf-8")
        front = front_end(str(Path(place) / DESIGN), progress, in_floats=True)
        cuda = kind.language == "cuda"
        files = cuda_program(front, progress, kind.on_gpu) if cuda else cpp_program(front)
        for name, text in files.items():
            (work / name).write_bytes(text.encode("utf-8", "surrogateescape"))
