"""A design's functions timed and checked on this machine: our C++, Pinocchio, a GPU's kernels."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from ..codegen.nvcc import NoNvcc as NoNvcc
from ..compile.front import Front
from ..compile.samples import accuracy_of, sample_states
from ..design.coordinates import coordinate_errors, worst_of_scales
from ..graph.rows import REPORTED
from ..system.compiler import CompilerError, NoCompiler
from ..system.gpu import NoGpu, find_gpu
from ..system.progress import Progress
from .arrays import completed
from .errors import Mismatch, entries_of, portions
from .folder import InputError
from .native_programs import DTYPES, NativeProgram, compiled
from .pinocchio import FORMS, RESULTS, check
from .pinocchio import command as peer
from .reference import golden_model
from .side_by_side import SIZES, Contender, Worst, of_gpu, of_peer, of_program
from .timing import Command, command, least, read, through_python

STATES, SEED = 1000, 12  # whose errors are taken, half of them at the limits


def on_cpu(front: Front, progress: Progress, pinocchio: bool) -> tuple[list[Contender], list[str]]:
    """Ours on one core and on all, in double and float; Pinocchio in both forms, if asked for.

    They are time-multiplexed. And why there is nothing, in one line each.
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
    errors = {kind: _worst(front, own) for kind, own in programs.items()}
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
        errors = {kind: _worst(front, own) for kind, own in programs.items()}
    except (NoGpu, NoNvcc) as error:
        return [], [f"No GPU was timed: {error}."]
    return [
        of_gpu(f"CUDA, {scalar}, from Python", times[kind], errors[kind], gpu.name)
        for kind, scalar in (("cuda", "double"), ("cuda32", "float"))
    ], []


def _worst(front: Front, program: NativeProgram) -> Worst:
    """The coordinates of a program's results that are off most from the golden model."""
    design, robot = front.design, front.robot
    found = accuracy_of(design, front.canonical)
    for k, (scale, count) in enumerate(zip(REPORTED, portions(STATES), strict=True)):
        state = sample_states(design, robot, count, [SEED, k], share=scale.share)
        state = completed(robot, state)
        golden = golden_model(design, robot, state)
        arrays = [(name, values, golden[name]) for name, values in program(state).items()]
        found.add(k, *entries_of(arrays, front.graph.outputs, design, robot))
    return worst_of_scales(coordinate_errors(design, front.canonical, found))


def _processor() -> str:
    """The name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
