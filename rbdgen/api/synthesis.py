"""Map a generated design to FPGA cells; place and route it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ..design.target import PLACERS, ROUTERS, TARGETS
from ..draw.tables import mapped_text
from ..synthesize.report import Mapped
from ..synthesize.report import synthesize as synthesize_ecp5
from ..synthesize.yosys import synth_xilinx
from .checked import checked_manifest
from .folder import UsageError, write_file
from .kept import kept
from .places import check_place
from .results import Synthesis

Progress = Callable[[str], None]
XILINX = ("xcup", "xc7")  # families that Yosys maps to; no open place and route
MOST_RUNS = 4  # of Yosys at a time: each may take 4 GB


def synthesize(
    folder: str | Path,
    target: str | None = None,
    place_and_route: bool = False,
    speeds: Sequence[int] = (6,),
    seeds: Sequence[int] = (1,),
    frequency: float = 150.0,
    progress: Progress = lambda _: None,
    placer: str = PLACERS[0],
    router: str = ROUTERS[0],
    floorplanned: bool = True,
    trust: bool = False,
) -> Synthesis:
    """Cells of the design in ``folder`` on ``target`` (the design's own unless given).

    With ``place_and_route`` also the clock that nextpnr reaches, for each speed grade and seed.
    Reports are written to FOLDER/synthesis-TARGET/report.json and report.txt. On xcup and xc7 a
    mapping that was stopped goes on where it was: its parts are in FOLDER/synthesis-TARGET/parts.
    ``trust``: take the folder's files as they are; else OutputError for one that changed since.
    """
    place = Path(folder)
    entry = checked_manifest(place, trust, progress, ("{name}.il", "{name}.v"))
    name = entry.name
    target = target or entry.target
    if place_and_route and target in XILINX:
        placed = ", ".join(name for name in TARGETS if name not in XILINX)
        raise UsageError(
            f"target: nothing places {target}, it is only mapped; leave out --place-and-route, or "
            f"choose one of {placed}"
        )
    out = place / f"synthesis-{target}"
    check_place(out / "report.json")
    if target in XILINX:
        jobs = min(os.cpu_count() or 1, MOST_RUNS)
        cells = synth_xilinx(
            [place / f"{name}.il", place / f"{name}.v"],
            name,
            target,
            jobs=jobs,
            progress=progress,
            keep=partial(kept, out / "parts", "part", say=progress),
        )
        report = Mapped(name, target, cells.count, cells.modules, None)
        write_file(out / "report.json", json.dumps(report.to_json(), indent=2) + "\n")
        write_file(out / "report.txt", mapped_text(report) + "\n")
        return Synthesis(report)
    out.mkdir(parents=True, exist_ok=True)
    result = synthesize_ecp5(
        [place / f"{name}.il", place / f"{name}_ecp5.il"],
        name,
        target,
        out,
        speeds=speeds if place_and_route else (),
        seeds=seeds,
        freq=frequency,
        progress=progress,
        placer=placer,
        router=router,
        floorplanned=floorplanned,
    )
    return Synthesis(result)
