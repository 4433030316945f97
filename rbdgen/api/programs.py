"""A design as a program: sources, test vectors, manifest."""

from __future__ import annotations

from typing import Any

from ..codegen.c_file import File, word_type
from ..codegen.c_program import c_files, folder
from ..compile.core import Core
from ..compile.scheduled import Accelerated
from ..design.naming import design_name
from ..schedule.flags import flagged_outputs
from ..tasks.c import add_tasks, all_words
from .cpp_program import cpp_program
from .cuda_program import cuda_program
from .hls_program import hls_program
from .made import Files, Made
from .program_folder import about, program_folder
from .recompiled import graph_files
from .word_vectors import task_vectors, word_vectors


def cpp(made: Made) -> Files:
    """The functions of one state or many, in C++."""
    front = made.front_of("cpp")
    made.progress("C++")
    return cpp_program(front, made.progress)


def c(made: Made) -> Files:
    """The integer model of a core, or of each of an accelerator's functions, in C."""
    made.progress("C")
    product, front = made.product, made.front_of("c")
    name = design_name(front.robot.name, front.design)
    if isinstance(product, Core):
        fixed, flags = product.fixed, flagged_outputs(product.plan)
        files, facts = c_files(fixed, flags, name, about(front))
        files |= word_vectors(product)
    else:
        files, facts = _tasks_in_c(product, name)
    return program_folder(front, "c", name, files, facts)


def hls(made: Made) -> Files:
    """The integer model of a core, for high-level synthesis."""
    core = made.product
    assert isinstance(core, Core)  # others are refused before any work
    front = made.front_of("hls")
    name = design_name(front.robot.name, front.design)
    made.progress("C++ for high-level synthesis")
    files, facts = hls_program(core, name)
    return program_folder(front, "hls", name, files | word_vectors(core), facts)


def cuda(made: Made) -> Files:
    """The functions of many states, for a GPU."""
    front = made.front_of("cuda")
    made.progress("CUDA")
    return cuda_program(front, made.progress)


def _tasks_in_c(made: Accelerated, name: str) -> tuple[Files, dict[str, Any]]:
    """The files of an accelerator's functions, and what a manifest says of them."""
    file = File(name)
    functions = add_tasks(file, made.accelerator)
    word = word_type(all_words(made.accelerator))
    files = folder(file, functions, word, {**about(made.front), "graph": ""})
    files |= task_vectors(made, functions) | graph_files(made)
    return files, {"word": word, "functions": [function.facts for function in functions]}
