"""Back ends of words: the integer model, the Verilog, a board."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.api.c_header import line_layouts, packet_format
from rbdgen.api.design_file import DESIGN
from rbdgen.api.filed_design import CachedIntegers, cached_design
from rbdgen.api.folder import read_manifest, refuse_core
from rbdgen.api.integer_model import load_core
from rbdgen.api.results import Mismatch
from rbdgen.codegen.compiled import Results
from rbdgen.design.design import canonical_of, has_registers
from rbdgen.design.facts import TaskFacts
from rbdgen.design.loading import load
from rbdgen.design.manifest import HardwareManifest
from rbdgen.graph.fixed import Integers
from rbdgen.shell.task_packets import Status
from rbdgen.system.quoting import Progress

from .coder import Coder
from .cores import Running, by_hardware, by_model, run_core
from .dma import PYNQ, DmaLink
from .links import TaskLink, Transport
from .ports import opened
from .registers import Registers
from .requests import Answer, Backend, Run, Tasks

# Words, by place, and the kind of task → results (N,) by name, flags (N, flags).
Tasked = Callable[[Mapping[str, Integers], str], Results]


def run_integer(
    coder: Coder, model: Tasked, batches: Sequence[Tasks]
) -> tuple[list[Answer], int | None]:
    """The integer model of the accelerator: the same bits as its hardware."""
    answers = []
    for tasks in batches:
        found, flags = model(tasks.values, tasks.function)
        words = np.stack(list(found.values()), axis=1)
        answers.append(Answer(coder.arrays(tasks.function, words), flags[:, 0]))
    return answers, None


def run_rtl(
    coder: Coder, running: Running, batches: Sequence[Tasks]
) -> tuple[list[Answer], int | None]:
    """The accelerator's Verilog. Cycles: from the first task that it takes to the last result.

    The batches are mixed evenly, so that the stages of different functions work together.
    """
    sizes = [len(tasks.tags) for tasks in batches]
    if not sum(sizes):
        nothing = np.zeros((0, len(running.model.ports.output.fields)), np.int64)
        return [_answer(coder, tasks, nothing, nothing[:, 0]) for tasks in batches], 0
    column = {f.name: k for k, f in enumerate(running.model.ports.input.fields)}
    tokens = np.zeros((sum(sizes), len(column)), np.int64)
    rows = [slice(end - n, end) for end, n in zip(np.cumsum(sizes), sizes, strict=True)]
    for tasks, own in zip(batches, rows, strict=True):
        tokens[own, column["function"]] = coder.tasks.functions[tasks.function].code
        tokens[own, column["tag"]] = tasks.tags
        for word, values in tasks.values.items():
            tokens[own, column[word]] = values
    order = np.argsort(np.concatenate([(np.arange(n) + 0.5) / n for n in sizes]), kind="stable")
    run = running.run(tokens[order])
    given = _results(tokens[order, :2], run.outputs[:, :2])
    taken = np.argsort(order)  # when each row was
    latency = (run.result_cycle[given] - run.accept_cycle)[taken]
    results = run.outputs[given][taken]
    answers = [
        _answer(coder, tasks, results[own], latency[own])
        for tasks, own in zip(batches, rows, strict=True)
    ]
    return answers, int(run.result_cycle.max() - run.accept_cycle.min())


def run_board(
    coder: Coder, link: TaskLink | DmaLink, batches: Sequence[Tasks]
) -> tuple[list[Answer], int | None]:
    """The accelerator on a board."""
    asked = []
    for tasks in batches:
        own = coder.tasks.functions[tasks.function]
        words = np.stack([tasks.values[i.word] for i in own.inputs], axis=1)
        asked += [(own.code, row) for row in words.tolist()]
    found = iter(link.ask(asked))
    answers = []
    for tasks in batches:
        own = coder.tasks.functions[tasks.function]
        rows = [next(found) for _ in tasks.tags]
        results = np.array([row.words for row in rows], np.int64).reshape(-1, len(own.outputs))
        flags = np.array([row.status is Status.OVERFLOW for row in rows], np.bool_)
        answers.append(Answer(coder.arrays(tasks.function, results), flags))
    return answers, None


def _answer(coder: Coder, tasks: Tasks, results: Integers, latency: Integers) -> Answer:
    """``results`` (N, fields): function, tag, overflow, words."""
    arrays = coder.arrays(tasks.function, results[:, 3:])
    return Answer(arrays, results[:, 2].astype(np.bool_), latency)


def _results(tasks: Integers, results: Integers) -> Integers:
    """Which result is each task's; both (N, 2): function, tag.

    Tags come round, and tasks of the same one, far apart, are answered in order.
    """
    asked, came = (np.lexsort(rows.T) for rows in (tasks, results))
    if len(asked) != len(came) or (tasks[asked] != results[came]).any():
        raise Mismatch("results are not those of the tasks")
    given = np.empty(len(tasks), np.int64)
    given[asked] = came
    return given


def of_words(
    kind: str, robot: str, progress: Progress, choices: Mapping[str, Any], place: Path | None
) -> Backend:
    """The back end ``integer`` or ``rtl`` of a robot; ``place``: the folder, if it has one."""
    if kind == "rtl":
        folder = cached_design(robot, progress, choices)
        return of_verilog(folder, read_manifest(folder).facts, progress)
    if place is None and has_registers(load(robot, **choices)[0]):
        place = cached_design(robot, progress, choices)  # whose words can be others
    return _integer_of(place, progress) if place else _integer(robot, progress, choices)


def _integer(robot: str, progress: Progress, choices: Mapping[str, Any]) -> Backend:
    """The integer model of a robot's design."""
    kept = CachedIntegers(robot, progress, choices)
    coder = _coder(kept.folder, kept.facts.tasks)
    (function, *_) = kept.facts.source.functions
    inputs, outputs = ([own.name for own in way] for way in (function.inputs, function.outputs))
    run = _run_of_words(coder, kept.facts.whole, inputs, outputs, kept.run)
    return Backend(coder.design, coder.robot, coder, run, notes=kept.facts.notes)


