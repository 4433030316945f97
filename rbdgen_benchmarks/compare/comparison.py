"""Our designs beside the peers': cycles, multipliers, evaluations for each clock and DSP."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from rbdgen.api.folder import OutputError, checked_manifest, read_manifest
from rbdgen.api.reports import SIMULATION, SYNTHESES, NoReport, read_report
from rbdgen.api.results import TextReport, study_page
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.front import Front
from rbdgen.compile.product import clocks_of
from rbdgen.design.effects import refuse_design
from rbdgen.design.facts import CoreRun
from rbdgen.design.loading import load, refuse_unknown
from rbdgen.design.options import DesignChoices
from rbdgen.design.rules import ONE_TASK
from rbdgen.robot.model import RobotError
from rbdgen.shell.packets import PacketWidths
from rbdgen.system.quoting import Progress
from rbdgen.system.records import Record

from .comparison_table import Compared
from .comparison_table import as_text as comparison_text
from .integer_errors import integer_errors, worst_of_scales
from .peers import (
    CONVENTIONS,
    GRADIENTS,
    PEERS,
    PINOCCHIO,
    ROBOSHAPE_CLOCK,
    Line,
    Ours,
    Peer,
    Ratios,
    Theirs,
)
from .side_by_side import (
    STATES,
    Contender,
    SideBySide,
    Worst,
    behind_links,
    of_core,
    of_peer,
    on_cpu,
    on_gpu,
    wins,
)
from .side_by_side import picture as side_picture

TARGET = "xcup"  # the part of RoboShape and Dadu-RBD, an XCVU9P
INTERVALS = (1, 8, 24)  # a task a clock; as often as Dadu-RBD; as often as RoboShape


class Comparison(TextReport[Compared]):
    """The result of `compare`."""

    def headline(self) -> str:
        own = self.facts
        beside = f"{len(own.ours)} designs beside {len(own.peers)} peers"
        return f"{own.robot}: {', '.join(own.functions)}: {beside}"

    def as_text(self) -> str:
        return comparison_text(self.facts)

    def svg(self) -> str:
        """A picture of how many tasks a second each way does, of those that come together."""
        own = self.facts
        return side_picture(f"{own.robot}: {', '.join(own.functions)}", own.side)

    def page(self, command: str) -> str:
        """The same as a page, with the picture; ``command``: what makes it again."""
        return study_page(self.headline(), self.svg(), self.as_text(), [("this page", command)])


def compare(
    robot: str = "iiwa14",
    designs: Sequence[str | Path] = (),
    intervals: Sequence[int] | None = None,
    progress: Progress = lambda _: None,
    trust: bool = False,
    cpu: bool = True,
    pinocchio: bool = False,
    **choices: Unpack[DesignChoices],
) -> Comparison:
    """Compare designs and programs of ``robot``, compiled now, with published accelerators.

    By default they have the peers' functions, part and conventions (`CONVENTIONS`, for these
    functions alone); ``choices``, fields of Design, take precedence. Designs are compiled for each
    of ``intervals``, and for the fewest cycles at RoboShape's clock. The default is all of
    `INTERVALS` for which the part has enough multipliers.

    Where a model of the part's clock exists, the clock is estimated, as a range at the slowest
    speed grade. It is exact for ``designs``: folders of `generate` that `synthesize` has placed and
    routed. ``trust`` accepts files in them that changed. C++ is compiled and timed on this machine
    unless ``cpu`` is false, and CUDA where there is a GPU. ``pinocchio`` times both forms of
    Pinocchio; compiling them takes minutes, once. Designs with a known or estimated clock are also
    compared behind models of links.

    Returns the report, whose ``text`` has the tables. Raises RobotError, InputError or OutputError,
    in one line.
    """
    refuse_unknown(choices, compare)
    asked = {key: value for key, value in choices.items() if value is not None}
    exactly = {**asked, "ii": 1, "fit": False}  # what is asked for, and nothing else
    chosen = {"target": TARGET, **CONVENTIONS, **exactly}
    design, loaded = load(robot, **chosen)
    if not set(design.functions) <= set(GRADIENTS):
        chosen = {"target": TARGET, **exactly}
        design, loaded = load(robot, **chosen)
    name = loaded.name
    for folder in designs:
        checked_manifest(Path(folder), trust, progress)
    found = [placed(Path(folder), name, design.functions) for folder in designs]
    measured = [line for line, _ in found]
    simulated = {own.name: _worst(Path(f)) for own, f in zip(measured, designs, strict=True)}
    front = front_end(robot, **chosen)
    refuse_design(front.design, front.robot.name, ONE_TASK)
    lines: list[Line] = []
    errors: dict[str, Worst] = {}
    words: dict[str, PacketWidths] = {}
    notes: list[str] = []
    for interval in INTERVALS if intervals is None else intervals:
        progress(f"{robot}: interval {interval}")
        try:
            line, layout, worst = _ours(f"II {interval}", front, {"ii": interval})
        except RobotError as why:
            if intervals is not None:
                raise
            notes.append(f"Left out is II {interval}, one of those by default: {why}.")
            continue
        lines.append(line)
        words[line.name], errors[line.name] = layout, worst
    progress(f"{robot}: fewest cycles at RoboShape's clock")
    period = 1e3 / ROBOSHAPE_CLOCK
    asked_for = f"--style latency --clock {period:g}"
    no_slow = ""
    try:
        fewest = {"ii": None, "style": "latency", "clock": period}
        slow, layout, worst = _ours(asked_for, front, fewest)
        lines.append(replace(slow, clock=ROBOSHAPE_CLOCK, clock_of="scheduled for"))
        words[slow.name], errors[slow.name] = layout, worst
    except RobotError as error:  # every product on its own may be more than the part has
        no_slow = f"{asked_for}: {error}"
    lines += measured
    words |= {line.name: layout for line, layout in found}
    known = [p for p in PEERS if p.robot == name and set(design.functions) <= set(GRADIENTS)]
    peers = tuple(theirs(peer) for peer in known)
    errors |= simulated
    rows: list[Contender] = []
    cpu_ns = _cpu(name, design.functions)
    if cpu:
        for own, said in (on_cpu(front, progress, pinocchio), on_gpu(front, progress)):
            rows += own
            notes += said
    else:
        notes.append("Neither a CPU nor a GPU was timed.")
    if not any(row.name.startswith("Pinocchio") for row in rows):
        rows += _pinocchio(cpu_ns, design.functions)
    rows += [of_core(line, errors.get(line.name, ())) for line in (*lines, *peers)]
    rows += [
        row
        for line in lines
        for row in behind_links(line, words[line.name], errors.get(line.name, ()))
    ]
    report = Compared(
        robot=name,
        functions=design.functions,
        target=front.target.name,
        angles=design.angles,
        gravity=tuple(front.robot.gravity.tolist()),
        ours=tuple(Ours(**vars(line), relative=relative(line, peers)) for line in lines),
        peers=peers,
        cpu_ns=cpu_ns,
        no_slow=no_slow,
        side=SideBySide(tuple(rows), wins(rows), tuple(notes)),
    )
    return Comparison(report)


def _ours(name: str, front: Front, choices: dict[str, Any]) -> tuple[Line, PacketWidths, Worst]:
    """A design of ours, compiled now: as ``generate`` would make it; its words, and the errors of
    its worst coordinates."""
    core = compile_front(replace(front, design=replace(front.design, **choices)))
    plan, width = core.plan, core.fixed.width
    interval, named = (plan.interval, plan.interval), f"rbdgen, {width} bits, {name}"
    line = Line(named, plan.latency, interval, None, "not placed and routed", plan.multipliers)
    if clocks := clocks_of(core):
        line = replace(line, clock=clocks[0].mhz.about, clock_of="estimated", estimated=clocks[0])
    outputs = (core.fixed.formats[node] for node in core.fixed.graph.outputs.values())
    words = PacketWidths(
        tuple(word.width for word in core.fixed.inputs.values()),
        tuple(word.width for word in outputs),
    )
    return line, words, worst_of_scales(integer_errors(core, STATES).coordinates)


def theirs(peer: Peer) -> Theirs:
    """A peer as a line of the table."""
    own = peer.name, peer.latency, peer.interval, peer.clock, "its own", peer.dsp
    return Theirs(*own, peer.source, peer.note)


@dataclass(frozen=True)
class _DesignRun(Record):
    speed: int
    fmax: float


@dataclass(frozen=True)
class _Placed(Record):
    """The fields read from a ``synthesize`` report; no placements if it is only mapped."""

    part: str = ""
    placements: tuple[_DesignRun, ...] = ()


def placed(folder: Path, robot: str, functions: Sequence[str]) -> tuple[Line, PacketWidths]:
    """A design that was placed and routed, at the best clock of its reports, and its words.

    OutputError for one of another robot or function, or one that was not.
    """
    entry = read_manifest(folder).facts
    if not entry.is_core:
        raise OutputError(f"{folder}: an accelerator; compared are designs of their own")
    of = f"{entry.robot}: {', '.join(entry.functions)}"
    if entry.robot != robot or entry.functions != tuple(functions):
        raise OutputError(f"{folder}: is {of}; compared is {robot}: {', '.join(functions)}")
    found: list[tuple[float, str]] = []
    for file in sorted(folder.glob(SYNTHESES)):
        report = read_report(folder, str(file.relative_to(folder)), _Placed) or _Placed()
        found += [(run.fmax, f"{report.part}, speed {run.speed}") for run in report.placements]
    if not found:
        raise OutputError(
            f"{folder}: not placed and routed; first: rbdgen synthesize {shlex.quote(str(folder))} "
            "--place-and-route"
        )
    clock, part = max(found)
    about, dsp = entry.tasks.functions[functions[0]], entry.multipliers.hardware
    name = f"{folder} ({part})"
    line = Line(
        name, about.latency, (about.interval, about.interval), clock, "placed and routed", dsp
    )
    tasks = entry.tasks
    outputs = (word.width for own in tasks.functions.values() for word in own.outputs)
    return line, PacketWidths(tuple(word.width for word in tasks.words), tuple(outputs))


def _worst(folder: Path) -> Worst:
    """The errors of the worst coordinates of a design, as `simulate` found them."""
    try:
        run = read_report(folder, SIMULATION, CoreRun)
    except NoReport:  # by another version
        return ()
    return worst_of_scales(run.coordinates) if run else ()


def _pinocchio(cpu_ns: Mapping[str, float], functions: Sequence[str]) -> list[Contender]:
    """Its time of a single function that it has; of another run, on this kind of machine."""
    if len(functions) > 1 or not cpu_ns:
        return []
    ((function, time),) = cpu_ns.items()
    return [of_peer(f"Pinocchio 4.1, templated, {function}, of another run", time)]


def relative(line: Line, peers: Sequence[Line]) -> dict[str, Ratios]:
    """The line beside each peer, by the peer's name."""
    return {
        peer.name: Ratios(
            _times(line.evaluations_per_clock, peer.evaluations_per_clock),
            _times(line.evaluations_per_clock_and_dsp, peer.evaluations_per_clock_and_dsp),
            _times(peer.latency, line.latency),
        )
        for peer in peers
    }


def _times(one: float | None, other: float | None) -> float | None:
    return one / other if one and other else None


def _cpu(robot: str, functions: Sequence[str]) -> dict[str, float]:
    """Pinocchio's time of each function that it has; of difd, M⁻¹ given, it has dfd instead."""
    names = dict.fromkeys("dfd" if name == "difd" else name for name in functions)
    times = PINOCCHIO.get(robot, {})
    return {name: times[name] for name in names if name in times}
