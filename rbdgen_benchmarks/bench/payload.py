"""The cost of a payload as an input: operations, cycles, cells, and ns in C++."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rbdgen.api.native_programs import NativeProgram, compiled
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.coordinates import brief
from rbdgen.design.loading import load
from rbdgen.schedule.area import estimated
from rbdgen.schedule.features import features
from rbdgen.system.quoting import Progress

from ..compare.timing import Command, command, least, read
from .cells import FAMILIES
from .errors import errors
from .measurement import Row, measurement

CASES = (
    ("iiwa14_fast", "fixed", "link_7", "id"),
    ("iiwa14_fast", "fixed", "link_7", "did"),
    ("hyq", "floating", "trunk", "id"),
    ("gantry", "fixed", "tool", "fd"),
)
STATES, FEW = 4000, 256
HEAD = (
    *("", "products", "by constants", "sums", "cycles", "multipliers"),
    *(f"LUTs, about, {family}" for family in FAMILIES),
    *("worst error", "C++, one state", "blocks"),
)
LEGEND = (
    "18 bits, a task every cycle; LUTs by the area model. Worst error: of the\n"
    f"coordinates, by its own RMS, at the limits | at a tenth of them, of {STATES} random states,\n"
    "payloads included. C++: ns a state, in double,\n"
    "one at a time and in blocks of 16, medians in CPU time, least of 5 processes in turn"
)


@measurement(
    "payload",
    "minutes",
    HEAD,
    cases=lambda: CASES,
    legend=lambda: f"{LEGEND}; load {os.getloadavg()[1]:.1f}.",
    page=True,
)
def payload(
    place: Path, progress: Progress, robot: str, base: str, link: str, function: str
) -> Iterator[Row]:
    """Functions with and without a payload that is an input: cells, cycles, errors, ns in C++."""
    name = f"{robot}{' floating' * (base == 'floating')} {function}"
    results: dict[str, dict[str, Any]] = {}
    programs: dict[str, NativeProgram] = {}
    for said, carrier in ((name, None), (f"{name}, payload", link)):
        progress(said)
        choices: dict[str, Any] = {"base": base, "functions": (function,), "payload": carrier}
        results[said] = hardware(robot, choices, place / "kept")
        programs[said] = compiled(*load(robot, **choices), "cpp", progress)
    progress(f"{name}: timed")
    commands: dict[str, Command] = {
        said: command(own, (FEW,), 1, progress) for said, own in programs.items()
    }
    for said, numbers in least(commands).items():
        own, times = results[said], read(numbers, (FEW,))
        count = own["operations"]
        yield [
            *(said, count["mul"], count["mulc"], count["add"], own["latency"], own["multipliers"]),
            *(own["luts"][family] for family in FAMILIES),
            *(own["error"], f"{times.one:.3g}", f"{times.of[FEW].blocks:.3g}"),
        ]


def hardware(robot: str, choices: dict[str, Any], store: Path) -> dict[str, Any]:
    """The cost of a pipeline of interval 1; ``registers``: how many hold parameters."""
    front = front_end(robot, target="xcup", fit=False, width=18, **choices)
    core = compile_front(front)
    return {
        "registers": len(core.fixed.parameters),
        "operations": front.graph.operations(),
        "latency": core.plan.latency,
        "multipliers": core.plan.binding.multipliers,
        "luts": {family: estimated(family, features(core.plan))["luts"] for family in FAMILIES},
        "error": brief(errors(core, STATES, store).coordinates),
    }
