"""How long g++ takes for C++ of graphs of many sizes: linear time, in functions of 1000 nodes."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rbdgen import api
from rbdgen.codegen.library import build
from rbdgen.codegen.statement_order import LONGEST
from rbdgen.system.compiler import find_compiler
from rbdgen.system.quoting import Progress

from .cpu import processor
from .measurement import Row, measurement

CASES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("iiwa14", "fixed", ("dfd",)),
    ("hyq", "floating", ("did",)),
    ("hyq", "floating", ("dfd",)),
    ("humanoid", "floating", ("did",)),
    ("humanoid", "floating", ("dfd",)),
)
HEAD = ("robot", "base", "functions", "nodes", "parts", "CPU s", "CPU ms a node")


@measurement(
    "compiling",
    "minutes",
    HEAD,
    cases=lambda: CASES,
    legend=f"Graphs of more than {LONGEST} nodes are split. {processor()}.",
)
def compiling(
    place: Path, progress: Progress, robot: str, base: str, functions: tuple[str, ...]
) -> Iterator[Row]:
    """CPU time that g++ -O3 takes a node, of graphs that are split, in double, for this machine."""
    what = f"{robot}, {base}, {', '.join(functions)}"
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as work:
        folder = Path(work) / "made"
        made = api.generate(robot, folder, to="cpp", base=base, functions=functions)
        program = made.manifest.program
        progress(f"{what}: {program.facts['nodes']} nodes")
        before = cpu_seconds()
        build(find_compiler(), np.float64, folder, program.name, Path(work), progress)
        took = cpu_seconds() - before
    nodes, parts = program.facts["nodes"], program.facts["parts"]
    each = round(1000 * took / nodes, 3)
    yield [robot, base, ", ".join(functions), nodes, parts, round(took, 1), each]


def cpu_seconds() -> float:
    """The processor time [s] of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
