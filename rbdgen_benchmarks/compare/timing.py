"""How long programs take on this machine: compiled once, run in turn; our C++ in all its ways."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rbdgen.api.folder import InputError
from rbdgen.api.native_programs import NativeProgram
from rbdgen.codegen.cpp import cpp
from rbdgen.codegen.interface import ArrayInterface
from rbdgen.codegen.library import FLAGS, build
from rbdgen.graph.graph import Graph
from rbdgen.system.cache import cached, named
from rbdgen.system.compiler import about, compile_with, find_compiler, processor
from rbdgen.system.quoting import Progress
from rbdgen.system.signals import run_child
from rbdgen.system.templates import data_folder, render

Commands = Mapping[str, Sequence[str | Path]]
PROCESSES = 5
FAST = ("-O3", "-march=native", "-DNDEBUG")
PLAIN = ("-O3", "-DNDEBUG")  # for any processor of the kind
PROGRAM = "program"
SOURCES = data_folder("templates") / "bench"
INCLUDE = re.compile(r'^#include "(.*)"$', re.MULTILINE)
Command = Sequence[str | Path]
ABOUT = {"robot": "a robot", "functions": "a function"}
NAME, STATES = "timed", "states.txt"
DRAWN, SEED = 64, 1  # states of a graph that is no design's
RUNS, CALLS = 5, 3  # through Python


def least(commands: Commands, processes: int = 0) -> dict[str, tuple[float, ...]]:
    """The numbers that each program prints, each the least of several processes (0: `PROCESSES`).

    The programs take turns, so that a busy minute is all of theirs.
    """
    found: dict[str, tuple[float, ...]] = {}
    for _ in range(processes or PROCESSES):
        for name, own in commands.items():
            new = tuple(map(float, said([str(word) for word in own]).split()))
            found[name] = tuple(map(min, found.get(name, new), new))
    return found


def program(
    name: str,
    flags: Sequence[str],
    source: str,
    say: Progress,
    what: str,
    parts: Sequence[Path] = (),
    optimised: Sequence[str] = FAST,
) -> Path:
    """A program of a source's text in C++, and of files in C, that is compiled once and kept.

    NoCompiler, CompilerError; CacheError where the cache cannot be written.
    """
    compiler = find_compiler()
    headers = [SOURCES / own for own in INCLUDE.findall(source)]
    texts = [source, *(own.read_text("utf-8") for own in (*headers, *parts) if own.is_file())]
    key = named(name, about(compiler), processor(), flags, optimised, texts)

    def make(work: Path) -> None:
        say(f"compiling {what}")
        place = work / "source.cpp"
        place.write_text(source, "utf-8")
        objects = [str(work / f"{part.stem}.o") for part in parts]
        for part, target in zip(parts, objects, strict=True):
            compile_with([*compiler, *optimised, "-x", "c", "-c", str(part), "-o", target])
        command = [*compiler, f"-I{SOURCES}", str(place), *objects, *flags]
        compile_with([*command, "-o", str(work / PROGRAM)])

    return cached(key, make, say) / PROGRAM


def said(command: Sequence[str]) -> str:
    """Run a program and return its output; InputError with its first line of complaint."""
    done = run_child(command)
    if done.returncode:
        reason = (done.stderr.splitlines() or [f"exit status {done.returncode}"])[0]
        raise InputError(f"{Path(command[0]).parent.name}: {reason}")
    return done.stdout


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
    programs: Mapping[str, NativeProgram], sizes: Sequence[int], threads: int, progress: Progress
) -> dict[str, ProgramTimes]:
    """Times of programs by name, which are time-multiplexed, of the states in their folders.

    NoCompiler, CompilerError.
    """
    commands = {name: command(own, sizes, threads, progress) for name, own in programs.items()}
    return {name: read(found, sizes) for name, found in least(commands).items()}


def graph_times(
    graph: Graph,
    interface: ArrayInterface,
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
    key = named("timed", sorted(files.items()), SEED, about(compiler), FLAGS, processor())

    def make(work: Path) -> None:
        for name, text in files.items():
            (work / name).write_text(text, "utf-8")
        np.savetxt(work / STATES, drawn)
        build(compiler, np.float64, work, NAME, work, progress)

    folder = cached(key, make, progress)
    own = _command(NAME, interface, folder, folder / f"{NAME}.so", np.dtype(np.float64), progress)
    return read(least({NAME: [*own, str(threads), *map(str, sizes)]})[NAME], sizes)


def through_python(program: NativeProgram, sizes: Sequence[int]) -> dict[int, float]:
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


def command(own: NativeProgram, sizes: Sequence[int], threads: int, say: Progress) -> Command:
    """A command that prints the times of a program, as `read` parses them."""
    of = own.name, own.interface, own.folder, own.file, own.library.dtype, say
    return [*_command(*of), str(threads), *map(str, sizes)]


def _command(
    name: str, interface: ArrayInterface, folder: Path, file: Path, dtype: np.dtype, say: Progress
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
