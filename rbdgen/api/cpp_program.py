"""The graph over real numbers as a folder of C++."""

from __future__ import annotations

from ..codegen.cpp import cpp
from ..compile.front import Front
from ..compile.visits import visits_of
from .entries import interface_of
from .made import Files
from .names import design_name
from .program_folder import about, program_folder
from .vectors import vectors


def cpp_program(front: Front) -> Files:
    """The functions of one state or many."""
    name = design_name(front.robot.name, front.design)
    interface = interface_of(front)
    files, facts = cpp(front.graph, interface, name, about(front), program=visits_of(front))
    return program_folder(front, "cpp", name, files | vectors(front, interface), facts)
