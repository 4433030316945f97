"""The README's first command: a robot arm from its URDF to verified hardware, in minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.api.simulation import Simulation
from rbdgen.api.synthesis import Synthesis
from rbdgen.design.coordinates import CoordinateError, brief
from rbdgen.draw.tables import table
from rbdgen.graph.accuracy import SCALES
from rbdgen.system.quoting import Progress

ARM, SMALL, SMALL_PART = "iiwa14", "pendulum", "ecp5-25f"
STATES = 2000


def demo(place: Path, progress: Progress) -> dict[str, Any]:
    """iiwa 14 simulated and mapped; a pendulum placed and routed as well; then the table.

    Prints them as they come; returns robot → manifest, simulation, synthesis.
    """
    api.check_place(place / ARM / "manifest.json")
    print(f"== {ARM}: canonical form, graph, number formats, schedule\n")
    facts = api.info(ARM)
    print(facts.as_text() + "\n")
    arm = run(ARM, place / ARM, None, False, progress)
    small = run(SMALL, place / SMALL, SMALL_PART, True, progress)
    print("\n" + table(HEAD, [row(*arm), row(*small)]))
    print(
        f"\n{ARM} is placed and routed by make bench: the part is large, it takes a while.\n"
        f"Look at {place / ARM / 'pipeline.svg'} and {place / ARM / 'manifest.json'}."
    )
    kinds = ("manifest", "simulation", "synthesis")
    return {
        robot: dict(zip(kinds, own, strict=True)) for robot, own in ((ARM, arm), (SMALL, small))
    }


def run(
    robot: str, folder: Path, target: str | None, place_and_route: bool, progress: Progress
) -> tuple[dict[str, Any], Simulation, Synthesis]:
    """(manifest, simulation, synthesis) of a robot's design, made in ``folder``."""
    print(f"== {robot}: Verilog, simulation of {STATES} random states, FPGA cells\n", flush=True)
    api.generate(robot, folder, progress, target=target)
    simulation = api.simulate(folder, STATES, progress=progress)
    print("\n" + simulation.as_text() + "\n", flush=True)
    synthesis = api.synthesize(folder, place_and_route=place_and_route, progress=progress)
    print("\n" + synthesis["text"] + "\n", flush=True)
    return api.read_manifest(folder), simulation, synthesis


HEAD = (
    "design",
    "part",
    "latency",
    "II",
    "Fmax MHz",
    "multipliers",
    "LUT4",
    "carry",
    "FF",
    "LUT-RAM",
    "block RAM",
    f"worst, {SCALES[0].name} | {SCALES[1].name}",
    "M/s",
    "M/s, 32-bit link",
)


def row(manifest: dict[str, Any], simulation: Simulation, synthesis: Synthesis) -> list[Any]:
    """One line of the table; a dash where nothing was placed."""
    cells = synthesis["cells"]
    placed = [p["fmax"] for p in synthesis["placements"]]
    fmax: Any = round(max(placed), 1) if placed else "-"
    clocks = manifest["initiation_interval"], manifest["axi"]["words"]["clocks_per_task"]
    rates = [round(max(placed) / c, 1) if placed else "-" for c in clocks]
    return [
        manifest["name"],
        synthesis["target"],
        simulation["latency"],
        simulation["initiation_interval"],
        fmax,
        cells.get("MULT18X18D", 0),
        cells.get("LUT4", 0),
        cells.get("CCU2C", 0),
        cells.get("TRELLIS_FF", 0),
        cells.get("TRELLIS_DPR16X4", 0),
        cells.get("DP16KD", 0),
        brief(map(CoordinateError.from_json, simulation["coordinates"])),
        *rates,
    ]
