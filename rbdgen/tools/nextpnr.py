"""nextpnr: a mapped netlist placed and routed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..design.target import PLACERS, ROUTERS, Target
from ..system.files import write
from ..system.quoting import Progress
from ..system.records import Record
from .cells import FAMILIES
from .floorplan import DIES, Floor, floor_of, floorplan
from .toolchain import SynthesisError, run_tool
from .yosys import write_json

PLACED = "placed.json"
TIMING_WEIGHT = "40"  # in placement, against wire length: the default leaves long paths long
HOLD = "Warning: Hold/min time violation"
# nextpnr chooses no sites of pins there; Gowin's are of the Tang Primer 20K's package.
GOWIN_PINS = (("clk", "H11"), ("feed", "T10"), ("seen", "L14"))
NEXUS_PINS = (("clk", "L5"), ("feed", "G19"), ("seen", "E17"))
STEPS = r"Info: +(Packing|Promoting|at iteration|Routing\.\.|Max frequency|iter=|\d+0000 \|)"


@dataclass(frozen=True)
class PathLeg(Record):
    """One leg of a path: through a cell (``logic``, ``setup``, ``clk-to-q``) or along a net."""

    kind: str
    delay: float  # ns
    cell: str


@dataclass(frozen=True)
class Placement(Record):
    """A placed and routed design."""

    LAST = ("critical_summary",)

    target: str
    speed: int
    seed: int
    fmax: float  # MHz, of the slowest clock
    fmax_by_clock: Mapping[str, float]  # MHz
    used: Mapping[str, int]  # sites, by nextpnr's name for the type
    available: Mapping[str, int]
    critical_path: tuple[PathLeg, ...]
    seconds: float
    floor: Floor | None = None
    hold_warnings: int = 0  # paths of which nextpnr says that they are too short

    @property
    def critical_summary(self) -> str:
        """The slowest path in one line: ends, logic and routing delay."""
        path = self.critical_path
        if not path:
            return "no path between registers"
        routing = sum(step.delay for step in path if step.kind == "routing")
        total = sum(step.delay for step in path)
        return (
            f"{path[0].cell} to {path[-1].cell}: {total:.2f} ns, of it {routing:.2f} ns routing, "
            f"{sum(step.kind == 'logic' for step in path)} cells"
        )


def place_and_route(
    netlist: Path,
    target: Target,
    *,
    speed: int = 6,
    seed: int = 1,
    freq: float = 150.0,
    placer: str = PLACERS[0],
    router: str = ROUTERS[0],
    floorplanned: bool = True,
    pins: Path | None = None,
    out_config: Path | None = None,
    progress: Progress | None = None,
) -> Placement:
    """Place and route a flat netlist; a missed ``freq`` is a result and no error.

    Args:
        netlist: JSON of Yosys; its ports become pins that nextpnr chooses.
        speed: a grade that the part is made in.
        seed: of the placement. The same seed gives the same result.
        freq: MHz that placement and routing aim at.
        placer: of ``PLACERS``; the static one makes wires a quarter shorter on large designs that
            share multipliers.
        router: of ``ROUTERS``; the second looks at all nets at once, which full parts need.
        floorplanned: multipliers and block RAMs get their sites before, see
            :mod:`rbdgen.tools.floorplan`, not from the placer; on dies that this knows.
        pins: of an ECP5: sites of the ports and frequencies of clocks, as LPF; without, nextpnr
            chooses pins. Of others `add_pins` has put three, which lie anywhere.
        out_config: of an ECP5: the placed design as text, for ecppack.

    Raises:
        SynthesisError: it does not fit, or whatever else nextpnr said.
    """
    if speed not in target.speeds:
        raise ValueError(f"speed grade {speed}: {target.part} is made in {made_in(target)}")
    family = FAMILIES[target.family]
    with tempfile.TemporaryDirectory(prefix="rbdgen-nextpnr-") as name:
        folder = Path(name)
        document = json.loads(netlist.read_text("utf-8"))
        if floorplanned and target.flag not in DIES and progress:
            progress(f"no floor plan of {target.part}: nextpnr chooses all sites")
        for module in document["modules"].values():
            if floorplanned and target.flag in DIES and "top" in module["attributes"]:
                blocks = floorplan(module, target, seed)
                if progress:
                    progress(f"{blocks} multipliers and block RAMs have their sites")
        write_json(document, folder / "netlist.json")
        arguments = _part(target, speed, folder)
        arguments += ["--seed", str(seed), "--freq", str(freq), "--timing-allow-fail"]
        arguments += ["--placer", placer, "--router", router]
        arguments += ["--json", "netlist.json", "--report", "report.json", "--write", PLACED]
        arguments += ["--placer-heap-timingweight", TIMING_WEIGHT]
        # without this the second router takes some nets half across the part and back
        arguments += ["--tmg-ripup"] if router == ROUTERS[1] else []
        if pins:
            write(folder / "pins.lpf", pins.read_bytes())
            arguments += ["--lpf", "pins.lpf"]
        elif target.family == "ecp5":
            arguments += ["--lpf-allow-unconstrained"]
        arguments += ["--textcfg", "design.config"] if out_config else []
        seconds = run_tool(family.nextpnr, arguments, folder, interesting=STEPS, progress=progress)
        report = json.loads((folder / "report.json").read_text("utf-8"))
        floor = floor_of(json.loads((folder / PLACED).read_text("utf-8")))
        late = (folder / f"{family.nextpnr.package}.log").read_text("utf-8").count(HOLD)
        if out_config:
            write(out_config, (folder / "design.config").read_bytes())
    clocks = {clock: entry["achieved"] for clock, entry in report["fmax"].items()}
    if not clocks:
        raise SynthesisError(f"{netlist.name} has no path between registers")
    return Placement(
        target.name,
        speed,
        seed,
        min(clocks.values()),
        clocks,
        {site: entry["used"] for site, entry in report["utilization"].items()},
        {site: entry["available"] for site, entry in report["utilization"].items()},
        _critical_path(report, min(clocks, key=lambda clock: clocks[clock])),
        seconds,
        floor,
        late,
    )


def made_in(target: Target) -> str:
    """The speed grades of a part: ``speed 8 alone``."""
    first, *others = target.speeds
    return f"speeds {', '.join(map(str, target.speeds))}" if others else f"speed {first} alone"


def _part(target: Target, speed: int, folder: Path) -> list[str]:
    """nextpnr's words for a part."""
    if target.family == "ecp5":
        return [target.flag, "--package", target.package, "--speed", str(speed)]
    if target.family == "nexus":
        sites = [f"ldc_set_location -site {{{s}}} [get_ports {p}]\n" for p, s in NEXUS_PINS]
        (folder / "pins.pdc").write_text("".join(sites), "utf-8")
        return ["--device", f"{target.flag}-{speed}{target.package}", "--pdc", "pins.pdc"]
    (folder / "pins.cst").write_text(
        "".join(f'IO_LOC "{p}" {s};\n' for p, s in GOWIN_PINS), "utf-8"
    )
    device = f"GW2A-LV18{target.package}C{speed}/I{speed - 1}"
    return ["--device", device, "--vopt", f"family={target.flag}", "--vopt", "cst=pins.cst"]


def _critical_path(report: Mapping[str, Any], clock: str) -> tuple[PathLeg, ...]:
    """The path that limits ``clock``."""
    for path in report["critical_paths"]:
        if clock in path["from"] and clock in path["to"]:
            return tuple(
                PathLeg(step["type"], step["delay"], step["to"]["cell"]) for step in path["path"]
            )
    return ()