def _integer_of(place: Path, progress: Progress) -> Backend:
    """The integer model of a folder's design; errors as those of `filed_design`."""
    # the compiler: one second that others save
    from rbdgen.api.filed_design import filed_design
    from rbdgen.api.integer_model import IntegerModel

    entry = read_manifest(place).facts
    made = filed_design(place, entry, progress)
    registers = _registers(place, entry, progress)
    front = made.front
    coder = Coder(entry.tasks, front.design, front.robot, front.canonical)
    model = IntegerModel(made, progress)
    outputs = [name for fixed in made.graphs.values() for name in fixed.graph.outputs]
    run = _run_of_words(coder, made.is_core, list(made.accelerator.words), outputs, model)
    if registers:
        registers.write = lambda found: model.hold(found.words)
    return Backend(coder.design, coder.robot, coder, run, registers=registers, notes=entry.notes)


def _run_of_words(
    coder: Coder, whole: bool, inputs: Sequence[str], outputs: Sequence[str], model: Tasked
) -> Run:
    """The run of an integer model; ``whole``: of tasks with all ``inputs`` and ``outputs``."""
    if whole:
        return partial(run_core, coder, outputs, by_model(inputs, model))
    return partial(run_integer, coder, model)


def of_board(place: Path, entry: HardwareManifest, port: str | Transport) -> Backend:
    """The back end of a folder's design on a board."""
    refuse_core(place, entry, "boards take")
    coder = _coder(place, entry.tasks)
    if isinstance(port, str) and port.startswith(PYNQ):
        packets, bitfile = packet_format(coder.tasks), port.removeprefix(PYNQ)
        dma = DmaLink(bitfile, packets, entry.identity, entry.name)
        registers = _registers(place, entry, lambda _: None)
        if registers:
            registers.write = lambda found: dma.write(list(found.words.values()))
        run = partial(run_board, coder, dma)
        return Backend(
            coder.design, coder.robot, coder, run, registers=registers, notes=entry.notes
        )
    transport = opened(port) if isinstance(port, str) else port
    link = TaskLink.over(transport, line_layouts(coder.tasks), entry.identity, entry.name)
    run = partial(run_board, coder, link)
    return Backend(coder.design, coder.robot, coder, run, notes=entry.notes)


def _coder(place: Path, tasks: TaskFacts) -> Coder:
    """The coder of a folder with a design, whose manifest says of ``tasks`` all that is needed."""
    design, loaded = load(place / DESIGN)
    return Coder(tasks, design, loaded, canonical_of(design)(loaded))


def of_verilog(place: Path, entry: HardwareManifest, progress: Progress) -> Backend:
    """The back end of a generated folder."""
    coder = _coder(place, entry.tasks)
    model = load_core(place, entry, progress=progress)
    registers = _registers(place, entry, progress)
    running = Running(model, registers)
    if entry.is_core:
        outputs = entry.ports.results
        run: Run = partial(run_core, coder, outputs, by_hardware(running, len(outputs)))
    else:
        run = partial(run_rtl, coder, running)
    return Backend(coder.design, coder.robot, coder, run, registers=registers, notes=entry.notes)


def _registers(place: Path, entry: HardwareManifest, progress: Progress) -> Registers | None:
    ports = entry.ports.registers
    return Registers(place, ports, progress) if ports else None
