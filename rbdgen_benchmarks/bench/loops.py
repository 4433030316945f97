"""Programs in loops beside the inlined ones: bytes of code, time to compile, time of a state."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.api.folder import write_file
from rbdgen.api.native_programs import DTYPES, NativeProgram, compiled
from rbdgen.codegen.library import build
from rbdgen.codegen.nvcc import NoNvcc, uses
from rbdgen.design.choices import CODES
from rbdgen.design.loading import load
from rbdgen.draw.tables import markdown, table
from rbdgen.system.compiler import find_compiler, sections
from rbdgen.system.quoting import Progress

from ..compare.timing import ProgramTimes, times_of
from .compiling import cpu_seconds
from .cpu import processor
from .measurement import Rows, measurement

CASES = (
    ("iiwa14", "fixed", "did"),
    ("hyq", "floating", "did"),
    ("humanoid", "floating", "id"),
    ("humanoid", "floating", "did"),
)
FEW, MANY = 16, 256  # states of a batch: the second stays in the cache
ARCHITECTURES = ("sm_80", "sm_90")
HEAD = (
    *("", "code", "operations of the text", "of a state", "kB", "compile [s]"),
    *("one state", f"{FEW}", f"{MANY}", "float, one state", f"{FEW}", f"{MANY}"),
)
CUDA_HEAD = (
    *("", "code", "", "kernels", "compile [s]", "kB, float", "double"),
    *("registers, float", "double", "spilled bytes, float", "double"),
)
LEGEND = (
    f"C++: ns a state, of one state, and in blocks of {FEW} and {MANY}; medians of 5 to 51 runs in "
    "CPU time, least of 5 processes that alternate. kB: of the library's code, in double, for "
    "this processor; compile: CPU seconds of that at -O3. Operations of a state: what all visits "
    "make."
)
CUDA_LEGEND = (
    "CUDA, by ptxas: kB of all kernels' code, most registers of a thread, bytes spilled and read "
    "back in all kernels; compile: CPU seconds of nvcc, of both precisions."
)


@measurement("loops", "minutes")
def loops(place: Path, progress: Progress) -> Any:
    """C++ and CUDA in loops beside the inlined ones: bytes of code, compile time, time a state."""
    results: list[dict[str, Any]] = []
    rows = Rows(HEAD)
    for robot, base, function in CASES:
        name = f"{robot}{', floating' * (base == 'floating')}, {function}"

        def say(line: str, name: str = name) -> None:
            progress(f"{name}: {line}")

        programs: dict[str, NativeProgram] = {}
        found: dict[str, dict[str, Any]] = {}
        for code in CODES:
            choices: dict[str, Any] = {"base": base, "functions": (function,), "code": code}
            design, loaded = load(robot, **choices)
            own = {f"{code} {kind}": compiled(design, loaded, kind, say) for kind in DTYPES}
            programs |= own
            found[code] = {"robot": name, "form": code, **_cpp(own[f"{code} cpp"], say)}
            found[code]["cuda"] = _cuda(robot, choices, say)
        say("timed")
        times = times_of(programs, (FEW, MANY), 1, say)
        for code, row in found.items():
            row["ns"] = {kind: _ns(times[f"{code} {kind}"]) for kind in DTYPES}
            rows.add(_row(row))
        results += found.values()
    load_of = os.getloadavg()[1]
    cuda = [_cuda_row(own, kernels) for own in results for kernels in own["cuda"]]
    legend = f"{LEGEND} {processor()}, load {load_of:.1f}."
    rows.close("\n\n".join([legend, table(CUDA_HEAD, cuda), CUDA_LEGEND]))
    text = [markdown(HEAD, rows.rows), legend, markdown(CUDA_HEAD, cuda), CUDA_LEGEND]
    write_file(place / "loops.md", "\n\n".join(text) + "\n")
    return {"processor": processor(), "load": load_of, "results": results}


def _cpp(own: NativeProgram, say: Progress) -> dict[str, Any]:
    """Operations, code size and compile time of a library in double."""
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as work:
        before = cpu_seconds()
        build(find_compiler(), own.library.dtype, own.folder, own.name, Path(work), say)
        seconds = cpu_seconds() - before
        code = sections((Path(work) / f"{own.name}.so").read_bytes())[".text"]
    in_all = own.facts.get("operations_in_all", own.facts["nodes"])
    return {
        "operations": own.facts["nodes"],
        "operations_in_all": in_all,
        "code": code,
        "compile_s": round(seconds, 2),
    }


def _cuda(robot: str, choices: Mapping[str, Any], say: Progress) -> list[dict[str, Any]]:
    """Resources of the kernels, by architecture; empty where there is no nvcc."""
    found = []
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as work:
        made = api.generate(robot, Path(work) / "made", to="cuda", **choices)
        source = made.folder / f"{made.manifest.program.name}.cu"
        for architecture in ARCHITECTURES:
            say(f"CUDA, {choices['code']}, {architecture}")
            before = cpu_seconds()
            try:
                all_of = uses(source, architecture)
            except NoNvcc as error:
                say(f"note: {error}")
                return []
            kernels = [own for own in all_of if own.kernel.startswith("kernel_")]
            row: dict[str, Any] = {
                "architecture": architecture,
                "kernels": len(kernels) // 2,
                "compile_s": round(cpu_seconds() - before, 2),
            }
            for scalar in ("float", "double"):
                own = [kernel for kernel in kernels if kernel.scalar == scalar]
                row[scalar] = {
                    "code": sum(kernel.code for kernel in own),
                    "registers": max(kernel.registers for kernel in own),
                    "spilled": sum(kernel.spill_stores + kernel.spill_loads for kernel in own),
                }
            found.append(row)
    return found


def _ns(times: ProgramTimes) -> list[float]:
    return [times.one, times.of[FEW].blocks, times.of[MANY].blocks]


def _row(own: Mapping[str, Any]) -> list[Any]:
    size = own["operations"], own["operations_in_all"], round(own["code"] / 1000)
    ns = [float(f"{x:.3g}") for kind in DTYPES for x in own["ns"][kind]]
    return [own["robot"], own["form"], *size, own["compile_s"], *ns]


def _cuda_row(own: Mapping[str, Any], kernels: Mapping[str, Any]) -> list[Any]:
    float_, double = kernels["float"], kernels["double"]
    sides = [own_of[key] for key in ("code", "registers", "spilled") for own_of in (float_, double)]
    sides[:2] = [round(code / 1000) for code in sides[:2]]
    about = kernels["architecture"], kernels["kernels"], kernels["compile_s"]
    return [own["robot"], own["form"], *about, *sides]
