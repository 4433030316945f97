"""Functions on a GPU: what kernels take by NVIDIA's assembler, and their speed where one is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.api.native_programs import compiled as program
from rbdgen.codegen.interface import rows
from rbdgen.codegen.nvcc import compiled, find_nvcc
from rbdgen.design.loading import load
from rbdgen.draw.tables import table
from rbdgen.system.compiler import NoGpu, find_gpu
from rbdgen.system.quoting import Progress
from rbdgen.system.signals import run_child
from rbdgen.system.templates import render

from ..compare.timing import said, through_python
from . import grid
from .measurement import Rows, measurement

FUNCTIONS = ("id", "m", "minv", "fd", "did", "dfd", "difd")
CASES: tuple[tuple[str, str, str], ...] = (
    *(("iiwa14", "fixed", function) for function in FUNCTIONS),
    ("hyq", "floating", "id"),
    ("hyq", "floating", "did"),
)
HEAD = ("function", "kernel", "operations", "in use", "", "scalar", "registers", "spilled", "KB")
KEYS = (
    *("kernel", "operations", "in_use", "architecture", "scalar"),
    *("registers", "spilled", "code_kb"),
)
NOTE = (
    "By ptxas, of code compiled with -O3. In use: numbers at once, at most. Spilled: bytes that a\n"
    "thread writes to memory and reads again. KB: of a kernel's code."
)
NO_GPU = "none of this has run, and no time is known."
TIMES = (
    *("function", "scalar", "states", "ns a state, columns", "rows", "with copies"),
    *("page-locked", "through Python", "grid-rbd, kernel", "grid-rbd, with copies"),
)
ABOUT = (
    "All checked before and after. Columns, rows: states and results in the GPU's memory. With\n"
    "copies, page-locked: arrays of the host, in C++, up to 256 MiB. grid-rbd: in float, the best\n"
    "of its numbers of threads; its arrays are page-locked."
)
KINDS = {"double": "cuda", "float": "cuda32"}


@measurement("gpu", "minutes")
def gpu(place: Path, progress: Progress) -> Any:
    """CUDA on a GPU, where there is one, checked and timed; registers, spills, code by ptxas."""
    try:
        found, why = find_gpu(), ""
    except NoGpu as error:
        found, why = None, str(error)
    if not found:
        print(f"{why}: {NO_GPU}\n")
    kernels: list[list[Any]] = []
    times = Rows(TIMES)
    notes: dict[str, None] = {}  # why the peer is not beside
    if found:
        print(f"{found.name}\n")
    for robot, base, function in CASES:
        name = f"{robot}{' floating' * (base == 'floating')} {function}"

        def say(line: str, name: str = name) -> None:
            progress(f"{name}: {line}")

        folder = place / "gpu" / name.replace(" ", "_")
        choices: dict[str, Any] = {"base": base, "functions": (function,)}
        made = api.generate(robot, folder, say, to="cuda", force=True, **choices).manifest.program
        if made.facts["ptxas"] is None:
            find_nvcc()  # which says why
        kernels += [[name, *row] for row in _rows(made.facts)]
        if found:
            ours = _timed(folder, made.name, name, found.architecture, say)
            python = {
                kind: _through_python(robot, kind, ours, choices, say) for kind in KINDS.values()
            }
            peer = _peer(folder, function, base, found.architecture, notes, say)
            for scalar, n, own in ours:
                beside = peer.get(n, ("-", "-")) if scalar == "float" else ("-", "-")
                through = python[KINDS[scalar]][n]
                times.add([name, scalar, n, *own, through, *beside])
    if found:
        times.close("\n\n".join([ABOUT, *notes]))
        print()
    print(f"{table(HEAD, kernels)}\n\n{NOTE}")
    return {
        "gpu": found.name if found else None,
        "kernels": [dict(zip(("function", *KEYS), row, strict=True)) for row in kernels],
        "times": times.to_json(),
        "notes": [why] if why else list(notes),
    }


def _rows(facts: Any) -> list[list[Any]]:
    """Rows of a table: each computing kernel's operations and resources, by the manifest."""
    rows = []
    for own in facts["ptxas"]["kernels"]:
        if own["kernel"].startswith("kernel_"):
            number = int(own["kernel"].removeprefix("kernel_"))
            kernel = facts["kernels"][number]
            spilled = own["spill_stores"] + own["spill_loads"]
            rows.append(
                [
                    *(number, kernel["operations"], kernel["live"]),
                    *(own["architecture"], own["scalar"], own["registers"], spilled),
                    round(own["code"] / 1000),
                ]
            )
    return rows


Timed = tuple[str, int, list[Any]]  # scalar, states, ns a state in each way or "-"


def _timed(folder: Path, name: str, what: str, architecture: str, say: Progress) -> list[Timed]:
    """Times in all ways that C++ calls, the results checked, twice."""
    built(folder, name, architecture, say)
    for again in (False, True):
        say("checking")
        for scalar in ((), ("--float",)):
            check = [str(folder / "example"), *scalar, "--check", str(folder / "expected.txt")]
            done = run_child([*check, str(folder / "states.txt")])
            if done.returncode:
                complaint = (done.stderr or done.stdout).strip().splitlines()
                raise api.InputError(f"{what}: on this GPU {(complaint or ['it fails'])[0]}")
        if not again:
            say("timing")
            lines = [line.split() for line in said([str(folder / "times")]).splitlines()]
    return [
        (scalar, int(n), ["-" if own == "nan" else float(own) for own in rest])
        for scalar, n, *rest in lines
    ]


def built(folder: Path, name: str, architecture: str, say: Progress) -> None:
    """Compile a folder's example, which checks, and a program that times; NoCompiler."""
    interface = api.read_manifest(folder).program.interface
    source = folder / "times.cu"
    source.write_text(render("bench/gpu_times.cu.jinja", name=name, **rows(interface)), "utf-8")
    kernels = str(folder / "kernels.o")
    say(f"compiling for {architecture}")
    compiled(folder / f"{name}.cu", folder / "kernels.o", f"-arch={architecture}", "-c")
    compiled(source, folder / "times", f"-arch={architecture}", kernels)
    compiled(folder / "example.c", folder / "example", f"-arch={architecture}", kernels)


def _through_python(
    robot: str,
    kind: str,
    ours: Sequence[Timed],
    choices: Mapping[str, Any],
    say: Progress,
) -> dict[int, float]:
    """ns a state of so many in arrays of NumPy's."""
    design, loaded = load(robot, **choices)
    sizes = sorted({n for scalar, n, *_ in ours if KINDS[scalar] == kind})
    found = through_python(program(design, loaded, kind, say), sizes)
    return {n: float(f"{own:.6g}") for n, own in found.items()}


def _peer(
    folder: Path,
    function: str,
    base: str,
    architecture: str,
    notes: dict[str, None],
    say: Progress,
) -> dict[int, tuple[float, float]]:
    """Number of states → the peer's ns a state; nothing and a note where it is not beside."""
    if base != "fixed":
        notes[f"{grid.PACKAGE} is beside fixed bases only."] = None
        return {}
    try:
        say(f"{grid.PACKAGE} {grid.VERSION}")
        return {n: (a, b) for n, a, b in grid.timed(folder, function, architecture)}
    except (grid.NoGrid, api.InputError) as error:
        notes[f"{error}."] = None
        return {}
