"""How long a C++ program of rbdgen's takes on this machine: one state, blocks, rows, threads."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..codegen.cpp import cpp
from ..codegen.interface import Interface
from ..graph.graph import Graph
from ..system.compiler import compile_with, find_compiler
from ..system.stopping import run_child
from ..system.templates import render
from .folder import InputError

FLAGS = ("-std=c++17", "-O3", "-march=native", "-fopenmp")
PROCESSES = 5  # of which the least loaded counts
ABOUT = {"robot": "a robot", "functions": "a function"}


@dataclass(frozen=True)
class Times:
    """ns a state of so many: blocks and rows of float, of double, and rows on all cores."""

    blocks_f32: float
    rows_f32: float
    blocks: float
    rows: float
    threads: float


@dataclass(frozen=True)
class ProgramTimes:
    """``one``: ns of a single state; ``of``: number of states → times of a call for them."""

    one: float
    of: Mapping[int, Times]


def program_times(
    graph: Graph,
    interface: Interface,
    sizes: Sequence[int],
    threads: int,
    progress: Callable[[str], None] = lambda _: None,
) -> ProgramTimes:
    """Times of a graph as C++, compiled for this processor, batches of ``sizes`` states.

    One thread's are of its CPU time, several threads' of the clock on the wall. Each is the least
    of many runs in several processes. NoCompiler, CompilerError.
    """
    compiler = find_compiler()
    files, _ = cpp(graph, interface, "timed", ABOUT)
    names = [a.name for a in (*interface.takes, *interface.gives)]

    def each(rows: str) -> str:
        return ", ".join(f"{rows}[{k}].data()" for k in range(len(names)))

    files["times.cpp"] = render(
        "bench/program_times.cpp.jinja",
        name="timed",
        takes=interface.takes,
        gives=interface.gives,
        each=each,
    )
    with tempfile.TemporaryDirectory(prefix="rbdgen-times-") as folder:
        place = Path(folder)
        for name, text in files.items():
            (place / name).write_text(text)
        progress(f"compiling {len(graph.nodes)} nodes")
        sources = [str(place / name) for name in files if name.endswith(".cpp")]
        compile_with([compiler, *FLAGS, *sources, "-o", str(place / "times")])
        command = [str(place / "times"), str(threads), *map(str, sizes)]
        runs = [_said(command).splitlines() for _ in range(PROCESSES)]
    least = [
        [min(own) for own in zip(*(map(float, run[k].split()) for run in runs), strict=True)]
        for k in range(len(sizes) + 1)
    ]
    (one,), *rest = least
    return ProgramTimes(one, {n: Times(*own) for n, own in zip(sizes, rest, strict=True)})


def _said(command: Sequence[str]) -> str:
    done = run_child(command)
    if done.returncode:
        reason = (done.stderr.splitlines() or [f"exit status {done.returncode}"])[0]
        raise InputError(f"{Path(command[0]).name}: {reason}")
    return done.stdout
