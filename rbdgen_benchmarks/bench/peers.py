"""iiwa's gradient of forward dynamics with M⁻¹ given, beside what others published of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.api.evaluation import to_words
from rbdgen.api.integer_model import IntegerModel
from rbdgen.api.simulation import batches, outputs_and_golden
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.design.nested import MotionLimits
from rbdgen.system.cache import cached_result
from rbdgen.system.quoting import Progress

from ..compare.peers import CONVENTIONS, PEERS, ROBOSHAPE_CLOCK
from .cells import cells, count
from .errors import SEED, measured_of
from .functions import STATES, TARGET, WIDTH, hardware
from .measurement import Row, measurement

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


def _cases() -> Iterator[tuple[str, Mapping[str, Any], str, Mapping[str, Any]]]:
    for name, choices in VARIANTS:
        yield from ((name, choices, words, asked) for words, asked in WORDS)
    yield from ((name, {}, "", {"published": rest}) for name, *rest in OTHERS)


@measurement("peers", "hours", HEAD, cases=_cases, legend=LEGEND, page=True)
def beside_peers(
    place: Path,
    progress: Progress,
    name: str,
    choices: Mapping[str, Any],
    words: str,
    asked: Mapping[str, Any],
) -> Iterator[Row]:
    """iiwa's ΔiFD, M⁻¹ given, at |q̇| ≤ 1, |q̈| ≤ 5, beside RoboShape and Dadu-RBD."""
    if published := asked.get("published"):
        yield [name, words, *published]
        return
    front = front_end("iiwa14_fast", target=TARGET, fit=False, limits=LIMITS, **choices, **asked)
    core = compile_front(front)
    progress(f"{name}: {words}")
    own, arrays = hardware(core), _by_state(core, place / "kept")
    found = cells(core, place / "kept", progress, ("xcup",))["xcup"]
    yield [
        *(name, words, own["latency"], round(1e3 * own["latency"] / LATENCY)),
        *(1, own["multipliers"], count(found, "DSP48E2"), count(found, "LUT")),
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
