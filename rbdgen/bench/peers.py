"""iiwa's gradient of forward dynamics with M⁻¹ given, beside what others published of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..api.folder import write_file
from ..compiler import compile_core, front_end
from ..robot.design import MotionLimits
from ..tables import markdown, table
from .cells import cells, count
from .errors import errors, redesigned, smallest_width
from .functions import FEWER, STATES, TARGET, WIDTH, hardware

Progress = Callable[[str], None]
LIMITS = MotionLimits(velocity=1.0, acceleration=5.0)  # those that RoboShape was measured with
GRADIENTS = ("dtau_dq", "dtau_dqd", "dqdd_dq", "dqdd_dqd")
# A tenth of RoboShape's errors, median state.
TENTH = {"dtau_dq": 2e-5, "dqdd_dqd": 3e-3}
LATENCY = 612.0  # ns, RoboShape's
FLOATING_IN_SPACE = (0.0, 0.0, 0.0)  # RoboShape leaves gravity out
VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "did,difd, no gravity, sines given",
        {"functions": ("did", "difd"), "angles": "sincos", "gravity": FLOATING_IN_SPACE},
    ),
    ("did,difd, sines given", {"functions": ("did", "difd"), "angles": "sincos"}),
    ("difd, sines given", {"functions": ("difd",), "angles": "sincos"}),
    ("difd", {"functions": ("difd",)}),
)
# Others: name, latency, II, DSP, LUT, median errors of GRADIENTS.
OTHERS = (
    ("RoboShape, Q16.16: no gravity, sines given", 34, 24, 11312, 340_000, 2e-4, 5e-4, "-", 3e-2),
    ("Dadu-RBD, XCVU9P at 125 MHz: seven functions", 95, "8 to 10", 4240, "-", *["-"] * 4),
)
HEAD = ("design", "bits", "latency", "MHz for 612 ns", "II", "DSP48E2", "LUT", *GRADIENTS)


def beside_peers(place: Path, progress: Progress) -> Any:
    """iiwa's ΔiFD, M⁻¹ given, at |q̇| ≤ 1, |q̈| ≤ 5, beside RoboShape and Dadu-RBD."""
    results: dict[str, Any] = {}
    for name, choices in VARIANTS:

        def say(line: str, name: str = name) -> None:
            progress(f"{name}: {line}")

        front = front_end("iiwa14", target=TARGET, width=WIDTH, limits=LIMITS, **choices)
        made = {WIDTH: compile_core(front)}
        reports = {WIDTH: errors(made[WIDTH], STATES, place / "kept")}

        def excess(width: int, made: dict = made, reports: dict = reports) -> float:
            """How many times a tenth of RoboShape's error the worse of the two is."""
            if width not in reports:
                made[width] = compile_core(redesigned(made[WIDTH].front, width=width))
                reports[width] = errors(made[width], FEWER, place / "kept")
            arrays = reports[width]["arrays"]
            return max(arrays[k]["median_state"] / TENTH[k] for k in TENTH if k in arrays)

        enough, _ = smallest_width(excess, 1.0, {}, WIDTH)
        for width in dict.fromkeys([WIDTH, enough or WIDTH]):
            say(f"{width} bits")
            results[f"{name}, {width} bits"] = {
                "name": name,
                "width": width,
                **hardware(made[width]),
                "errors": reports[width],
                "cells": cells(made[width], place / "kept", say),
            }
    rows = [_row(result) for result in results.values()]
    rows += [[name, "", latency, "", *rest] for name, latency, *rest in OTHERS]
    print(table(HEAD, rows) + "\n\nerrors: ‖error‖ / ‖value‖ of the median state")
    write_file(place / "peers.md", markdown(HEAD, rows) + "\n")
    return results


def _row(result: dict[str, Any]) -> list[Any]:
    found = result["cells"]["xcup"]
    arrays = result["errors"]["arrays"]
    return [
        result["name"],
        result["width"],
        result["latency"],
        round(1e3 * result["latency"] / LATENCY),
        1,
        count(found, "DSP48E2"),
        count(found, "LUT"),
        *(f"{arrays[k]['median_state']:.1e}" if k in arrays else "-" for k in GRADIENTS),
    ]
