"""The graph over real numbers as a folder of CUDA."""

from __future__ import annotations

from ..codegen.cuda import cuda
from ..compile.front import Front
from ..compile.visits import visits_of
from .entries import interface_of
from .made import Files
from .names import design_name
from .program_folder import about, program_folder
from .vectors import vectors


def cuda_program(front: Front) -> Files:
    """The functions of many states, for a GPU."""
    name = design_name(front.robot.name, front.design)
    interface = interface_of(front)
    found = cuda(front.graph, interface, name, about(front), program=visits_of(front))
    facts = {
        "code": front.design.code,
        "workspace": found.slots,
        "kernels": [own.to_json() for own in found.kernels],
        **(found.loops.to_json() if found.loops else {}),
    }
    return program_folder(front, "cuda", name, {**found.files, **vectors(front, interface)}, facts)
