"""Times of a robot's functions, side by side.

A design's functions timed and checked on this machine: our C++, Pinocchio, a GPU's kernels.

A robot's functions on a CPU and in hardware, at the same boundary: from a call, at the core, and
through a link.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rbdgen.api.arrays import completed
from rbdgen.api.folder import InputError
from rbdgen.api.native_programs import DTYPES, NativeProgram, compiled
from rbdgen.api.reference import golden_model
from rbdgen.api.results import Mismatch, entries_of, portions
from rbdgen.codegen.nvcc import NoNvcc as NoNvcc
from rbdgen.compile.front import Front
from rbdgen.compile.samples import accuracy_of, sample_states
from rbdgen.design.coordinates import CoordinateError, brief, coordinate_errors
from rbdgen.draw.tables import table
from rbdgen.graph.accuracy import REPORTED, SCALES
from rbdgen.schedule.pipelined import HostLink
from rbdgen.shell.packets import PacketWidths
from rbdgen.system.compiler import CompilerError, NoCompiler, NoGpu, find_gpu
from rbdgen.system.quoting import Progress, listed
from rbdgen.system.records import Record

from . import grouped_bars as groups
from .integer_errors import worst_of_scales
from .link_times import LINKS, Timing
from .peers import Line
from .pinocchio import FORMS, RESULTS, check
from .pinocchio import command as peer
from .timing import Command, ProgramTimes, command, least, read, through_python

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


Worst = tuple[CoordinateError, ...]
SIZES = (1, 16, 256, 1024)  # tasks that come together
CALL, CORE, LINK = "call", "core", "link"
BOUNDARIES = {
    CALL: "called: states and results in memory",
    CORE: "at the core: without what brings states and takes results",
    LINK: "through a link, from memory and back: the link is a model",
}
NOT_PLACED = "not placed"
ERROR = f"error of the worst, {SCALES[0].name} | {SCALES[1].name}"
WORD = 4  # bytes of a word in our shells' packets


@dataclass(frozen=True)
class Contender(Record):
    """One way to have the functions computed.

    ``boundary``: a key of BOUNDARIES. ``one_us``: µs of a single task. ``rates``: number of tasks
    that come together → million a second. ``errors``: those of the coordinates that are off most,
    none where they are not known. ``parts``: what it takes. None where it is not known.
    """

    name: str
    boundary: str
    one_us: float | None
    rates: Mapping[str, float] | None
    errors: Worst
    parts: str


@dataclass(frozen=True)
class SideBySide(Record):
    """All of them; ``wins``: who is the fastest, in a sentence each; ``notes``: what is missing."""

    rows: tuple[Contender, ...]
    wins: tuple[str, ...]
    notes: tuple[str, ...]


def of_program(
    times: Mapping[str, ProgramTimes], threads: int, errors: Mapping[str, Worst], about: str
) -> list[Contender]:
    """Our C++: double and float on one core, double on all; ``times``, ``errors``: by kind."""
    double, single = times["cpp"], times["cpp32"]
    rows = {kind: {n: own.rows for n, own in of.of.items()} for kind, of in times.items()}
    found = [
        _called("C++, double", double.one, rows["cpp"], "1 core"),
        _called("C++, float", single.one, rows["cpp32"], "1 core"),
    ]
    if threads > 1:
        both = {n: min(own.threads, own.rows) for n, own in double.of.items()}
        found.append(_called("C++, double", None, both, f"up to {threads} cores"))
    kinds = ("cpp", "cpp32", "cpp")
    return [
        Contender(
            f"{row.name}, {about}", CALL, row.one_us, row.rates, errors.get(kind, ()), row.parts
        )
        for row, kind in zip(found, kinds, strict=False)
    ]


def _called(name: str, one: float | None, each: Mapping[int, float], parts: str) -> Contender:
    rates = {str(n): 1e3 / time for n, time in each.items()}
    if one is not None:
        rates = {"1": 1e3 / one, **rates}
    one_us = None if one is None else 1e-3 * one
    return Contender(name, CALL, one_us, rates, (), parts)


def of_gpu(name: str, each: Mapping[int, float], errors: Worst, gpu: str) -> Contender:
    """Ours on a GPU; ``each``: ns of a state of so many."""
    rates = {str(n): 1e3 / time for n, time in each.items()}
    return Contender(name, CALL, 1e-3 * each[1], rates, errors, gpu)


def of_peer(name: str, nanoseconds: float) -> Contender:
    """A library on one core that takes one state after another, with gravity and its own sines."""
    rates = {str(n): 1e3 / nanoseconds for n in SIZES}
    parts = "1 core; gravity, sines made"
    return Contender(name, CALL, 1e-3 * nanoseconds, rates, (), parts)


def of_core(line: Line, errors: Worst = ()) -> Contender:
    """A design, its own or another's; of one whose clock nobody knows only its parts."""
    parts = "; ".join([*([] if line.dsp is None else [f"{line.dsp} DSP"]), _clock(line)])
    timing = timing_of(line)
    if timing is None:
        return Contender(line.name, CORE, None, None, errors, parts)
    rates = {str(n): 1e-6 * n / timing.alone(n) for n in SIZES}
    return Contender(line.name, CORE, 1e6 * timing.latency, rates, errors, parts)


