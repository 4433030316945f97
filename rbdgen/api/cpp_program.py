"""The graph over real numbers as a folder of C++."""

from __future__ import annotations

from collections.abc import Callable

from ..codegen.cpp import cpp
from ..compile.floats import facts_of, with_doubles
from ..compile.front import Front
from ..compile.visits import with_visits
from ..design.naming import design_name
from .entries import interface_of
from .made import Files
from .program_folder import about, program_folder
from .recompiled import register_numbers
from .vectors import vectors


def cpp_program(front: Front, say: Callable[[str], None] = lambda _: None) -> Files:
    """The functions of one state or many; ``say``: a note of what is in double among floats."""
    name = design_name(front.robot.name, front.design)
    front, program = with_visits(front)
    interface = interface_of(front)
    front, found = with_doubles(front, say)
    # of solvers' models the base is the file's
    joints = () if front.design.base_link else front.robot.joint_names
    files, facts = cpp(
        front.graph,
        interface,
        name,
        about(front),
        program=program,
        in_double=found.nodes,
        joints=joints,
    )
    facts["parameters"] = register_numbers(front)
    facts["float"] = facts_of(front, found).to_json()
    return program_folder(front, "cpp", name, files | vectors(front, interface), facts)
