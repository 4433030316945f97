"""iiwa's gradient of forward dynamics with M⁻¹ given, beside what others published of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.api.evaluation import to_words
from rbdgen.api.folder import write_file
from rbdgen.api.integer_model import IntegerModel
from rbdgen.api.peers import CONVENTIONS, PEERS, ROBOSHAPE_CLOCK
from rbdgen.api.simulation import batches, outputs_and_golden
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.design.nested import MotionLimits
from rbdgen.draw.tables import markdown, table
from rbdgen.system.cache import cached_result
from rbdgen.system.progress import Progress

from .cells import cells, count
from .errors import SEED, measured_of
from .functions import STATES, TARGET, WIDTH, hardware
from .measurement import measurement

LIMITS = MotionLimits(velocity=1.0, acceleration=5.0)  # those that RoboShape was measured with
GRADIENTS = ("dtau_dq", "dtau_dqd", "dqdd_dq", "dqdd_dqd")
# The second for errors of less than a tenth of RoboShape's.
WORDS: tuple[tuple[str, dict[str, Any]], ...] = (
    (f"{WIDTH} bits", {"width": WIDTH}),
    ("--error 4e-5", {"error": 4e-5}),
)
ROBOSHAPE, DADU = (p for p in PEERS if p.robot == "iiwa14")
assert DADU.interval is not None
INFERRED = "{:g} to {:g}, inferred".format(*DADU.interval)
SMALLEST = 1e-300  # no division by zero
LATENCY = 1e3 * ROBOSHAPE.latency / ROBOSHAPE_CLOCK  # ns
VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "did,difd, no gravity, sines given",
        dict(CONVENTIONS),
    ),
    ("did,difd, sines given", {"functions": ("did", "difd"), "angles": "sincos"}),
    ("difd, sines given", {"functions": ("difd",), "angles": "sincos"}),
    ("difd", {"functions": ("difd",)}),
)
# Others: name, latency, MHz, II, multipliers, DSP, LUT, errors of GRADIENTS.
OTHERS: tuple[tuple[Any, ...], ...] = (
    (
        "RoboShape, Q16.16: did,difd, no gravity, sines given",
        *(ROBOSHAPE.latency, round(ROBOSHAPE_CLOCK), 24, "-", ROBOSHAPE.dsp, 340_000),
        *("2e-4 (1e-3)", "5e-4 (6e-3)", "-", "3e-2 (1.5e-1)"),
    ),
    (
        "Dadu-RBD, XCVU9P: seven functions",
        *(DADU.latency, DADU.clock, INFERRED, "-", DADU.dsp, *["-"] * 5),
    ),
)
HEAD = ("design", "words", "latency", "MHz", "II", "multipliers", "DSP48E2", "LUT", *GRADIENTS)
LEGEND = (
    "MHz: the others' clock; ours, the clock at which the latency is RoboShape's 612 ns. DSP48E2, "
    "LUT: mapped by Yosys, Dadu-RBD's as published. Errors: ‖error‖ / ‖value‖ of the median state "
    "(of the worst), |q̇| ≤ 1 rad/s, |q̈| ≤ 5 rad/s²."
)


@measurement("peers", "hours")
def beside_peers(place: Path, progress: Progress) -> Any:
    """iiwa's ΔiFD, M⁻¹ given, at |q̇| ≤ 1, |q̈| ≤ 5, beside RoboShape and Dadu-RBD."""
    results: dict[str, Any] = {}
    for name, choices in VARIANTS:

        def say(line: str, name: str = name) -> None:
            progress(f"{name}: {line}")

        for words, asked in WORDS:
            core = compile_front(
                front_end(
                    "iiwa14_fast", target=TARGET, fit=False, limits=LIMITS, **choices, **asked
                )
            )
            say(words)
            results[f"{name}, {words}"] = {
                "name": name,
                "words": words,
                **hardware(core),
                "errors": _by_state(core, place / "kept"),
                "cells": cells(core, place / "kept", say, ("xcup",)),
            }
    rows = [_row(result) for result in results.values()]
    rows += [[name, "", *rest] for name, *rest in OTHERS]
    print(f"{table(HEAD, rows)}\n\n{LEGEND}")
    write_file(place / "peers.md", f"{markdown(HEAD, rows)}\n\n{LEGEND}\n")
    return results


def _row(result: dict[str, Any]) -> list[Any]:
    found = result["cells"]["xcup"]
    arrays = result["errors"]
    return [
        result["name"],
        result["words"],
        result["latency"],
        round(1e3 * result["latency"] / LATENCY),
        1,
        result["multipliers"],
        count(found, "DSP48E2"),
        count(found, "LUT"),
        *(_error(arrays[k]) if k in arrays else "-" for k in GRADIENTS),
    ]


def _by_state(core: Product, place: Path) -> dict[str, dict[str, float]]:
    """The median and worst state's ‖error‖ / ‖value‖ of each array, as RoboShape reports them."""

    def measured() -> dict[str, dict[str, float]]:
        found: dict[str, list[NDArray]] = {}
        integers = IntegerModel(core)
        for state in batches(core, STATES, SEED):
            expected, _ = integers(to_words(core, state))
            for name, values, reference in outputs_and_golden(core, state, expected):
                far, size = (
                    np.linalg.norm(x.reshape(len(x), -1), axis=1)
                    for x in (values - reference, reference)
                )
                found.setdefault(name, []).append(far / np.maximum(size, SMALLEST))
        relative = {name: np.concatenate(own) for name, own in found.items()}
        return {
            name: {"median_state": float(np.median(own)), "worst_state": float(own.max())}
            for name, own in relative.items()
        }

    return dict(cached_result(place, "errors", measured_of(core, STATES), measured))


def _error(array: dict[str, float]) -> str:
    return f"{array['median_state']:.1e} ({array['worst_state']:.1e})"
