"""How long a C++ program of rbdgen's takes on this machine: one state, blocks, rows, threads."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..codegen.cpp import cpp
from ..codegen.interface import Interface
from ..codegen.library import FLAGS, build
from ..graph.graph import Graph
from ..system.compiler import about, find_compiler, processor
from ..system.templates import render
from .compiled import Program
from .timing import digest_of, kept_in_cache, least, program

Progress = Callable[[str], None]
Command = Sequence[str | Path]
ABOUT = {"robot": "a robot", "functions": "a function"}
NAME, STATES = "timed", "states.txt"
DRAWN, SEED = 64, 1  # states of a graph that is no design's
RUNS, CALLS = 5, 3  # through Python


@dataclass(frozen=True)
class Times:
    """ns a state of so many: in blocks and in rows, in CPU time of one thread; in rows on the wall,
    by one thread and by several; and of ``zeros`` written over the rows that come out, and nothing
    else, in CPU time."""

    blocks: float
    rows: float
    wall: float
    threads: float
    zeros: float


@dataclass(frozen=True)
class ProgramTimes:
    """``one``: ns of one state after another; ``of``: number of states → times of a call for them.

    Medians of 5 to 51 runs, the more the shorter; the least of several processes.
    """

    one: float
    of: Mapping[int, Times]


def times_of(
    programs: Mapping[str, Program], sizes: Sequence[int], threads: int, progress: Progress
) -> dict[str, ProgramTimes]:
    """Times of programs by name, which take turns, of the states in their folders.

    NoCompiler, CompilerError.
    """
    commands = {name: command(own, sizes, threads, progress) for name, own in programs.items()}
    return {name: read(found, sizes) for name, found in least(commands).items()}


def graph_times(
    graph: Graph,
    interface: Interface,
    sizes: Sequence[int],
    threads: int,
    progress: Progress = lambda _: None,
) -> ProgramTimes:
    """Times in double of a graph that is no design's, at random states.

    NoCompiler, CompilerError.
    """
    compiler = find_compiler()
    files, _ = cpp(graph, interface, NAME, ABOUT)
    width = sum(array.size for array in interface.takes)
    drawn = np.random.default_rng(SEED).uniform(-1, 1, (DRAWN, width))
    of = digest_of(repr((sorted(files.items()), SEED, about(compiler), FLAGS, processor())))

    def make(work: Path) -> None:
        for name, text in files.items():
            (work / name).write_text(text, "utf-8")
        np.savetxt(work / STATES, drawn)
        build(compiler, np.float64, work, NAME, work, progress)

    folder = kept_in_cache(f"timed-{of}", progress, make)
    own = _command(NAME, interface, folder, folder / f"{NAME}.so", np.dtype(np.float64), progress)
    return read(least({NAME: [*own, str(threads), *map(str, sizes)]})[NAME], sizes)


def through_python(program: Program, sizes: Sequence[int]) -> dict[int, float]:
    """ns of a state of so many in arrays of NumPy's, on the wall: the least of several calls."""
    library, found = program.library, {}
    for n in sizes:
        arrays = [np.full((n, *shape), 0.25, library.dtype) for shape in library.takes]
        least_of = math.inf
        for _ in range(RUNS):
            start = time.perf_counter_ns()
            for _ in range(CALLS):
                library.run((n,), arrays)
            least_of = min(least_of, (time.perf_counter_ns() - start) / CALLS)
        found[n] = least_of / n
    return found


def command(own: Program, sizes: Sequence[int], threads: int, say: Progress) -> Command:
    """A command that prints the times of a program, as `read` parses them."""
    of = own.name, own.interface, own.folder, own.file, own.library.dtype, say
    return [*_command(*of), str(threads), *map(str, sizes)]


def _command(
    name: str, interface: Interface, folder: Path, file: Path, dtype: np.dtype, say: Progress
) -> Command:
    """``folder``: of the header and of the states; ``file``: the library."""
    arrays = (*interface.takes, *interface.gives)
    places = {array.name: k for k, array in enumerate(interface.takes)}
    entries = interface.inputs.values()
    text = render(
        "bench/states_times.cpp.jinja",
        name=name,
        sizes=[array.size for array in arrays],
        takes=len(interface.takes),
        arrays=len(arrays),
        # of each input of a block: which array, and which of its entries
        input_array=[places[entry.array] for entry in entries],
        input_at=[entry.at for entry in entries],
    )
    scalar, suffix = ("double", "") if dtype == np.float64 else ("float", "_f32")
    flags = ["-std=c++17", "-O2", f"-DSCALAR={scalar}", f"-DSUFFIX={suffix}", f"-I{folder}"]
    flags += [str(file), f"-Wl,-rpath,{file.parent}"]
    made = program(f"times-{file.parent.name}", flags, text, say, f"times of {name}")
    return [made, folder / STATES]


def read(numbers: Sequence[float], sizes: Sequence[int]) -> ProgramTimes:
    """The times of what a `command` has printed."""
    one, *rest = numbers
    count = len(rest) // len(sizes)
    rows = (rest[k : k + count] for k in range(0, len(rest), count))
    return ProgramTimes(one, {n: Times(*own) for n, own in zip(sizes, rows, strict=True)})
