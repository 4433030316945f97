"""The back ends of a driver: those of real numbers, and which one a kind is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rbdgen.api.design_file import DESIGN, ROBOT, filed_notes
from rbdgen.api.folder import MARK, InputError, checked_manifest
from rbdgen.api.native_programs import NativeProgram, compiled
from rbdgen.design.arrays import gives
from rbdgen.design.bounds import whole_turns, within_a_turn
from rbdgen.design.choices import COMPILED
from rbdgen.design.design import Design, has_registers, of_functions
from rbdgen.design.functions import ALIASES, ON_ACCELERATORS, ROLLOUTS, TOGETHER
from rbdgen.design.loading import load
from rbdgen.robot.model import Robot
from rbdgen.system.quoting import Progress

from .defaults import NO_WORDS
from .requests import Answer, Backend, Tasks

if TYPE_CHECKING:
    from .links import Transport
    from .registers import ProgramRegisters


def run_golden(
    design: Design, robot: Robot, batches: Sequence[Tasks]
) -> tuple[list[Answer], int | None]:
    """The float64 reference; angles after rollouts within ±π, where the hardware has them there."""
    from rbdgen.api.reference import golden_model

    answers = []
    for tasks in batches:
        alone = of_functions(design, (tasks.function,))
        found = golden_model(alone, robot, tasks.values)
        if tasks.function in ROLLOUTS:
            around = [k for k, turns in whole_turns(design, robot).items() if turns]
            found["q"][:, around] = within_a_turn(found["q"][:, around])
        arrays = {name: found[name] for name in gives(design, tasks.function)}
        answers.append(Answer(arrays, np.zeros(len(tasks.tags), np.bool_)))
    return answers, None


def run_programs(
    design: Design, programs: Mapping[str, NativeProgram], threads: int, batches: Sequence[Tasks]
) -> tuple[list[Answer], int | None]:
    """Compiled functions; Singular."""
    answers = []
    for tasks in batches:
        found = programs[tasks.function](tasks.values, threads)
        arrays = {name: found[name] for name in gives(design, tasks.function)}
        answers.append(Answer(arrays, np.zeros(len(tasks.tags), np.bool_)))
    return answers, None


def backend(
    kind: str,
    robot: str | Path,
    progress: Progress,
    trust: bool = False,
    threads: int = 1,
    port: str | Transport | None = None,
    **choices: Any,
) -> Backend:
    """The back end of a robot, or of a folder that holds a design of it.

    ``trust``: take the folder's files as they are; else OutputError for one that changed.
    ``threads``: of compiled programs. ``port``: where the board is.
    """
    place = Path(robot)
    if (kind == "board") != (port is not None):
        raise InputError(
            f"port: {port}: of {kind}; a board has one: Dynamics(DIR, 'board', port='/dev/ttyUSB0')"
        )
    if not (place / MARK).is_file():
        if kind == "board":
            raise InputError(f"{robot}: a board has what a folder holds: rbdgen board BOARD DIR")
        usual = {"accelerator": kind not in NO_WORDS or _are_tasks(choices.get("functions", ()))}
        return _of_robot(kind, str(robot), progress, {**usual, **choices}, threads)
    if choices:
        raise InputError(f"{place}: has been generated; {', '.join(choices)}: cannot be chosen")
    entry = checked_manifest(place, trust, progress, (DESIGN, ROBOT, "{name}.v"))
    # what makes and drives hardware is imported for that alone
    if kind == "rtl":
        from .word_backends import of_verilog

        return of_verilog(place, entry, progress)
    if port is not None:
        from .word_backends import of_board

        return of_board(place, entry, port)
    return _of_robot(kind, str(place / DESIGN), progress, {}, threads, place)


def _are_tasks(functions: str | Iterable[str]) -> bool:
    """Whether an accelerator has all of the functions; programs have others, too."""
    names = functions.split(",") if isinstance(functions, str) else functions
    return {ALIASES.get(name, name) for name in names} <= {*ON_ACCELERATORS, *ROLLOUTS}


def _of_robot(
    kind: str,
    robot: str,
    progress: Progress,
    choices: Mapping[str, Any],
    threads: int,
    place: Path | None = None,
) -> Backend:
    """``place``: the folder, if ``robot`` is a generated one's."""
    if kind == "golden":
        notes: list[str] = []
        design, loaded = load(robot, notes=notes, **choices)
        if not set(design.functions).isdisjoint(ROLLOUTS):
            whole_turns(design, loaded)  # or there are none
        filed = filed_notes(design, notes)
        return Backend(design, loaded, None, partial(run_golden, design, loaded), notes=filed)
    if kind in COMPILED:
        design, loaded = load(robot, **choices)

        held: ProgramRegisters | None = None
        if has_registers(design):
            from .registers import ProgramRegisters

            held = ProgramRegisters(progress)

        def program(functions: Sequence[str]) -> NativeProgram:
            alone = of_functions(design, functions)
            found = compiled(alone, loaded, kind, progress, registers=True)
            return held.add(found) if held else found

        programs = {}
        for name in design.functions:
            besides = [own for own in (TOGETHER.get(name),) if own in design.functions]
            programs[name] = program((name, *besides))
        run = partial(run_programs, design, programs, threads)
        joint = cache(partial(program, design.functions))
        said = dict.fromkeys(note for own in programs.values() for note in own.notes)
        return Backend(design, loaded, None, run, programs, joint, held, tuple(said))
    from .word_backends import of_words

    return of_words(kind, robot, progress, choices, place)
