"""The coefficients of ``rbdgen.schedule.area``, from designs that Yosys maps in minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rbdgen.api.folder import write_file
from rbdgen.api.synthesis import mapped, yosys_version
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.target import counted
from rbdgen.draw.tables import table
from rbdgen.schedule.area import Sample, fit
from rbdgen.schedule.features import features
from rbdgen.shell.emit import emit
from rbdgen.system.quoting import Progress

from .chains import chain_urdf
from .measurement import measurement

CHAINS = (2, 3)
# Robot, functions, initiation intervals, other choices.
Designs = tuple[tuple[str, str, tuple[int, ...], dict[str, Any]], ...]
DESIGNS: Designs = (
    ("pendulum", "did", (1, 4), {}),
    ("pendulum", "did", (3,), {"width": 24}),
    ("pendulum", "fd", (1, 3), {}),
    ("pendulum", "did,m", (1, 2), {"width": 16, "angles": "sincos"}),
    ("pendulum", "did", (1,), {"style": "latency", "clock": 25.0}),
    ("chain2", "did", (1, 3, 8), {}),
    ("chain2", "fd", (1, 4), {}),
    ("chain2", "did", (1,), {"style": "latency", "clock": 40.0}),
    ("gantry", "did", (1, 4), {}),
    ("gantry", "fd", (8,), {"width": 22}),
    ("chain3", "did", (6,), {}),
    ("chain3", "minv", (1,), {}),
    ("iiwa14_fast", "m", (1, 3), {}),
    ("iiwa14_fast", "id", (1, 2, 8), {}),
    ("hyq", "id", (1, 4), {}),
)
# The least that a fit takes: each kind of plan, words of 12 to 24 bits; minutes a family.
QUICK: Designs = (
    ("pendulum", "id", (1,), {"width": 12}),
    ("pendulum", "did", (1, 4), {}),
    ("pendulum", "did", (3,), {"width": 24}),
    ("pendulum", "fd", (3,), {}),
    ("pendulum", "did,m", (2,), {"width": 16, "angles": "sincos"}),
    ("pendulum", "did", (1,), {"style": "latency", "clock": 25.0}),
    ("gantry", "did", (4,), {}),
    ("gantry", "fd", (16,), {"width": 22}),
    ("hyq", "id", (4,), {}),
    ("iiwa14_fast", "m", (3,), {}),
    ("iiwa14_fast", "id", (8,), {}),
    ("iiwa14_fast", "id", (24,), {"fold": "joints"}),
)
ECP5, XCUP, GOWIN, NEXUS = "ecp5-85f", "xcup", "gw2a-18", "lifcl-40"
SMALL = "ecp5-25f"  # where many products find no multiplier
# Family → its part, its designs, and further ones, each of a part of its own.
FAMILIES: dict[str, tuple[str, Designs, tuple[tuple[str, str, dict[str, Any]], ...]]] = {
    "ecp5": (
        ECP5,
        DESIGNS,
        (
            ("gantry", "did", {"target": SMALL}),
            ("chain2", "did", {"target": SMALL}),
            ("iiwa14_fast", "did", {"ii": 8, "target": ECP5}),
            ("iiwa14_fast", "did", {"ii": 20, "target": ECP5}),
        ),
    ),
    "xcup": (
        XCUP,
        DESIGNS,
        (
            ("iiwa14_fast", "did", {"target": XCUP}),
            ("iiwa14_fast", "did", {"ii": 8, "target": XCUP}),
            ("iiwa14_fast", "dfd", {"target": XCUP}),
        ),
    ),
    "gowin": (GOWIN, QUICK, ()),
    "nexus": (NEXUS, QUICK, ()),
}


@measurement("area-model", "hours")
def area_model(place: Path, progress: Progress) -> Any:
    """LUTs, flip-flops and memories as the area model estimates them, and as Yosys maps them.

    What it returns is the table that ``rbdgen/schedule/area.json`` holds.
    """
    robots = {}
    for joints in CHAINS:
        file = place / f"chain{joints}.urdf"
        write_file(file, chain_urdf(joints))
        robots[f"chain{joints}"] = str(file)
    families = {}
    for family, (part, designs, more) in FAMILIES.items():
        samples: list[Sample] = []
        wanted = [
            (robot, function, {**choices, "ii": ii, "target": part})
            for robot, function, intervals, choices in designs
            for ii in intervals
        ]
        wanted += more
        for n, (robot, function, choices) in enumerate(wanted, 1):
            said = ", ".join(f"{k} {v}" for k, v in choices.items())
            name = f"{robot} {function}, {said}"
            progress(f"{family}, {n} of {len(wanted)}: {name}")
            of = robots.get(robot, robot)
            names = tuple(function.split(","))
            core = compile_front(
                front_end(of, functions=names, fit=False, **{"width": 18, **choices})
            )
            cells = mapped(emit(core.accelerator, "core"), family, place / "kept", progress).cells
            samples.append((name, features(core.plan), counted(family, cells)))
        families[family] = fit(family, samples)
        print(f"{family}\n\n{as_text(families[family])}\n")
    return {"yosys": yosys_version(), "families": families}


def as_text(fitted: dict[str, Any]) -> str:
    """Estimated and mapped, design by design, and the errors."""
    shown = ("luts", "flip_flops", "block_rams")
    head = ["design", *(f"{q}{of}" for q in shown for of in (", estimated", ", mapped"))]
    rows = [
        [design["name"], *(design[q][of] for q in shown for of in ("estimated", "mapped"))]
        for design in fitted["designs"]
    ]
    errors = [
        f"{q}: RMS error {e['rms']:.1%}, worst {e['worst']:.1%}; of a design that the fit has not "
        f"seen, RMS {e['left_out']:.1%}"
        for q, e in fitted["error"].items()
        if q in shown
    ]
    return "\n".join([table(head, rows), "", *errors])
