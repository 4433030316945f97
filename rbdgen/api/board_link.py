"""An accelerator's link to its host over a board's line: gateware, C for hosts, simulation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..design.arrays import takes
from ..design.facts import FunctionFacts
from ..design.functions import GIVES, ROLLOUTS
from ..design.manifest import HardwareManifest
from ..graph.word import SHAPES, V, kind_of
from ..robot.model import JointKind
from ..robot.variations import PAYLOAD, SIZE
from ..shell.build import LEDS
from ..shell.catalog import Board, BoardError, find_board
from ..shell.emit import Off, shell_files
from ..shell.ethernet import LONGEST, Address, UdpLine
from ..shell.lines import SPI_CLOCKS, SerialLine, SpiLine
from ..shell.link import BoardLink, Line
from ..shell.packets import CRC_BYTES, IP, PORT, SELF_TEST, TESTED, PacketWidths, crc_of
from ..shell.self_test import Vectors
from ..shell.simulation import SimulatedBoard, SimulatedSpiBoard, SimulatedUdpBoard
from ..system.quoting import Progress
from ..system.templates import render
from .c_header import line_layouts
from .filed_design import filed_design
from .folder import UsageError, checked_accelerator, write_file
from .integer_model import integer_results
from .output_paths import check_place
from .results import Mismatch
from .vectors import sampled_tasks

REPORT = "board.json"
# Rules of lint that a link switches off, and why.
OFF = (
    Off("no line asks the registers of the shell", "PINMISSING", "unconnected-output-port"),
    Off(
        "a reset reaches the other clock at once, and ends there with an edge of it", "SYNCASYNCNET"
    ),
)
PACKED = 34  # clocks that a word of a task takes, about
TASKS = 32  # of all functions together, about; half of them of any words
SEED = 4


@contextmanager
def simulated_board(
    name: str,
    folder: str | Path,
    progress: Progress = lambda _: None,
    trust: bool = False,
    baud: int | None = None,
    long: bool = False,
    link: str | None = None,
    ip: str | None = None,
    period: int = SPI_CLOCKS,
) -> Iterator[SimulatedBoard | SimulatedUdpBoard | SimulatedSpiBoard]:
    """The accelerator in ``folder`` as it is on the board, Verilated, behind a pseudo-terminal.

    All but PLL and pins is simulated: every bit of the line goes through the design. With the
    ``link`` "udp" it is behind a local socket, and every byte of its PHY's packets goes through.
    With "spi" a controller drives it, whose clock period is ``period`` clocks of the accelerator.
    `Dynamics` takes the attribute ``port``. ``baud`` replaces the board's rate. ``long`` compiles
    for speed, which pays off in runs of minutes.
    """
    place = Path(folder)
    known = find_board(name, LEDS, link)
    baud = known.baud if baud is None else baud
    entry = accelerator_in(place, trust, progress)
    out = place / f"board-{name}{suffix_of(known)}-simulated"
    sources = link_sources(out, place, entry, known, baud, ip, progress)
    top, hertz = f"{entry.name}_link", known.link_clock[1]
    if known.link == "spi":
        with SimulatedSpiBoard(sources, top, period, progress, long) as spi:
            yield spi
        return
    if known.link == "udp":
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
    entry: HardwareManifest,
    known: Board,
    baud: int,
    ip: str | None = None,
    progress: Progress = lambda _: None,
) -> list[Path]:
    """The Verilog of all but a board's top, for simulation; the line's is written to ``out``."""
    write_link(out, place, entry, known, line_of(entry, known, baud, ip), ip, progress)
    core = entry.name
    return [place / f"{core}.v", place / f"{core}_axi_words.v", out / f"{core}_link.v"]


def accelerator_in(place: Path, trust: bool, progress: Progress) -> HardwareManifest:
    """The manifest of an accelerator with all that a board takes."""
    needed = ("{name}.il", "{name}.v", "{name}_ecp5.il", "{name}_axi_words.il")
    files = (*needed, "{name}_axi_words.v")
    return checked_accelerator(place, trust, progress, files, "boards take")


def suffix_of(known: Board) -> str:
    return "" if known.link == "uart" else f"-{known.link}"


def _address(entry: HardwareManifest, ip: str | None) -> Address:
    """Its MAC is one of those that anybody may give, made of the design's identity; UsageError."""
    try:
        return Address(ip or IP, PORT, bytes([2, *bytes.fromhex(entry.identity)[:5]]))
    except ValueError as error:
        raise UsageError(f"ip: {error}") from None


def line_of(entry: HardwareManifest, known: Board, baud: int, ip: str | None) -> Line:
    """The hardware of a board's line; BoardError where no datagram has room for a frame."""
    if known.link == "uart":
        return SerialLine(known.clock_hz, baud)
    layouts = {**line_layouts(entry.tasks), SELF_TEST: TESTED}
    longest = max(2 * max(own.task_bytes, own.response_bytes) + 12 for own in layouts.values())
    if known.link == "spi":
        return SpiLine(longest)
    if longest > LONGEST:
        raise BoardError(
            f"{entry.name}: a frame may take {longest} bytes, a datagram has {LONGEST}; --link uart"
        )
    return UdpLine(_address(entry, ip))


