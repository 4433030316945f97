"""A controller that plans ahead, as a folder: a program, its example, the manifest."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..codegen import library
from ..codegen.ilqr import Prediction, ToolFrame, Traced, ilqr
from ..codegen.ilqr_c import ilqr_c
from ..compile.flow import front_of
from ..compile.front import Front
from ..design.controllers import PREDICTED
from ..design.design import of_functions
from ..design.effects import refuse_design, refused
from ..design.manifest import ProgramManifest
from ..robot.model import RobotError
from ..system.cache import cached, named
from ..system.compiler import about, compile_with, find_compiler, processor
from ..system.quoting import Progress
from .compilation import Compilation, Files
from .design_file import FOLDER, compiler_digest, design_digest
from .folder import UsageError, read_manifest
from .output_paths import design_name
from .program_folder import coordinates_of, interface_of, program_folder

MODULE = "_%s.so"


def predictive(front: Front, language: str, progress: Progress = lambda _: None) -> Files:
    """The files of model predictive control of the front's robot, in C++ or in C; ``front``: of id.

    RobotError for a robot that has not one motor for each of its coordinates.
    """
    design, robot = front.design, front.robot
    refuse_design(design, robot.name, PREDICTED)
    if robot.nq != robot.nv:
        joint = next(own for own in robot.joints if own.kind.nq != own.kind.nv)
        raise RobotError(
            f"{robot.name}: controller: {design.controller} is of joints of one coordinate each, "
            f"and {joint.name} is {joint.kind.value}; hold it, or plan by crocoddyl over "
            "--function dfd,minv"
        )
    progress("gradients")
    slopes = front_of(
        of_functions(design, ("did", "m"), controller="none", frames=()), robot, in_floats=True
    )
    tool = _tool(front)
    name = design_name(robot.name, design)
    traced, about_it = (_traced(front), _traced(slopes)), {"robot": robot.name}
    own = Prediction(*traced, coordinates_of(front), name, about_it, design.knots, tool)
    if language == "c":
        files, facts = ilqr_c(own, "float" if design.real == "float" else "double")
    else:
        files, facts = ilqr(own)
    return program_folder(front, language, name, files, facts)


def _tool(front: Front) -> ToolFrame | None:
    """The frame that the design names, if any; RobotError for several."""
    design, robot = front.design, front.robot
    if len(design.frames) > 1:
        raise RobotError(
            f"{robot.name}: frames: {', '.join(design.frames)}: controller {design.controller} has "
            "a cost of one tool; name one link"
        )
    traced = []
    for functions in (("pose",), ("pose", "jac")) if design.frames else ():
        own = of_functions(design, functions, controller="none")
        traced.append(_traced(front_of(own, robot, in_floats=True)))
    return ToolFrame(design.frames[0], *traced) if traced else None


def _traced(front: Front) -> Traced:
    return Traced(front.graph, interface_of(front))


@dataclass(frozen=True)
class NativeController:
    """A controller compiled for this machine: its ``module``, and its folder's ``entry``."""

    module: Any
    entry: ProgramManifest


def compiled(robot: str, progress: Progress = lambda _: None, **choices: Any) -> NativeController:
    """The controller of ``robot``; ``choices``: fields of Design.

    Written and compiled into the cache the first time, and found there by a digest of robot,
    choices, rbdgen and compiler. NoCompiler, CompilerError, CacheError.
    """
    made = Compilation(robot, progress, {**choices, "controller": "ilqr"}, True)
    if line := refused(made.design, to=("cpp",)):
        raise UsageError(line)
    compiler = find_compiler()
    of = compiler, about(compiler), processor(), library.FLAGS, library.PYTHON
    name = named("controller", compiler_digest(FOLDER), design_digest(made.design), *of)

    def make(work: Path) -> None:
        files = predictive(made.front_of("cpp"), "cpp", progress)
        for file, text in files.items():
            (work / file).write_bytes(text.encode("utf-8", "surrogateescape"))
        name = read_manifest(work).program.name
        progress(f"compiling {name} with {shlex.join(compiler)}")
        given = [*compiler, *library.FLAGS, *library.headers(), "-shared"]
        compile_with([*given, str(work / f"{name}_python.cc"), "-o", str(work / (MODULE % name))])

    folder = cached(name, make, progress)
    entry = read_manifest(folder).program
    return NativeController(library.load_module(folder / (MODULE % entry.name)), entry)
