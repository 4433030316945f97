"""What a design costs and how fast it is: as data, as JSON, as a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..design.target import PLACERS, ROUTERS, Target, find_target
from ..system.files import write
from .nextpnr import Placement, place_and_route
from .pins import add_pins
from .tool import Progress
from .yosys import Cells, synth_ecp5

# LUT4 sites that one cell takes; the write port of a LUT-RAM takes two more than its storage.
LUT_SITES = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}


@dataclass(frozen=True)
class Report:
    """A design mapped to a part and, where ``placements`` says so, placed and routed.

    ``cells`` are the design's own, from Yosys; ``pins`` those put around it for placement, which
    are not among them but are in each placement's ``used``.
    """

    top: str
    target: Target
    cells: Cells
    pins: Cells | None = None
    placements: tuple[Placement, ...] = ()

    @property
    def usage(self) -> dict[str, tuple[int, int]]:
        """(used, there are) for each kind of site."""
        count = self.cells.count
        sites = sum(each * count.get(cell, 0) for cell, each in LUT_SITES.items())
        return {
            "LUT sites": (sites, self.target.luts),
            "flip-flops": (self.cells["TRELLIS_FF"], self.target.luts),
            "LUT-RAMs": (self.cells["TRELLIS_DPR16X4"], self.target.lut_rams),
            "multipliers": (self.cells["MULT18X18D"], self.target.multipliers),
            "block RAMs": (self.cells["DP16KD"], self.target.block_rams),
        }

    @property
    def fits(self) -> bool:
        """Whether the part has as many sites of every kind."""
        return all(used <= there for used, there in self.usage.values())

    def best(self, speed: int) -> Placement | None:
        """The fastest placement of a speed grade."""
        tried = [p for p in self.placements if p.speed == speed]
        return max(tried, key=lambda p: p.fmax, default=None)

    def to_json(self) -> dict[str, Any]:
        """Everything, in types that ``json`` writes."""
        return {
            "top": self.top,
            "target": self.target.name,
            "part": self.target.part,
            "cells": self.cells.count,
            "usage": {
                kind: {"used": used, "available": there, "percent": _percent(used, there)}
                for kind, (used, there) in self.usage.items()
            },
            "fits": self.fits,
            "yosys_seconds": round(self.cells.seconds, 1),
            "pins_cells": self.pins.count if self.pins else {},
            "placements": [
                asdict(p) | {"critical_summary": p.critical_summary} for p in self.placements
            ],
        }

    def __str__(self) -> str:
        count = self.cells.count
        lines = [f"{self.top} on {self.target.part} ({self.target.name})", ""]
        lines += [f"  {cell:<18}{count[cell]:>8}" for cell in sorted(count)]
        lines.append("")
        lines += [
            f"  {kind:<18}{used:>8} of {there:>6}  {_percent(used, there):>5.1f} %"
            for kind, (used, there) in self.usage.items()
        ]
        if self.placements:
            lines.append("")
        for speed in sorted({p.speed for p in self.placements}):
            tried = [p for p in self.placements if p.speed == speed]
            best = max(tried, key=lambda p: p.fmax)
            every = ", ".join(f"{p.fmax:.1f} (seed {p.seed})" for p in tried)
            lines += [f"  speed {speed}: {every} MHz", f"    slowest: {best.critical_summary}"]
        if self.pins:
            around = ", ".join(f"{n} {cell}" for cell, n in sorted(self.pins.count.items()))
            lines.append(f"  placed with {around} around it, not counted above")
        return "\n".join(lines)


def _percent(used: int, there: int) -> float:
    return round(100 * used / there, 1)


def synthesize(
    sources: Sequence[Path],
    top: str,
    target: Target | str,
    out_dir: Path,
    *,
    speeds: Sequence[int] = (),
    seeds: Sequence[int] = (1,),
    freq: float = 150.0,
    clock: str = "clk",
    progress: Progress | None = None,
    placer: str = PLACERS[0],
    router: str = ROUTERS[0],
    floorplanned: bool = True,
) -> Report:
    """Map a design to ECP5 and place it once for each speed grade and seed.

    Writes ``<top>.json`` (the netlist), ``<top>-pins.json`` (what is placed), ``report.json`` and
    ``report.txt`` to ``out_dir``.

    Args:
        sources: as for :func:`rbdgen.synthesize.yosys.synth_ecp5`.
        speeds: grades to place for; none: only map and count.
        seeds: of the placements.
        freq: MHz aimed at.
        placer, router, floorplanned: as for :func:`rbdgen.synthesize.nextpnr.place_and_route`.

    Raises:
        SynthesisError: a missing tool, or what a tool said.
    """
    part = find_target(target) if isinstance(target, str) else target
    netlist, pinned = out_dir / f"{top}.json", out_dir / f"{top}-pins.json"
    report = Report(top, part, synth_ecp5(sources, top, netlist, progress=progress))
    if speeds:
        pins = add_pins(netlist, top, pinned, clock=clock)
        placements: list[Placement] = []
        for speed in speeds:
            for seed in seeds:
                placement = place_and_route(
                    pinned,
                    part,
                    speed=speed,
                    seed=seed,
                    freq=freq,
                    placer=placer,
                    router=router,
                    floorplanned=floorplanned,
                    progress=progress,
                )
                placements.append(placement)
                if progress:
                    progress(f"speed {speed}, seed {seed}: {placement.fmax:.1f} MHz")
        report = Report(top, part, report.cells, pins, tuple(placements))
    write(out_dir / "report.json", (json.dumps(report.to_json(), indent=2) + "\n").encode())
    write(out_dir / "report.txt", f"{report}\n".encode())
    return report
