"""An accelerator on a board: from a robot or a core, its bitstream, its report, its loading."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Unpack

from ..compile.flow import front_end
from ..compile.joint_choice import small
from ..design.loading import refuse_unknown
from ..design.manifest import HardwareManifest
from ..design.options import DesignChoices
from ..design.target import PLACERS, ROUTERS
from ..schedule.pipelined import DEFAULT_TIMER, LATENCY_TIMER, UART, UDP, HostLink
from ..shell.build import CURE, LEDS, Bitstream, expected_seconds, find_loader
from ..shell.build import build as build_board
from ..shell.catalog import Board, BoardError, find_board
from ..shell.lines import SPI_CLOCKS
from ..shell.packets import IP, PORT
from ..system.quoting import Progress, Steps
from ..system.signals import run_child
from .board_link import PACKED, REPORT, accelerator_in, line_of, suffix_of, write_link
from .c_header import line_layouts
from .compilation import wishes_of
from .design_file import DESIGN
from .folder import UsageError, checked_manifest, read_manifest, write_file
from .generation import generate
from .reports import BoardFacts, LineRate, board_text
from .results import Generated, TextReport

ACCELERATOR, LINK, LOADER = "accelerator", "line", "openFPGALoader"  # steps


class OnBoard(TextReport[BoardFacts]):
    """The result of `board`."""

    def headline(self) -> str:
        own = self.facts
        return f"{own.name} on {own.board}: {own.bitstream}, {own.clock:g} MHz"

    def as_text(self) -> str:
        return board_text(self.facts)


def board(
    name: str,
    folder: str | Path,
    seeds: int = 1,
    frequency: float = 80.0,
    load: bool = False,
    progress: Progress = lambda _: None,
    trust: bool = False,
    link: str | None = None,
    ip: str | None = None,
    placer: str = PLACERS[0],
    router: str = ROUTERS[0],
    before: Mapping[str, float] = MappingProxyType({}),
    flash: bool = False,
) -> OnBoard:
    """Make the bitstream of the accelerator in ``folder`` for a board, and ``load`` it.

    All files are written to FOLDER/board-NAME, followed by -udp or -spi for these links. ``link``
    is "uart", "spi", or "udp" for a board with gigabit Ethernet, at the address ``ip``; by default
    it is the board's first. The fastest of ``seeds`` placements is taken, each aimed at
    ``frequency`` MHz, and the PLL makes the fastest clock that it reaches. ``flash`` writes the
    bitstream to the board's flash, from which the board starts. ``placer`` and ``router`` are
    nextpnr's. ``before`` has the seconds of earlier steps, for the report.

    Raises BoardError for an unknown board, or one that the design does not fit. Raises UsageError
    where nothing can load it.
    """
    place = Path(folder)
    known, command = board_for(name, place, link, load, flash)
    entry = accelerator_in(place, trust, progress)
    line = line_of(entry, known, known.baud, ip)
    out, core = place / f"board-{name}{suffix_of(known)}", entry.name
    sources = [place / f"{core}.il", place / f"{core}_ecp5.il", place / f"{core}_axi_words.il"]
    with _in_steps(progress, command is not None) as steps:
        steps.expected |= expected_seconds(sources, seeds)
        steps.begin(LINK)
        write_link(out, place, entry, known, line, ip, steps)
        made = build_board(
            core,
            known,
            [*sources, out / f"{core}_link.il"],
            out,
            range(1, seeds + 1),
            frequency,
            placer,
            router,
            steps=steps,
        )
        facts = _facts(entry, known, made, ip, before)
        write_file(out / REPORT, json.dumps(facts.to_json(), indent=2) + "\n")
        if command is not None:
            steps.begin(LOADER)
            _load([*command, str(made.file)])
    return OnBoard(facts)


def board_for(
    name: str,
    folder: str | Path,
    link: str | None = None,
    load: bool = False,
    flash: bool = False,
) -> tuple[Board, list[str] | None]:
    """The board, and the command that loads it where it is to be loaded; asked before all work,
    which would be for nothing.

    Raises BoardError for a board that is not known, has no such ``link`` or another part than the
    design in ``folder``, if that is a folder; UsageError where nothing can load it.
    """
    known, place = find_board(name, LEDS, link), Path(folder)
    target = read_manifest(place).facts.target if place.is_dir() else known.target.name
    if target != known.target.name:
        raise BoardError(
            f"{place}: was generated for {target}; {name} has an {known.part}: generate it "
            f"with --target {known.target.name}"
        )
    return known, loader_command(known, flash) if load or flash else None


def steps_to(progress: Progress, made: bool = False, sent: bool = False) -> Steps:
    """The steps of `board`. ``made``: the accelerator's generation comes first; ``sent``: loading
    comes last."""
    names = [*([ACCELERATOR] * made), LINK, "Yosys", "nextpnr", "ecppack", *([LOADER] * sent)]
    steps = Steps(progress, names)
    steps.expected |= {LINK: 5.0} | ({LOADER: 10.0} if sent else {})
    return steps


def _in_steps(progress: Progress, sent: bool) -> AbstractContextManager[Steps]:
    """Steps that have begun already, or those of `board` alone."""
    return nullcontext(progress) if isinstance(progress, Steps) else steps_to(progress, sent=sent)


def _facts(
    entry: HardwareManifest,
    known: Board,
    made: Bitstream,
    ip: str | None,
    before: Mapping[str, float],
) -> BoardFacts:
    of = line_layouts(entry.tasks)
    lines = {}
    hertz = made.clock.mhz * 1e6
    wire, named = _wire(known, hertz, ip)
    for name, function in entry.tasks.functions.items():
        own = of[function.code]
        task, result = own.line_bytes
        # words are packed a bit a clock, which may be slower than the wire
        operands, results = PACKED * (len(own.operands) + 1), 9 * own.response_bytes
        rate = min(hertz / max(operands, results), wire.pace(task, result))
        call = wire.call(task, result) + (operands + results) / hertz
        lines[name] = LineRate(
            task,
            result,
            round(rate),
            round(hertz / function.interval),
            round(1e6 * call, 1),
            round(1e6 * function.latency / hertz, 2),
        )
    return BoardFacts(
        board=known.name,
        part=known.part,
        name=entry.name,
        identity=entry.identity,
        bitstream=made.file.name,
        bytes=made.file.stat().st_size,
        line=named,
        clock=made.clock.mhz,
        reached={str(own.seed): own.fmax_by_clock for own in made.placements},
        seed=made.best.seed,
        usage=made.mapped.usage,
        functions=lines,
        seconds={step: round(own, 1) for step, own in {**before, **made.seconds}.items()},
    )


def _wire(known: Board, hertz: float, ip: str | None) -> tuple[HostLink, str]:
    """A board's line as a model, and in words; ``hertz``: the accelerator's clock."""
    if known.link == "udp":
        return UDP, f"udp://{ip or IP}:{PORT}"
    if known.link == "uart":
        timer = (
            f"of a call's µs {1e6 * LATENCY_TIMER:g} are a USB bridge's latency timer, or "
            f"{1e6 * DEFAULT_TIMER:g} where an FTDI's stays as Linux sets it"
        )
        return replace(UART, rate=known.baud / 10), f"{known.baud} baud; {timer}"
    fastest = hertz / SPI_CLOCKS
    pins = ", ".join(f"{name} {site}" for name, site in known.sites.items())
    spi = replace(UART, name="SPI", rate=fastest / 8, turn=0.0, source="8 bits a byte")
    return spi, f"SPI of at most {fastest / 1e6:.3g} MHz, mode 0 or 3, on {pins}"


def loader_command(known: Board, flash: bool) -> list[str]:
    """The command that sends a bitstream to a board; UsageError."""
    if not known.loader:
        raise UsageError(
            f"{known.name}: openFPGALoader does not know it; its own tool sends the .bit"
        )
    tool = find_loader()
    if tool is None:
        raise UsageError(f"no openFPGALoader to load with: {CURE}")
    return [tool, *known.loader, "--write-flash" if flash else "--write-sram"]


def _load(command: Sequence[str]) -> None:
    """Run it; UsageError with the last that it said."""
    done = run_child(command)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise UsageError(f"openFPGALoader: {said[-1]}")


def board_design(
    board: str,
    robot: str,
    output: str | Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
    force: bool = False,
    latency: float | str | None = None,
    rate: float | str | None = None,
    **choices: Unpack[DesignChoices],
) -> Path:
    """Generate an accelerator of ``robot`` for the part of a board, and return its folder.

    ``output``, ``force``, ``choices``, ``latency`` and ``rate`` are those of `generate`. Latency
    and rate are the accelerator's, without the line to the host. Without a choice of sharing,
    joints are time-multiplexed where that takes much less logic, since the line is the slower part.

    Raises BoardError for an unknown board, and all that `generate` raises. Raises UsageError where
    no accelerator reaches ``latency`` and ``rate``; the nearest one is then written.
    """
    part = find_board(board, LEDS).target.name
    own: DesignChoices = {**choices, "accelerator": True, "target": part}
    refuse_unknown(own, generate)
    asked = wishes_of(latency, rate)
    if not asked and (choice := small(front_end(robot, **own), progress)):
        own["chosen"] = (choice,)
    made = generate(robot, output, progress, force, latency=latency, rate=rate, **own)
    assert isinstance(made, Generated)  # one language
    if wanted := read_manifest(made.folder).facts.wanted:
        if not wanted.reach:
            raise UsageError(f"{wanted.line}; that is in {made.folder}")
        progress(wanted.line)
    return made.folder


def accelerator_of(
    folder: str | Path, progress: Callable[[str], None] = lambda _: None, trust: bool = False
) -> Path:
    """The folder of an accelerator; for a core, FOLDER/accelerator, which is generated from its
    design.

    ``trust`` accepts files that changed since they were generated. Raises OutputError for a folder
    that is no design or has changed, and all that `generate` raises.
    """
    place = Path(folder)
    if not checked_manifest(place, trust, progress, (DESIGN,)).is_core:
        return place
    own = place / "accelerator"
    progress(f"note: {place} is a core without tags; the accelerator of its design is in {own}")
    made = generate(str(place / DESIGN), own, progress=progress, force=True, accelerator=True)
    assert isinstance(made, Generated)  # one language
    return made.folder
