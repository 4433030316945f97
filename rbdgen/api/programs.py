"""A design as a program: sources, test vectors, manifest."""

from __future__ import annotations

from dataclasses import replace

from ..codegen.c_file import File, word_type
from ..codegen.c_program import c_files, folder
from ..compile.accelerate import Accelerated
from ..graph.text import to_text
from ..schedule.flags import flagged_outputs
from ..tasks.c import add_tasks, all_words
from .cpp_program import cpp_program
from .cuda_program import cuda_program
from .hls_program import hls_program
from .made import Files, Made
from .names import design_name, module_name
from .program_folder import about, program_folder
from .word_vectors import task_vectors, word_vectors


def cpp(made: Made) -> Files:
    """The functions of one state or many, in C++."""
    front = made.front_of("cpp")
    made.progress("C++")
    return cpp_program(front)


def c(made: Made) -> Files:
    """The integer model of a core, or of each of an accelerator's functions, in C."""
    made.progress("C")
    if made.design.accelerator:
        return _tasks_in_c(made.accelerated)
    core = made.core
    front = core.front
    front = replace(front, notes=(*front.notes, *core.notes))
    name = design_name(front.robot.name, front.design)
    files, facts = c_files(core.fixed, flagged_outputs(core.plan), name, about(front))
    return program_folder(front, "c", name, files | word_vectors(core), facts)


def hls(made: Made) -> Files:
    """The integer model of a core, for high-level synthesis."""
    core = made.core
    front = core.front
    front = replace(front, notes=(*front.notes, *core.notes))
    name = design_name(front.robot.name, front.design)
    made.progress("C++ for high-level synthesis")
    files, facts = hls_program(core, name)
    return program_folder(front, "hls", name, files | word_vectors(core), facts)


def cuda(made: Made) -> Files:
    """The functions of many states, for a GPU."""
    front = made.front_of("cuda")
    made.progress("CUDA")
    return cuda_program(front)


def _tasks_in_c(made: Accelerated) -> Files:
    front = replace(made.front, notes=(*made.front.notes, *made.notes))
    name = module_name(front.robot.name, "accelerator")
    file = File(name)
    functions = add_tasks(file, made.accelerator)
    word = word_type(all_words(made.accelerator))
    files = folder(file, functions, word, {**about(front), "graph": ""})
    files |= task_vectors(made, functions)
    for stage, own in made.accelerator.stages.items():
        files[f"graph_{stage}.txt"] = to_text(own.fixed)
    facts = {"word": word, "functions": [function.facts for function in functions]}
    return program_folder(front, "c", name, files, facts)
