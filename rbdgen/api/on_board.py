"""An accelerator on a board: its bitstream, its line to the host, the same without a board."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from ..board.build import LEDS, Bitstream
from ..board.build import build as build_board
from ..board.catalog import LINKS, Board, BoardError, find_board
from ..board.ethernet import LONGEST, Address, UdpLine
from ..board.link import BoardLink
from ..board.loader import CURE, find_loader
from ..board.packets import IP, PORT
from ..board.self_test import Vectors
from ..board.simulation import SimulatedBoard, SimulatedUdpBoard
from ..board.uart import SerialLine
from ..design.manifest import AcceleratorManifest
from ..design.target import PLACERS, ROUTERS
from ..estimate.links import UART, UDP
from ..rtl.emit import shell_files
from ..system.stopping import run_child
from .board_vectors import board_vectors
from .errors import Mismatch
from .folder import OutputError, UsageError, checked_manifest, read_manifest, write_file
from .host_interface import Contract
from .line_header import line_files
from .output_paths import check_place
from .reports import BoardFacts, LineRate
from .results import OnBoard

Progress = Callable[[str], None]
REPORT = "board.json"
# Rules of lint that a link switches off, and why.
OFF = {
    "PINMISSING": "no line asks the registers of the shell",
    "SYNCASYNCNET": "a reset reaches the other clock at once, and ends there with an edge of it",
}
PACKED = 34  # clocks that a word of a task takes, about


def board(
    name: str,
    folder: str | Path,
    seeds: int = 1,
    frequency: float = 80.0,
    load: bool = False,
    progress: Progress = lambda _: None,
    trust: bool = False,
    link: str = LINKS[0],
    ip: str | None = None,
    placer: str = PLACERS[0],
    router: str = ROUTERS[0],
    before: Mapping[str, float] = MappingProxyType({}),
) -> OnBoard:
    """Make the bitstream of the accelerator in ``folder`` for a board, and ``load`` it.

    ``link``: "uart", or "udp" for a board with gigabit Ethernet, at ``ip``. All files are in
    FOLDER/board-NAME, or FOLDER/board-NAME-udp. Of ``seeds`` placements, aiming at ``frequency``
    MHz, the fastest is taken; its PLL then makes the fastest clock that it reaches. ``placer``,
    ``router``: of nextpnr. ``before``: seconds of the steps before, for the report. Raises
    BoardError for a board that is not known or that the design does not fit, UsageError where
    nothing can load it.
    """
    place = Path(folder)
    entry = _accelerator(place, trust, progress)
    known = find_board(name, LEDS, link)
    if entry.target != known.target.name:
        raise BoardError(
            f"{place}: was generated for {entry.target}; {name} has an {known.part}: generate it "
            f"with --target {known.target.name}"
        )
    line = _line(entry, known, known.baud, ip)
    tool = _loader() if load else None  # or it would be missing after all the work
    out = place / f"board-{name}{_suffix(known)}"
    _write(out, place, entry, known, line, ip, progress)
    core = entry.name
    sources = [place / f"{core}.il", place / f"{core}_ecp5.il", place / f"{core}_axi_words.il"]
    made = build_board(
        core,
        known,
        [*sources, out / f"{core}_link.il"],
        out,
        range(1, seeds + 1),
        frequency,
        placer,
        router,
        progress,
    )
    facts = _facts(entry, known, made, ip, before)
    write_file(out / REPORT, json.dumps(facts.to_json(), indent=2) + "\n")
    if tool is not None:
        progress(f"loading {made.file.name}")
        _load([tool, "-b", re.sub(r"-\d+f$", "", name), str(made.file)])
    return OnBoard(facts)


@contextmanager
def simulated_board(
    name: str,
    folder: str | Path,
    progress: Progress = lambda _: None,
    trust: bool = False,
    baud: int | None = None,
    long: bool = False,
    link: str = LINKS[0],
    ip: str | None = None,
) -> Iterator[SimulatedBoard | SimulatedUdpBoard]:
    """The accelerator in ``folder`` behind a pseudo-terminal, as it is on the board, PLL and pins
    apart: every bit of the line goes through the Verilated design. With the ``link`` "udp" it is
    behind a local socket, and every byte of its PHY's packets goes through. Its ``port`` is what
    `Dynamics` is given. ``baud``: another one than the board's. ``long``: compiled to run for
    minutes.
    """
    place = Path(folder)
    known = find_board(name, LEDS, link)
    baud = known.baud if baud is None else baud
    entry = _accelerator(place, trust, progress)
    out = place / f"board-{name}{_suffix(known)}-simulated"
    sources = link_sources(out, place, entry, known, baud, ip, progress)
    top, hertz = f"{entry.name}_link", known.link_clock[1]
    if known.rgmii:
        address = _address(entry, ip)
        with SimulatedUdpBoard(sources, top, hertz, address, progress, long) as udp:
            yield udp
        if udp.wrong:
            raise Mismatch(f"{place}: {udp.wrong} packets of the board's are not well-formed")
        return
    with SimulatedBoard(sources, top, hertz, baud, progress, long) as running:
        yield running


def link_sources(
    out: Path,
    place: Path,
    entry: AcceleratorManifest,
    known: Board,
    baud: int,
    ip: str | None = None,
    progress: Progress = lambda _: None,
) -> list[Path]:
    """The Verilog of all but a board's top, for simulation; the line's is written to ``out``."""
    _write(out, place, entry, known, _line(entry, known, baud, ip), ip, progress)
    core = entry.name
    return [place / f"{core}.v", place / f"{core}_axi_words.v", out / f"{core}_link.v"]


def _accelerator(place: Path, trust: bool, progress: Progress) -> AcceleratorManifest:
    if "accelerator" not in read_manifest(place):
        raise OutputError(
            f"{place}: boards take accelerators, of one function or several; make one with: rbdgen "
            "generate ROBOT --accelerator --function F"
        )
    needed = (
        "{name}.il",
        "{name}.v",
        "{name}_ecp5.il",
        "{name}_axi_words.il",
        "{name}_axi_words.v",
    )
    entry = checked_manifest(place, trust, progress, needed)
    assert isinstance(entry, AcceleratorManifest)
    return entry


def _suffix(known: Board) -> str:
    return "-udp" if known.rgmii else ""


def _address(entry: AcceleratorManifest, ip: str | None) -> Address:
    """Its MAC is one of those that anybody may give, made of the design's identity; UsageError."""
    try:
        return Address(ip or IP, PORT, bytes([2, *bytes.fromhex(entry.identity)[:5]]))
    except ValueError as error:
        raise UsageError(f"ip: {error}") from None


