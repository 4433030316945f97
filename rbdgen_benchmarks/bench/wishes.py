"""Wishes, the designs that are chosen for them, and what place and route makes of these."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from rbdgen import api
from rbdgen.design.facts import ChosenFacts
from rbdgen.design.wishes import Wishes, hertz, seconds
from rbdgen.system.quoting import Progress
from rbdgen.tools.report import SynthesisReport

from .clocks import SEEDS, slug
from .measurement import Row, measurement

# Robot, function, latency, rate. Small designs first.
CASES: tuple[tuple[str, str, str, str], ...] = (
    ("pendulum", "id", "", "10MHz"),
    ("pendulum", "id", "0.2us", ""),
    ("pendulum", "id", "0.19us", "60MHz"),
    ("pendulum", "m", "", "40MHz"),
    ("pendulum", "fd", "0.5us", "5MHz"),
    ("pendulum", "did", "", "20MHz"),
    ("pendulum", "minv", "0.3us", ""),
    ("gantry", "id", "", "10MHz"),
    ("gantry", "id", "0.4us", ""),
    ("gantry", "m", "0.3us", "20MHz"),
    ("gantry", "fd", "1us", ""),
    ("gantry", "did", "", "4MHz"),
    ("iiwa14", "g", "3us", "1MHz"),
    ("iiwa14", "g", "0.5us", ""),
    ("hyq", "m", "", "5MHz"),
    ("hyq", "m", "", "8MHz"),
    ("hyq", "id", "1us", "3MHz"),
    ("tiago_like", "g", "", "2MHz"),
    ("spot_arm_like", "g", "2us", ""),
    ("iiwa14", "id", "", "2MHz"),
)
HEAD = (
    *("robot", "function", "latency", "rate", "design", "part", "speed", "MHz, expected"),
    *("MHz, placed", "to spare", "a smaller one", "its MHz", "it misses by"),
)
LEGEND = (
    "Placed: the median of three seeds, at the slowest speed grade. To spare: of what was wanted,\n"
    "negative if it was missed. A smaller one: of the designs that the search tried, the nearest\n"
    "to the wish. If it is doubtful whether it reaches that, the answer says so."
)
Placed = tuple[float, float]  # MHz, and the part of the wish that is to spare


@measurement("wishes", "hours", HEAD, cases=lambda: CASES, legend=LEGEND)
def wishes(
    place: Path, progress: Progress, robot: str, function: str, latency: str, rate: str
) -> Iterator[Row]:
    """Designs chosen for a latency or a rate, placed and routed, beside smaller ones."""
    wished = Wishes(seconds(latency) if latency else None, hertz(rate) if rate else None)
    found = api.info(robot, progress, wished.latency, wished.rate, functions=(function,))
    chosen = ChosenFacts.from_json(found["wanted"])
    mhz, spare = _placed(place, progress, robot, function, chosen.options, chosen.speed, wished)
    own = next(one for one in found["clocks"] if one["speed"] == chosen.speed)["mhz"]
    below = ["-", "-", "-"]
    if less := chosen.smaller:
        below = [_words(less.options), "-", "doubtful"]
        if less.misses:
            reached, short = _placed(
                place, progress, robot, function, less.options, chosen.speed, wished
            )
            below[1:] = [f"{reached:.1f}", f"{-short:.0%}"]
    yield [
        *(robot, function, latency or "-", rate or "-"),
        *(_words(chosen.options), chosen.options["target"], chosen.speed),
        *(f"{own['least']:.0f} to {own['most']:.0f}", f"{mhz:.1f}", f"{spare:.0%}", *below),
    ]


def _words(options: Mapping[str, Any]) -> str:
    return f"--ii {options['ii']} --fold {options['fold']}"


def _placed(
    place: Path,
    progress: Progress,
    robot: str,
    function: str,
    options: Mapping[str, Any],
    speed: int,
    wished: Wishes,
) -> Placed:
    """A design's clock; one that an earlier run has placed is not placed again."""
    said = f"{robot} --function {function} --target {options['target']} {_words(options)}"
    folder = place / "wishes" / slug(said, speed)
    file = folder / f"synthesis-{options['target']}" / "report.json"
    if not file.exists():
        progress(f"{said}: generate, place and route")
        api.generate(robot, folder, progress, force=True, functions=(function,), **options)
        api.synthesize(
            folder, place_and_route=True, speeds=(speed,), seeds=SEEDS, progress=progress
        )
    report = SynthesisReport.from_json(json.loads(file.read_text("utf-8")))
    mhz = median(one.fmax for one in report.placements)
    pace = report.paces[function]
    assert pace.longest is not None
    return mhz, wished.spare(pace.longest / mhz, mhz / pace.interval)
