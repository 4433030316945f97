"""A design as a program: sources, test vectors, manifest."""

from __future__ import annotations

from dataclasses import replace

from ..codegen.c_file import File, word_type
from ..codegen.c_program import c_files, folder
from ..codegen.cuda import cuda as cuda_files
from ..codegen.hls_program import hls_files
from ..compile.accelerate import Accelerated
from ..compile.core import Core
from ..graph.node import Node
from ..graph.text import to_text
from ..schedule.flags import flagged_outputs
from ..tasks.c import add_tasks, all_words
from .cpp_program import cpp_program
from .entries import interface_of
from .made import Files, Made
from .names import design_name, module_name
from .program_folder import program_folder
from .vectors import vectors
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
    about = {"robot": front.robot.name, "functions": ", ".join(front.design.functions)}
    files, facts = c_files(core.fixed, flagged_outputs(core.plan), name, about)
    return program_folder(front, "c", name, files | word_vectors(core), facts)


def hls(made: Made) -> Files:
    """The integer model of a core, for high-level synthesis."""
    core = made.core
    front = core.front
    front = replace(front, notes=(*front.notes, *core.notes))
    name = design_name(front.robot.name, front.design)
    made.progress("C++ for high-level synthesis")
    about = {"robot": front.robot.name, "functions": ", ".join(front.design.functions)}
    plan = core.plan
    resources = _resources(core)
    # in logic too, they are multiplications to the tool, which limits all of them together
    shared = plan.interval > 1 and "fabric" not in resources.values()
    files, facts = hls_files(
        core.fixed,
        flagged_outputs(plan),
        resources,
        plan.interval,
        plan.multipliers if shared else 0,
        name,
        about,
    )
    return program_folder(front, "hls", name, files | word_vectors(core), facts)


def _resources(core: Core) -> dict[tuple[str, Node], str]:
    """What products are made of; of none, where the plan is of what takes turns."""
    if core.plan.turns is not None:
        return {}
    binding, words = core.plan.binding, {"dsp": "dsp", "logic": "fabric"}
    kinds = {"mul": binding.style, "sincos": binding.sincos, "recip": binding.recip}
    return {(kind, node): words[own] for kind, of in kinds.items() for node, own in of.items()}


def cuda(made: Made) -> Files:
    """The functions of many states, for a GPU."""
    front = made.front_of("cuda")
    name = design_name(front.robot.name, front.design)
    made.progress("CUDA")
    interface = interface_of(front)
    about = {"robot": front.robot.name, "functions": ", ".join(front.design.functions)}
    found = cuda_files(front.graph, interface, name, about)
    facts = {"workspace": found.slots, "kernels": [own.to_json() for own in found.kernels]}
    return program_folder(front, "cuda", name, {**found.files, **vectors(front, interface)}, facts)


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
    return program_folder(front, "c", name, files, facts)