def _line(
    entry: AcceleratorManifest, known: Board, baud: int, ip: str | None
) -> SerialLine | UdpLine:
    if not known.rgmii:
        return SerialLine(known.clock_hz, baud)
    layouts = Contract.of(entry.accelerator).layouts
    longest = max(2 * max(own.task_bytes, own.response_bytes) + 12 for own in layouts.values())
    if longest > LONGEST:
        raise BoardError(
            f"{entry.name}: a frame may take {longest} bytes, a datagram has {LONGEST}; --link uart"
        )
    return UdpLine(_address(entry, ip))


def _headers(entry: AcceleratorManifest, known: Board, ip: str | None) -> dict[str, str]:
    """The headers for hosts in C, by file name."""
    return line_files(entry, known.baud, "..", _address(entry, ip) if known.rgmii else None)


def _link(
    entry: AcceleratorManifest, line: SerialLine | UdpLine, vectors: Vectors
) -> dict[str, str]:
    """The files of the link between the shell of words and the line."""
    of = Contract.of(entry.accelerator).layouts
    link = BoardLink(f"{entry.name}_axi_words", of, entry.identity, line, vectors)
    return shell_files(link, f"{entry.name}_link", OFF)


def _write(
    out: Path,
    place: Path,
    entry: AcceleratorManifest,
    known: Board,
    line: SerialLine | UdpLine,
    ip: str | None,
    progress: Progress,
) -> None:
    """Write the files around the accelerator in ``place`` to ``out``: line, hosts' headers."""
    check_place(out / REPORT)
    out.mkdir(exist_ok=True)
    vectors = board_vectors(place, entry, progress)
    for file, text in (_link(entry, line, vectors) | _headers(entry, known, ip)).items():
        write_file(out / file, text)


def _facts(
    entry: AcceleratorManifest,
    known: Board,
    made: Bitstream,
    ip: str | None,
    before: Mapping[str, float],
) -> BoardFacts:
    contract = Contract.of(entry.accelerator)
    of = contract.layouts
    lines = {}
    for name, function in contract.functions.items():
        own = of[function.code]
        task, result = own.line_bytes
        rate = replace(UART, rate=known.baud / 10).pace(task, result)
        if known.rgmii:  # the words are packed a bit a clock, which is slower than the wire
            clocks = max(PACKED * (len(own.operands) + 1), 9 * own.response_bytes)
            rate = min(made.clock.mhz * 1e6 / clocks, UDP.pace(task, result))
        core = made.clock.mhz * 1e6 / entry.accelerator.functions[name].interval
        lines[name] = LineRate(task, result, round(rate), round(core))
    return BoardFacts(
        board=known.name,
        part=known.part,
        name=entry.name,
        identity=entry.identity,
        bitstream=made.file.name,
        bytes=made.file.stat().st_size,
        line=f"udp://{ip or IP}:{PORT}" if known.rgmii else f"{known.baud} baud",
        clock=made.clock.mhz,
        reached={str(own.seed): own.fmax_by_clock for own in made.placements},
        seed=made.best.seed,
        usage=made.mapped.usage,
        functions=lines,
        seconds={step: round(own, 1) for step, own in {**before, **made.seconds}.items()},
    )


def _loader() -> str:
    """The program that sends a bitstream to a board; UsageError."""
    tool = find_loader()
    if tool is None:
        raise UsageError(f"no openFPGALoader to load with: {CURE}")
    return tool


def _load(command: Sequence[str]) -> None:
    """Run it; UsageError with the last that it said."""
    done = run_child(command)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise UsageError(f"openFPGALoader: {said[-1]}")
