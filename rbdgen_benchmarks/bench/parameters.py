"""The cost of a robot's parameters in registers: operations, cycles, cells, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rbdgen.api.folder import write_file
from rbdgen.draw.tables import markdown, table
from rbdgen.system.progress import Progress

from .cells import FAMILIES
from .payload import STATES, hardware

CASES = (
    ("iiwa14_fast", "fixed", "id"),
    ("iiwa14_fast", "fixed", "did"),
    ("iiwa14_fast", "fixed", "m"),
    ("hyq", "fixed", "id"),
    ("gantry", "fixed", "fd"),
)
HEAD = (
    *("", "registers", "products", "by constants", "sums", "cycles", "multipliers"),
    *(f"LUTs, about, {family}" for family in FAMILIES),
    "worst error",
)
LEGEND = (
    "18 bits, a task every cycle, a tolerance of 5 %; LUTs by the area model, which knows of no\n"
    "register for many tasks. Worst error: of the coordinates, by its own RMS, at the limits | at\n"
    f"a tenth of them, of {STATES} random states of the robot itself"
)


def parameters(place: Path, progress: Progress) -> Any:
    """Functions with a robot's parameters as constants and in registers: cells, cycles, errors."""
    results: dict[str, dict[str, Any]] = {}
    for robot, base, function in CASES:
        name = f"{robot}{' floating' * (base == 'floating')} {function}"
        for said, way in ((name, "constants"), (f"{name}, registers", "registers")):
            progress(said)
            choices = {"base": base, "functions": (function,), "parameters": way}
            results[said] = hardware(robot, choices, place / "kept")
    rows = [_row(name, own) for name, own in results.items()]
    print(f"{table(HEAD, rows)}\n\n{LEGEND}.")
    write_file(place / "parameters.md", f"{markdown(HEAD, rows)}\n\n{LEGEND}.\n")
    return {"results": results}


def _row(name: str, own: dict[str, Any]) -> list[Any]:
    count = own["operations"]
    return [
        *(name, own["registers"] or "-", count["mul"], count["mulc"], count["add"]),
        *(own["latency"], own["multipliers"]),
        *(own["luts"][family] for family in FAMILIES),
        own["error"],
    ]
