"""A design as a program: sources, test vectors, manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .. import __version__
from ..codegen.c_program import c_files
from ..codegen.cpp import cpp as cpp_files
from ..codegen.cuda import cuda as cuda_files
from ..compile.front import Front
from ..design.limits import limits_table
from ..design.manifest import ProgramManifest
from ..schedule.flags import flagged_outputs
from .entries import interface_of
from .folder import MARK, digests, sealed
from .made import Files, Made, sources_of
from .names import design_name, filed_notes
from .places import no_defaults
from .vectors import vectors
from .word_vectors import word_vectors


def cpp(made: Made) -> Files:
    """The functions of one state or many, in C++."""
    front = made.front
    name = design_name(front.robot.name, front.design)
    made.progress("C++")
    interface = interface_of(front)
    about = {"robot": front.robot.name, "functions": ", ".join(front.design.functions)}
    files, facts = cpp_files(front.graph, interface, name, about)
    return _folder(front, "cpp", name, files | vectors(front, interface), facts)


def c(made: Made) -> Files:
    """The integer model of a core, in C."""
    core = made.core
    front = core.front
    front = replace(front, notes=(*front.notes, *core.notes))
    name = design_name(front.robot.name, front.design)
    made.progress("C")
    about = {"robot": front.robot.name, "functions": ", ".join(front.design.functions)}
    files, facts = c_files(core.fixed, flagged_outputs(core.plan), name, about)
    return _folder(front, "c", name, files | word_vectors(core), facts)


def cuda(made: Made) -> Files:
    """The functions of many states, for a GPU."""
    front = made.front
    name = design_name(front.robot.name, front.design)
    made.progress("CUDA")
    interface = interface_of(front)
    about = {"robot": front.robot.name, "functions": ", ".join(front.design.functions)}
    found = cuda_files(front.graph, interface, name, about)
    facts = {"workspace": found.slots, "kernels": [own.to_json() for own in found.kernels]}
    return _folder(front, "cuda", name, {**found.files, **vectors(front, interface)}, facts)


def _folder(front: Front, language: str, name: str, own: Files, facts: Mapping[str, Any]) -> Files:
    """The folder of a program: its ``own`` files, the robot, the design, the manifest."""
    files = own | sources_of(front)
    manifest = _manifest(front, language, name, facts, files)
    files[MARK] = sealed(manifest.to_json())
    return files


def _manifest(
    front: Front, language: str, name: str, facts: Mapping[str, Any], files: Mapping[str, str]
) -> ProgramManifest:
    """What a host must know of the functions in another language; ``facts``: its own."""
    robot, design = front.robot, front.design
    return ProgramManifest(
        generator=f"rbdgen {__version__}",
        language=language,
        name=name,
        robot=robot.name,
        functions=design.functions,
        choices=no_defaults(design),
        joint_names=tuple(robot.joint_names),
        body_names=tuple(robot.joints[i].body for i in robot.moving),
        base=design.base,
        root=design.root,
        base_link=design.base_link,
        nq=robot.nq,
        nv=robot.nv,
        gravity=design.gravity,
        interface=interface_of(front),
        operations=front.graph.operations(),
        limits=limits_table(design, robot),
        notes=filed_notes(design, front.notes),
        facts=facts,
        files=digests(files),
    )
