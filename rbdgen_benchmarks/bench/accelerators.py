"""All functions on one accelerator: cycles as simulated, cells as mapped, beside Dadu-RBD."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.api.synthesis import yosys_version
from rbdgen.design.coordinates import CoordinateError, brief
from rbdgen.design.functions import WHOLE
from rbdgen.design.target import counted
from rbdgen.draw.tables import table
from rbdgen.graph.accuracy import SCALES
from rbdgen.system.cache import cached_result
from rbdgen.system.quoting import Progress
from rbdgen.tools.toolchain import SynthesisError

from ..compare.peers import PEERS
from .measurement import measurement

STATES = 1000
WORST = f"worst, {SCALES[0].name} | {SCALES[1].name}"
# Name: robot, choices. All seven functions.
DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    "iiwa14": ("iiwa14_fast", {"ii": 8}),
    "hyq-floating": ("hyq", {"base": "floating", "ii": 16}),
    "humanoid-floating": ("humanoid", {"base": "floating", "base_link": "best", "ii": 64}),
}
PUBLISHED = "difd"  # the function that Dadu-RBD's cycles are known of, for iiwa 14


@measurement("accelerators", "hours")
def accelerators(place: Path, progress: Progress) -> Any:
    """Accelerators of three robots: cycles by function, batches of 256, mixed traffic, cells."""
    results = {}
    for name, (robot, choices) in DESIGNS.items():
        progress(f"{name}: {robot}, {choices}")
        results[name] = _measured(place / name, robot, choices, place / "kept", progress)
        print(f"\n{as_text(name, results[name])}", flush=True)
    iiwa = results["iiwa14"]
    if iiwa["cells"]:
        own = iiwa["simulation"]["functions"][PUBLISHED]
        ours = own["latency"], own["interval"], iiwa["cells"]["DSP48E2"]
        print(f"\n{beside_dadu({'18 bits': ours})}")
    return results


def _measured(
    folder: Path, robot: str, choices: dict[str, Any], place: Path, progress: Progress
) -> dict[str, Any]:
    whole = {"functions": WHOLE, "target": "xcup", "accelerator": True, "width": 18, **choices}
    api.generate(robot, folder, progress, force=True, **whole)
    manifest = api.read_manifest(folder)

    def simulated() -> Any:
        return api.simulate(folder, STATES, progress=progress)

    def mapped() -> Any:
        return api.synthesize(folder, progress=progress)["cells"]

    digest = manifest["digest"]
    simulation = cached_result(place, "accelerator-simulation", f"{digest} {STATES}", simulated)
    try:
        cells = cached_result(place, "accelerator-cells", f"{digest} {yosys_version()}", mapped)
    except SynthesisError as error:  # not kept: it may be this machine's
        progress(f"not mapped: {error}")
        cells = {}
    return {"manifest": manifest, "simulation": simulation, "cells": cells}


def as_text(name: str, result: dict[str, Any]) -> str:
    """One accelerator's functions and cells."""
    simulation, about = result["simulation"], result["manifest"]["tasks"]
    batch = simulation["batch"]
    rows = [
        [
            function,
            own["latency"],
            own["interval"],
            own["batch_cycles"],
            brief(map(CoordinateError.from_json, own["coordinates"])),
        ]
        for function, own in simulation["functions"].items()
    ]
    mixed = simulation["mixed"]
    cells = result["cells"]
    sites = counted("xcup", cells)
    on_xcup = (
        f"{sites['multipliers']} DSP48E2, {sites['luts']} LUTs, {sites['flip_flops']} flip-flops"
        if cells
        else f"{about['multipliers']} multipliers, not mapped"
    )
    return "\n".join(
        [
            f"{name}: {on_xcup}; {about['slots']} tasks under way",
            "",
            table(("function", "latency", "interval", f"{batch} tasks", WORST), rows),
            "",
            f"{mixed['tasks']} tasks mixed: {mixed['cycles'] / mixed['tasks']:.1f} cycles each",
        ]
    )


def beside_dadu(ours: Mapping[str, tuple[float, float, int]]) -> str:
    """Our accelerators of iiwa 14, name → latency, interval, DSP, and the published one.

    The ratio of results for each cycle and DSP is a range: over our designs, and over the intervals
    that may be inferred of the published one.
    """
    (dadu,) = (peer for peer in PEERS if peer.name == "Dadu-RBD")
    assert dadu.interval is not None
    assert dadu.dsp is not None
    least, most = (cycles * dadu.dsp for cycles in dadu.interval)
    taken = {name: interval * dsp for name, (_, interval, dsp) in ours.items()}
    rows = [
        [name, latency, f"{interval:g}", dsp, f"{1e6 / taken[name]:.0f}"]
        for name, (latency, interval, dsp) in ours.items()
    ]
    rows.append(
        [
            "Dadu-RBD",
            dadu.latency,
            "{:g} to {:g}, inferred".format(*dadu.interval),
            dadu.dsp,
            f"{1e6 / most:.0f} to {1e6 / least:.0f}",
        ]
    )
    head = (f"{PUBLISHED}, iiwa 14", "latency", "interval", "DSP", "results per 1e6 DSP cycles")
    ratios = least / max(taken.values()), most / min(taken.values())
    latencies = " and ".join(f"{latency / dadu.latency:.1f}" for latency, _, _ in ours.values())
    return (
        f"{table(head, rows)}\n\n{ratios[0]:.1f} to {ratios[1]:.1f} times the results for each "
        f"cycle and DSP; {latencies} times the latency. Assumed: {dadu.note}. "
        "Energy: nothing here runs on a board."
    )
