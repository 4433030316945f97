"""The cost of a robot's parameters in registers: operations, cycles, cells, errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rbdgen.system.quoting import Progress

from .cells import FAMILIES
from .measurement import Row, measurement
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
    f"a tenth of them, of {STATES} random states of the robot itself."
)


@measurement("parameters", "minutes", HEAD, cases=lambda: CASES, legend=LEGEND, page=True)
def parameters(
    place: Path, progress: Progress, robot: str, base: str, function: str
) -> Iterator[Row]:
    """Functions with a robot's parameters as constants and in registers: cells, cycles, errors."""
    name = f"{robot}{' floating' * (base == 'floating')} {function}"
    for said, way in ((name, "constants"), (f"{name}, registers", "registers")):
        progress(said)
        choices = {"base": base, "functions": (function,), "parameters": way}
        own = hardware(robot, choices, place / "kept")
        count = own["operations"]
        yield [
            *(said, own["registers"] or "-", count["mul"], count["mulc"], count["add"]),
            *(own["latency"], own["multipliers"]),
            *(own["luts"][family] for family in FAMILIES),
            own["error"],
        ]
