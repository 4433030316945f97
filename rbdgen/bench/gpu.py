"""Functions on a GPU: what kernels take by NVIDIA's assembler, and their speed where one is."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .. import api
from ..codegen.nvcc import Use, compiled, uses
from ..codegen.rows import rows
from ..draw.tables import table
from ..system.stopping import run_child
from ..system.templates import render

Progress = Callable[[str], None]
FUNCTIONS = ("id", "m", "minv", "fd", "did", "dfd", "difd")
CASES: tuple[tuple[str, str, str], ...] = (
    *(("iiwa14", "fixed", function) for function in FUNCTIONS),
    ("hyq", "floating", "id"),
    ("hyq", "floating", "did"),
)
ARCHITECTURES = ("sm_80", "sm_90")
HEAD = ("function", "kernel", "operations", "in use", "", "scalar", "registers", "spilled", "KB")
KEYS = (
    *("kernel", "operations", "in_use", "architecture", "scalar"),
    *("registers", "spilled", "code_kb"),
)
NOTE = (
    "By ptxas, of code compiled with -O3. In use: numbers at once, at most. Spilled: bytes that a\n"
    "thread writes to memory and reads again. KB: of a kernel's code."
)
NO_GPU = "No GPU here: none of this has run, and no time is known."
TIMES = ("function", "scalar", "states", "ns a state, kernels", "with copies")
NO_PEER = "grid-rbd was not run beside: rbdgen does not build it."


def gpu(place: Path, progress: Progress) -> Any:
    """CUDA by ptxas: registers, spills, code; on a GPU, where there is one, checked and timed."""
    found = gpu_name()
    lines: list[list[Any]] = []
    times: list[list[Any]] = []
    for robot, base, function in CASES:
        name = f"{robot}{' floating' * (base == 'floating')} {function}"
        folder = place / "gpu" / name.replace(" ", "_")
        made = api.generate(
            robot, folder, to="cuda", force=True, base=base, functions=(function,)
        ).manifest.program
        source = folder / f"{made.name}.cu"
        for architecture in ARCHITECTURES:
            progress(f"{name}: {architecture}")
            lines += [
                [name, *row] for row in _rows(uses(source, architecture), made.facts, architecture)
            ]
        if found:
            times += [[name, *row] for row in _timed(folder, made.name, name, progress)]
    print(f"{table(HEAD, lines)}\n\n{NOTE}\n")
    print(f"{found}\n\n{table(TIMES, times)}\n\n{NO_PEER}" if found else NO_GPU)
    return {
        "gpu": found or None,
        "kernels": [dict(zip(("function", *KEYS), row, strict=True)) for row in lines],
        "times": [dict(zip(TIMES, row, strict=True)) for row in times],
    }


def gpu_name() -> str:
    """The first GPU's, by its driver; "" where there is none."""
    if shutil.which("nvidia-smi") is None:
        return ""
    done = run_child(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    return (done.stdout.strip().splitlines() or [""])[0] if not done.returncode else ""


def _rows(found: Sequence[Use], facts: Any, architecture: str) -> list[list[Any]]:
    """Of each kernel that computes: what it is, and what it takes."""
    rows = []
    for own in found:
        if own.kernel.startswith("kernel_"):
            number = int(own.kernel.removeprefix("kernel_"))
            kernel = facts["kernels"][number]
            size = kernel["operations"], kernel["live"]
            takes = own.registers, own.spill_stores + own.spill_loads, round(own.code / 1000)
            rows.append([number, *size, architecture, own.scalar, *takes])
    return rows


def _timed(folder: Path, name: str, what: str, progress: Progress) -> list[list[Any]]:
    """Scalar, states, ns a state of the kernels and with copies; the results checked, twice."""
    interface = api.read_manifest(folder).program.interface
    source = folder / "times.cu"
    source.write_text(render("bench/gpu_times.cu.jinja", name=name, **rows(interface)))
    kernels = str(folder / f"{name}.cu")
    progress(f"{what}: compiling for this GPU")
    compiled(source, folder / "times", "-arch=native", kernels)
    compiled(folder / "example.c", folder / "example", "-arch=native", kernels)
    for again in (False, True):
        progress(f"{what}: checking")
        for scalar in ((), ("--float",)):
            check = [str(folder / "example"), *scalar, "--check", str(folder / "expected.txt")]
            done = run_child([*check, str(folder / "states.txt")])
            if done.returncode:
                said = (done.stderr or done.stdout).strip().splitlines()
                raise api.InputError(f"{what}: on this GPU {said[0] if said else 'it fails'}")
        if not again:
            progress(f"{what}: timing")
            done = run_child([str(folder / "times")])
            if done.returncode:
                raise api.InputError(f"{what}: {done.stderr.strip() or 'it cannot be timed'}")
            lines = [line.split() for line in done.stdout.splitlines()]
    return [[scalar, int(n), float(a), float(b)] for scalar, n, a, b in lines]