def _clock(line: Line) -> str:
    """The clock of a design and its origin, as text."""
    if line.clock is None:
        return "clock not known"
    if line.estimated:
        return f"{line.estimated}, estimated, {NOT_PLACED}"
    placed = f", {NOT_PLACED}" * (line.clock_of == "scheduled for")
    return f"{line.clock:.4g} MHz, {line.clock_of}{placed}"


def timing_of(line: Line) -> Timing | None:
    """Seconds of a design whose clock and interval are known."""
    if line.clock is None or line.interval is None:
        return None
    return Timing(line.latency / line.clock * 1e-6, line.interval[0] / line.clock * 1e-6)


def carried(link: HostLink, words: PacketWidths) -> tuple[int, int]:
    """Bytes of a task and of its result: frames of a board's line, or 32-bit words."""
    if link.framed:
        return words.line_bytes
    return WORD * len(words.operands), WORD * len(words.results)


def behind_links(line: Line, words: PacketWidths, errors: Worst = ()) -> list[Contender]:
    """A design behind each link; ``words``: those of a task and of its result."""
    timing = timing_of(line)
    if timing is None:
        return []
    found = []
    for link in LINKS:
        taken, given = carried(link, words)
        time = {n: timing.through(link, taken, given, n) for n in SIZES}
        rates = {str(n): 1e-6 * n / own for n, own in time.items()}
        parts = f"{taken} bytes in, {given} out; {_clock(line)}"
        name = f"{line.name}; {link.name}"
        found.append(Contender(name, LINK, 1e6 * time[1], rates, errors, parts))
    return found


def wins(rows: Iterable[Contender]) -> tuple[str, ...]:
    """Who is the fastest at each number of tasks, among what can stand for each other."""
    known = [row for row in rows if row.rates]
    return (
        *_fastest("From memory and back", [r for r in known if r.boundary in (CALL, LINK)]),
        *_fastest("At the core", [r for r in known if r.boundary == CORE]),
        *_behind(known),
    )


def _behind(rows: Sequence[Contender]) -> list[str]:
    """How our hardware at its best link does beside what this machine computes itself."""
    best: dict[str, dict[int, float]] = {CALL: {}, LINK: {}}
    for row in rows:
        for n in SIZES if row.boundary in best else ():
            rate = (row.rates or {}).get(str(n), 0.0)
            best[row.boundary][n] = max(rate, best[row.boundary].get(n, 0.0))
    if not best[CALL] or not best[LINK]:
        return []
    times = {n: best[LINK][n] / best[CALL][n] for n in SIZES}
    lost = [n for n in SIZES if times[n] < 1]
    if not lost:
        return ["Behind its best link our hardware is faster than this machine's programs."]
    ratios = listed(f"{times[n]:.2g}" for n in lost)
    return [
        f"Where our hardware loses: behind its best link it is {ratios} times as fast as this "
        f"machine's programs for {_listed(lost)}."
    ]


def _fastest(where: str, rows: Sequence[Contender]) -> list[str]:
    best: dict[str, list[int]] = {}
    for n in SIZES:
        own = {r.name + _besides(r): r.rates for r in rows}
        rates = {name: found[str(n)] for name, found in own.items() if found and str(n) in found}
        if len(rates) > 1:
            best.setdefault(max(rates, key=rates.__getitem__), []).append(n)
    return [f"{where}, {name} is the fastest for {_listed(sizes)}." for name, sizes in best.items()]


def _besides(row: Contender) -> str:
    """A remark that a contender's name alone does not carry."""
    if row.boundary == CALL:
        return f" ({row.parts})"
    return f" ({NOT_PLACED})" if NOT_PLACED in row.parts else ""


def _listed(sizes: Sequence[int]) -> str:
    text = listed("one task" if n == 1 else str(n) for n in sizes)
    return text if sizes == [1] else f"{text} together"


def as_text(report: SideBySide) -> str:
    """A table for each boundary, and who wins."""
    head = ("", "one, µs", *(f"M/s of {n}" for n in SIZES), ERROR, "parts")
    parts = []
    for boundary, about in BOUNDARIES.items():
        rows = [
            [
                row.name,
                _figure(row.one_us),
                *(_figure((row.rates or {}).get(str(n))) for n in SIZES),
                brief(row.errors),
                row.parts,
            ]
            for row in report.rows
            if row.boundary == boundary
        ]
        if rows:
            parts.append(f"{about[0].upper()}{about[1:]}\n{table(head, rows)}")
    return "\n\n".join([*parts, "\n".join((*report.wins, *report.notes))])


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def picture(title: str, report: SideBySide) -> str:
    """An SVG: million tasks a second at each number of tasks, all whose rates are known."""
    rows = [row for row in report.rows if row.rates]
    letters = {id(row): chr(ord("a") + k % 26) for k, row in enumerate(rows)}

    def label(row: Contender) -> str:
        return f"{letters[id(row)]}: {row.name} ({row.parts}; {row.boundary})"

    return groups.picture(
        title,
        "million a second",
        {
            "one" if n == 1 else f"{n} together": [
                groups.Bar(letters[id(row)], {label(row): (row.rates or {})[str(n)]})
                for row in rows
                if str(n) in (row.rates or {})
            ]
            for n in SIZES
        },
    )