def _link(entry: HardwareManifest, line: Line, vectors: Vectors) -> dict[str, str]:
    """The files of the link between the shell of words and the line."""
    of = line_layouts(entry.tasks)
    link = BoardLink(f"{entry.name}_axi_words", of, entry.identity, line, vectors)
    return shell_files(link, f"{entry.name}_link", OFF)


def write_link(
    out: Path,
    place: Path,
    entry: HardwareManifest,
    known: Board,
    line: Line,
    ip: str | None,
    progress: Progress,
) -> None:
    """Write the files around the accelerator in ``place`` to ``out``: line, hosts' headers."""
    check_place(out / REPORT)
    out.mkdir(exist_ok=True)
    vectors = board_vectors(place, entry, progress)
    headers = line_files(entry, known, "..", _address(entry, ip) if known.link == "udp" else None)
    for file, text in (_link(entry, line, vectors) | headers).items():
        write_file(out / file, text)


def line_files(
    entry: HardwareManifest, known: Board, folder: str, address: Address | None = None
) -> dict[str, str]:
    """``NAME_line.h``, and ``NAME_example.c``: for a serial port of Linux, for an ``address``, or
    for a microcontroller on SPI.

    ``folder``: where ``NAME.h`` is, as the compiler is told. There is no example of a design that
    has nothing but rollouts, or whose base's motion is given.
    """
    functions, layouts = entry.tasks.functions, line_layouts(entry.tasks)
    payload = max(max(own.task_bytes, own.response_bytes) for own in layouts.values())
    name = entry.name
    longest = max(layouts.values(), key=lambda own: len(own.operands))
    files = {
        f"{name}_line.h": render(
            "board/line.h.jinja",
            name=name,
            NAME=name.upper(),
            spi=known.link == "spi",
            slowest=SPI_CLOCKS,
            answer_bytes=max(_answer_bytes(own, layouts[own.code]) for own in functions.values()),
            baud=known.baud,
            payload_bytes=payload,
            frame_bytes=2 * (payload + CRC_BYTES) + 2,
            operands=longest.operands,
            crc=crc_of(entry.identity) ^ 0xFFFFFFFF,
            functions=[
                {
                    "name": function,
                    "code": own.code,
                    "operands": len(own.inputs),
                    "results": layouts[own.code].results,
                }
                for function, own in functions.items()
            ],
        )
    }
    single = [function for function in functions if function not in ROLLOUTS]
    if single and entry.root != "given":
        files[f"{name}_example.c"] = _example(entry, single[0], known, folder, address)
    return files


def _answer_bytes(function: FunctionFacts, layout: PacketWidths) -> int:
    """An estimate of the bytes that SPI at its fastest clock transfers between the end of a task
    and that of its response."""
    words = len(layout.operands) + len(layout.results)
    clocks = PACKED * words + function.latency
    return layout.line_bytes[1] + clocks // (8 * SPI_CLOCKS) + 4


def _example(
    entry: HardwareManifest, function: str, known: Board, folder: str, address: Address | None
) -> str:
    upper = entry.name.upper()
    words = {kind_of(word.name) for word in entry.tasks.words}
    taken = list(takes(function, False))
    taken[1:1] = [kind for kind in ("sines", "cosines") if kind[:3] in words]
    taken += ["f_ext"] * ("f_ext" in words and len(taken) > 1)
    taken += [PAYLOAD] * (PAYLOAD in words)
    sizes = {"q": f"{upper}_NQ", "f_ext": f"{upper}_BODIES * 6", "Minv": f"{upper}_NV * {upper}_NV"}
    sizes[PAYLOAD] = str(SIZE)
    gives = GIVES[function]
    sizes |= {name: f"{upper}_NV * {upper}_NV" for name in gives if SHAPES.get(name) != (V,)}
    arrays = [*taken, *(name for name in gives if name not in taken)]
    sized = [(array, sizes.get(array, f"{upper}_NV")) for array in arrays]
    return render(
        "board/example_spi.c.jinja" if known.link == "spi" else "board/example.c.jinja",
        parameters=", ".join(
            f"{'' if array in gives else 'const '}{upper}_REAL {array}[{size}]"
            for array, size in sized
        ),
        name=entry.name,
        NAME=upper,
        folder=folder,
        baud=known.baud,
        ip=address.ip if address else None,
        port=address.port if address else None,
        floating=entry.base == JointKind.FLOATING.value,
        first={
            "name": function,
            "takes": taken,
            "gives": gives,
            "arrays": sized,
        },
    )


def board_vectors(
    place: Path, entry: HardwareManifest, progress: Progress = lambda _: None
) -> Vectors:
    """Test vectors of the accelerator in a folder, one function after another."""
    made = filed_design(place, entry, progress)
    functions = entry.tasks.functions
    each = max(TASKS // len(functions) // 2, 1)
    tasks: list[list[int]] = []
    responses: list[list[int]] = []
    for function, words in sampled_tasks(made, each, SEED).items():
        code = functions[function].code
        found, flags = integer_results(made, words, function)
        given, right = (np.stack(list(own.values()), axis=1).tolist() for own in (words, found))
        for operands, results, flag in zip(given, right, flags, strict=True):
            header = code | len(tasks) << 16
            tasks.append([header, *operands])
            responses.append([header | int(flag[0]) << 8, *results])
    return Vectors(tasks, responses)
