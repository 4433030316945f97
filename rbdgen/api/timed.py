"""A design's functions timed and checked on this machine: our C++, Pinocchio, a GPU's kernels."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..codegen.nvcc import NoCompiler as NoNvcc
from ..compile.core import Core
from ..compile.front import Front
from ..compile.samples import sample_states
from ..dynamics.interface import to_columns
from ..system.compiler import CompilerError, NoCompiler
from ..system.gpu import NoGpu, find_gpu
from .compiled import DTYPES, Program, compiled
from .completion import completed
from .errors import Mismatch
from .evaluation import as_numbers
from .folder import InputError
from .integer_model import integer_results
from .pinocchio import FORMS, RESULTS, check
from .pinocchio import command as peer
from .program_times import Command, command, read, through_python
from .reference import golden_model
from .side_by_side import SIZES, Contender, of_gpu, of_peer, of_program
from .timing import least

Progress = Callable[[str], None]
STATES, SEED = 1000, 12  # whose error is taken


def on_cpu(front: Front, progress: Progress, pinocchio: bool) -> tuple[list[Contender], list[str]]:
    """Ours on one core and on all, in double and float; Pinocchio in both forms, if asked for.

    They take turns. And why there is nothing, in one line each.
    """
    threads, sizes = os.cpu_count() or 1, SIZES[1:]
    try:
        progress("this CPU: C++")
        programs = {kind: compiled(front.design, front.robot, kind, progress) for kind in DTYPES}
        commands = {kind: command(own, sizes, threads, progress) for kind, own in programs.items()}
        peers, notes = _peers(front, progress) if pinocchio else ({}, [])
        progress("this CPU: timed")
        found = least(commands | peers)
    except NoCompiler as error:
        return [], [f"No CPU was timed: {error}."]
    times = {kind: read(found[kind], sizes) for kind in programs}
    errors = {kind: _error(front, own) for kind, own in programs.items()}
    rows = of_program(times, threads, errors, _processor())
    (function, *_) = front.design.functions
    rows += [of_peer(f"Pinocchio, {form}, {function}", found[form][0]) for form in peers]
    return rows, notes


def _peers(front: Front, progress: Progress) -> tuple[dict[str, Command], list[str]]:
    """Pinocchio's programs, whose results were checked; or why there are none."""
    design = front.design
    if len(design.functions) > 1 or design.functions[0] not in RESULTS:
        return {}, [f"Pinocchio is timed in one function, of {', '.join(RESULTS)}."]
    of = design.functions[0], design.robot, progress, design.base
    try:
        for form in FORMS:
            check(form, *of)
        return {form: peer(form, *of) for form in FORMS}, []
    except (InputError, Mismatch, CompilerError) as error:
        return {}, [f"Pinocchio was not timed: {error}."]


def on_gpu(front: Front, progress: Progress) -> tuple[list[Contender], list[str]]:
    """Ours on this machine's GPU, called from Python; or why there is nothing, in one line."""
    try:
        gpu = find_gpu()
        programs = {
            kind: compiled(front.design, front.robot, kind, progress) for kind in ("cuda", "cuda32")
        }
        progress("this GPU: timed")
        times = {kind: through_python(own, SIZES) for kind, own in programs.items()}
        errors = {kind: _error(front, own) for kind, own in programs.items()}
    except (NoGpu, NoNvcc) as error:
        return [], [f"No GPU was timed: {error}."]
    return [
        of_gpu(f"CUDA, {scalar}, from Python", times[kind], errors[kind], gpu.name)
        for kind, scalar in (("cuda", "double"), ("cuda32", "float"))
    ], []


def of_words(core: Core) -> float:
    """The largest error of a core's integer model, which is the hardware's, in the same way."""
    design, robot = core.front.design, core.front.robot
    state = completed(robot, sample_states(design, robot, STATES, SEED))
    columns = to_columns(core.front.canonical, list(core.fixed.inputs), state)
    words = {name: word.quantize(columns[name]) for name, word in core.fixed.inputs.items()}
    outputs, _ = integer_results(core, words)
    return _largest(as_numbers(core, outputs, STATES), golden_model(design, robot, state))


def _error(front: Front, program: Program) -> float:
    """The largest difference from the golden model, of the largest value of each array."""
    design, robot = front.design, front.robot
    state = completed(robot, sample_states(design, robot, STATES, SEED))
    return _largest(program(state), golden_model(design, robot, state))


def _largest(found: Mapping[str, NDArray], wanted: Mapping[str, NDArray]) -> float:
    return max(
        float(np.abs(values - wanted[name]).max() / (np.abs(wanted[name]).max() or 1.0))
        for name, values in found.items()
    )


def _processor() -> str:
    """What this machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
