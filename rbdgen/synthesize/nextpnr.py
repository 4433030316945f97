"""nextpnr: a mapped netlist placed and routed on an ECP5."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..design.target import PLACERS, ROUTERS, SPEEDS, Target
from ..system.files import write
from ..system.records import Record
from .floor import Floor, floor_of
from .floorplan import floorplan
from .tool import NEXTPNR, Progress, SynthesisError, run_tool
from .yosys import write_json

PLACED = "placed.json"
TIMING_WEIGHT = "40"  # in placement, against wire length: the default leaves long paths long
STEPS = r"Info: +(Packing|Promoting|at iteration|Routing\.\.|Max frequency|iter=|\d+0000 \|)"


@dataclass(frozen=True)
class Step(Record):
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
    critical_path: tuple[Step, ...]
    seconds: float
    floor: Floor | None = None

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
    """Place and route a flat ECP5 netlist; a missed ``freq`` is a result and no error.

    Args:
        netlist: JSON of Yosys; its ports become pins that nextpnr chooses.
        speed: grade 6, 7 or 8.
        seed: of the placement. The same seed gives the same result.
        freq: MHz that placement and routing aim at.
        placer: of ``PLACERS``; the static one makes wires a quarter shorter on large designs that
            share multipliers.
        router: of ``ROUTERS``; the second looks at all nets at once, which full parts need.
        floorplanned: multipliers and block RAMs get their sites before, see
            :mod:`rbdgen.synthesize.floorplan`, not from the placer.
        pins: sites of the ports and frequencies of clocks, as LPF; without, nextpnr chooses pins.
        out_config: the placed design as text, for ecppack.

    Raises:
        SynthesisError: it does not fit, or whatever else nextpnr said.
    """
    if speed not in SPEEDS:
        raise ValueError(f"speed grade {speed}: 6, 7 and 8 exist")
    with tempfile.TemporaryDirectory(prefix="rbdgen-nextpnr-") as name:
        folder = Path(name)
        document = json.loads(netlist.read_text())
        for module in document["modules"].values():
            if floorplanned and "top" in module["attributes"]:
                blocks = floorplan(module, target, seed)
                if progress:
                    progress(f"{blocks} multipliers and block RAMs have their sites")
        write_json(document, folder / "netlist.json")
        arguments = [target.flag, "--package", target.package, "--speed", str(speed)]
        arguments += ["--seed", str(seed), "--freq", str(freq), "--timing-allow-fail"]
        arguments += ["--placer", placer, "--router", router]
        arguments += ["--json", "netlist.json", "--report", "report.json", "--write", PLACED]
        arguments += ["--placer-heap-timingweight", TIMING_WEIGHT]
        if pins:
            write(folder / "pins.lpf", pins.read_bytes())
            arguments += ["--lpf", "pins.lpf"]
        else:
            arguments += ["--lpf-allow-unconstrained"]
        arguments += ["--textcfg", "design.config"] if out_config else []
        seconds = run_tool(NEXTPNR, arguments, folder, interesting=STEPS, progress=progress)
        report = json.loads((folder / "report.json").read_text())
        floor = floor_of(json.loads((folder / PLACED).read_text()))
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
    )


def _critical_path(report: Mapping[str, Any], clock: str) -> tuple[Step, ...]:
    """The path that limits ``clock``."""
    for path in report["critical_paths"]:
        if clock in path["from"] and clock in path["to"]:
            return tuple(
                Step(step["type"], step["delay"], step["to"]["cell"]) for step in path["path"]
            )
    return ()
