"""The graph over real numbers as a folder of CUDA."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..codegen import nvcc
from ..codegen.cuda import LONGEST, Cuda, cuda
from ..compile.floats import facts_of, with_doubles
from ..compile.front import Front
from ..compile.visits import with_visits
from ..design.naming import design_name
from ..robot.model import RobotError
from .compilation import Files, register_numbers
from .program_folder import about, interface_of, program_folder
from .vectors import vectors

Progress = Callable[[str], None]
MOST_SHARED = 4000  # numbers in double: a launch has 32764 bytes for all that it is given


def cuda_program(front: Front, progress: Progress = lambda _: None, measured: bool = True) -> Files:
    """The functions of many states, for a GPU.

    ``measured``: nvcc, where there is one, says what the kernels take, and their launch bounds are
    chosen by that. The manifest names its version, of which the files' bytes are.
    """
    name = design_name(front.robot.name, front.design)
    front, program = with_visits(front)
    interface = interface_of(front, together=True)
    shared = list(front.parameters.nominal.values()) if front.parameters else []
    if interface.same and interface.same.size > MOST_SHARED:
        raise RobotError(
            f"{front.robot.name}: parameters: registers: {interface.same.size} numbers, more than "
            f"the {MOST_SHARED} that a launch of a kernel takes; --parameters constants"
        )
    front, double = with_doubles(front, progress)

    def made(measure: Any = None) -> Cuda:
        given = front.graph, interface, name, about(front)
        return cuda(*given, program=program, measure=measure, in_double=double.nodes, shared=shared)

    notes: list[str] = []
    version = None
    try:
        version = nvcc.version() if measured else None
        if version:
            progress(f"nvcc {version} for {' and '.join(nvcc.ARCHITECTURES)}")
        found = made(nvcc.uses_of if version else None)
        notes += _too_long(found)
    except nvcc.NoCompiler as error:
        version, found = None, made()
        notes.append(
            f"{error}. Registers, spills and code of the kernels are not known; their launch "
            "bounds are guessed from the graph"
        )
    for note in notes:
        progress(f"note: {note}")
    facts = {
        "code": front.design.code,
        "workspace": found.slots,
        "order": found.order,
        "kernels": [own.to_json() for own in found.kernels],
        "float": facts_of(front, double).to_json(),
        "parameters": register_numbers(front),
        "ptxas": _ptxas(version, found) if version else None,
        **(found.loops.to_json() if found.loops else {}),
    }
    front = replace(front, notes=(*front.notes, *notes))
    return program_folder(front, "cuda", name, {**found.files, **vectors(front, interface)}, facts)


def _ptxas(version: str, found: Cuda) -> Mapping[str, Any]:
    """The manifest's entry of ptxas: nvcc's version and flags, the resources of each kernel."""
    flags = " ".join(nvcc.FLAGS)
    return {"nvcc": version, "flags": flags, "kernels": [own.to_json() for own in found.uses]}


def _too_long(found: Cuda) -> list[str]:
    """A line if a kernel has more code than GPUs keep."""
    longest = max(found.uses, key=lambda own: own.code, default=None)
    if longest is None or longest.code < LONGEST:
        return []
    return [
        f"{longest.kernel} has {longest.code} bytes of code ({longest.scalar}, "
        f"{longest.architecture}), more than the {LONGEST} that GPUs keep"
    ]
