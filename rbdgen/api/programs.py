"""A design as a program in C++, C, HLS C++ or CUDA: sources, test vectors, manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..codegen import nvcc
from ..codegen.c_file import LEAST, c_files, float_files, folder
from ..codegen.c_integers import File, word_type
from ..codegen.cpp import cpp as cpp_files
from ..codegen.cuda import LONGEST, MEASURED, Cuda
from ..codegen.cuda import cuda as cuda_files
from ..codegen.statement_order import computed
from ..compile.floats import facts_of, in_floats, with_doubles
from ..compile.front import Front
from ..compile.product import Product
from ..compile.visits import alike, with_visits
from ..design.design import is_predictive
from ..passes.mixed_precision import InDouble
from ..robot.model import RobotError
from ..system.quoting import Progress
from ..tasks.c import add_tasks, all_words
from .compilation import Compilation, Files, graph_files, register_numbers
from .controllers import predictive
from .integer_model import hls_program
from .output_paths import design_name
from .program_folder import about, coordinates_of, interface_of, program_folder
from .vectors import task_vectors, vectors, word_vectors

MOST_SHARED = 4000  # numbers in double: a launch has 32764 bytes for all that it is given


def cpp(made: Compilation) -> Files:
    """The functions of one state or many, in C++."""
    front = made.front_of("cpp")
    made.progress("C++")
    if is_predictive(made.design):
        return predictive(front, "cpp", made.progress)
    return cpp_program(front, made.progress)


def c(made: Compilation) -> Files:
    """The integer model of a core, or of each of an accelerator's functions, in C; or the functions
    of one state in float; or a controller that plans ahead."""
    made.progress("C")
    if is_predictive(made.design):
        return predictive(made.front_of("c"), "c", made.progress)
    if made.design.real == "float":
        return c_program(made.front_of("c"), made.progress)
    product, front = made.product, made.front_of("c")
    name = design_name(front.robot.name, front.design)
    if product.is_core:
        fixed, flags = product.fixed, product.flagged
        files, facts = c_files(fixed, flags, name, about(front))
        files |= word_vectors(product)
    else:
        files, facts = _tasks_in_c(product, name)
    return program_folder(front, "c", name, files, facts)


def hls(made: Compilation) -> Files:
    """The integer model of a core, for high-level synthesis."""
    core = made.product
    front = made.front_of("hls")
    name = design_name(front.robot.name, front.design)
    made.progress("C++ for high-level synthesis")
    files, facts = hls_program(core, name)
    return program_folder(front, "hls", name, files | word_vectors(core), facts)


def cuda(made: Compilation) -> Files:
    """The functions of many states, for a GPU."""
    front = made.front_of("cuda")
    made.progress("CUDA")
    return cuda_program(front, made.progress)


def _tasks_in_c(made: Product, name: str) -> tuple[Files, dict[str, Any]]:
    """The files of an accelerator's functions, and what a manifest says of them."""
    file = File(name)
    functions = add_tasks(file, made.accelerator)
    word = word_type(all_words(made.accelerator))
    files = folder(file, functions, word, {**about(made.front), "graph": ""})
    files |= task_vectors(made, functions) | graph_files(made)
    return files, {"word": word, "functions": [function.facts for function in functions]}


def c_program(front: Front, say: Callable[[str], None] = lambda _: None) -> Files:
    """The functions of one state in C, in float; ``say``: a note of the error."""
    name, interface = design_name(front.robot.name, front.design), interface_of(front)
    front, found, error = in_floats(front, say)
    files, facts = float_files(front.graph, interface, name, about(front), error, found.states)
    facts["float"] = found.to_json()
    files |= vectors(front, interface)
    return program_folder(front, "c", name, files, facts)


def cpp_program(front: Front, say: Callable[[str], None] = lambda _: None) -> Files:
    """The functions of one state or many; ``say``: a note of what is in double among floats."""
    name = design_name(front.robot.name, front.design)
    front, program = with_visits(front)
    interface = interface_of(front)
    front, found = with_doubles(front, say)
    # of solvers' models the base is the file's
    joints = () if front.design.base_link else front.robot.joint_names
    files, facts = cpp_files(
        front.graph,
        interface,
        name,
        about(front) | _within(front, found),
        program=program,
        in_double=found.nodes,
        joints=joints,
        coordinates=coordinates_of(front),
        alone=alike(front),
    )
    facts["parameters"] = register_numbers(front)
    facts["float"] = facts_of(front, found).to_json()
    return program_folder(front, "cpp", name, files | vectors(front, interface), facts)


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
        given = front.graph, interface, name, about(front) | _within(front, double)
        return cuda_files(
            *given, program=program, measure=measure, in_double=double.nodes, shared=shared
        )

    notes: list[str] = []
    version = None
    operations = 0 if program else len(computed(front.graph))
    if measured and operations > MEASURED:
        measured = False
        notes.append(
            f"{operations} operations, for which nvcc takes minutes: it is not asked for "
            "registers, spills and code of the kernels, whose launch bounds are guessed"
        )
    try:
        version = nvcc.version() if measured else None
        if version:
            progress(f"nvcc {version} for {' and '.join(nvcc.ARCHITECTURES)}")
        found = made(nvcc.uses_of if version else None)
        notes += _too_long(found)
    except nvcc.NoNvcc as error:
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
        "room": found.room,
        "moved": found.moved,
        "divides": found.divides,
        "order": found.order,
        "kernels": [own.to_json() for own in found.kernels],
        "float": facts_of(front, double).to_json(),
        "parameters": register_numbers(front),
        "ptxas": _ptxas(version, found) if version else None,
        **(found.loops.to_json() if found.loops else {}),
    }
    front = replace(front, notes=(*front.notes, *notes))
    return program_folder(front, "cuda", name, {**found.files, **vectors(front, interface)}, facts)


def _within(front: Front, found: InDouble) -> dict[str, str]:
    """The template's ``within``: the error that the example tolerates in float, relative to the
    largest entry. Its states are floats, but a robot's parameters are rounded to them.
    """
    error = found.reached + found.inputs * bool(front.parameters)
    return {"within": f"{max(2 * error, LEAST):.1e}"}


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
