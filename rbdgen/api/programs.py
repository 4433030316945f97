"""A design as a program: sources, test vectors, manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .. import __version__
from ..codegen.c_file import File, word_type
from ..codegen.c_program import c_files, folder
from ..codegen.cpp import cpp as cpp_files
from ..codegen.cuda import cuda as cuda_files
from ..codegen.interface import Interface
from ..compile.accelerate import Accelerated
from ..compile.front import Front
from ..design.limits import limits_table
from ..design.manifest import ProgramManifest
from ..graph.text import to_text
from ..schedule.flags import flagged_outputs
from ..tasks.c import add_tasks, all_words
from .entries import interface_of
from .folder import MARK, digests, sealed
from .made import Files, Made, sources_of
from .names import design_name, filed_notes, module_name
from .places import no_defaults
from .vectors import vectors
from .word_vectors import task_vectors, word_vectors


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
    """The integer model of a core, or of each of an accelerator's functions, in C."""
    made.progress("C")
    if made.design.accelerator:
        return _tasks_in_c(made.accelerated)
    core = made.core
    front = core.front
    front = replace(front, notes=(*front.notes, *core.notes))
    name = design_name(front.robot.name, front.design)
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


def _tasks_in_c(made: Accelerated) -> Files:
    front = replace(made.front, notes=(*made.front.notes, *made.notes))
    name = module_name(front.robot.name, "accelerator")
    file = File(name)
    functions = add_tasks(file, made.accelerator)
    about = {"robot": front.robot.name, "functions": ", ".join(front.design.functions)}
    word = word_type(all_words(made.accelerator))
    files = folder(file, functions, word, {**about, "graph": ""})
    files |= task_vectors(made, functions)
    for stage, own in made.accelerator.stages.items():
        files[f"graph_{stage}.txt"] = to_text(own.fixed)
    facts = {"word": word, "functions": [function.facts for function in functions]}
    return _folder(front, "c", name, files, facts)


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
        # words of tasks are named, and no arrays
        interface=Interface((), (), {}, {}) if design.accelerator else interface_of(front),
        operations=front.graph.operations(),
        limits=limits_table(design, robot),
        notes=filed_notes(design, front.notes),
        facts=facts,
        files=digests(files),
    )
