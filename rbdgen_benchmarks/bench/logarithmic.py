"""Sums in one frame beside recursions from link to link: cycles, multipliers, errors, storage.

What is asked of each design stands beside what was measured, and whether it is met.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rbdgen import api
from rbdgen.api.compilation import Compilation
from rbdgen.api.folder import checked_manifest, write_folder
from rbdgen.api.integer_model import load_core
from rbdgen.api.simulation import simulate_core
from rbdgen.api.verilog import verilog
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.design.coordinates import brief
from rbdgen.design.facts import CoreRun
from rbdgen.graph.accuracy import SCALES
from rbdgen.graph.graph import source
from rbdgen.graph.node import Op
from rbdgen.schedule.features import features
from rbdgen.system.quoting import Progress

from ..compare.integer_errors import integer_errors
from .arithmetic import HEAD as HEAD_BEFORE
from .arithmetic import arithmetic, as_row
from .chains import chain_urdf
from .measurement import Row, Rows, measurement

STATES = 2000
WORST = f"worst, {SCALES[0].name} | {SCALES[1].name}"
LINKS = (8, 16, 32, 64, 128)
SERIAL_SHARE, SHARE_AT = 0.3, 32  # of the serial pipeline's cycles, at so many links
A_TASK_A_CLOCK: dict[str, Any] = {"target": "xcup", "ii": 1, "fold": "none"}


class Asked(NamedTuple):
    """A design in 18 bits, a task a clock; the most that it may take, if anything is said."""

    robot: str
    function: str
    choices: dict[str, Any]
    cycles: int | None = None
    multipliers: int | None = None


LOG = {"formulation": "logarithmic"}
BLOCKS = {**LOG, "factorisation": "blocks"}
NEAR = {**LOG, "inverse": "near"}
PAIRS = {**LOG, "products": "winograd"}
BARS = (
    Asked("iiwa14_fast", "id", {}),
    Asked("iiwa14_fast", "id", {"formulation": "linear"}),
    Asked("iiwa14_fast", "id", {"formulation": "lathrop-linear"}),
    Asked("iiwa14_fast", "id", {"formulation": "lathrop-log"}),
    Asked("iiwa14_fast", "id", LOG, 60, 390),
    Asked("baxter", "id", LOG, 65),
    Asked("iiwa14_fast", "did", {}),
    Asked("iiwa14_fast", "did", LOG, 66, 1345),
    Asked("iiwa14_fast", "did", PAIRS),
    Asked("hyq", "did", LOG, 48, 800),
    Asked("baxter", "did", LOG, 68, 3500),
    Asked("humanoid", "did", {**LOG, "guard": 2}, 77, 8600),
    Asked("iiwa14_fast", "difd", LOG, 73, 1870),
    Asked("iiwa14_fast", "dfd", {}),
    Asked("iiwa14_fast", "dfd", BLOCKS, 143, 2490),
    Asked("iiwa14_fast", "dfd", NEAR, 113, 3230),
)


HEAD = ("design", "cycles (≤)", "multipliers (≤)", WORST, "register bits", "FIFO bits")


@measurement(
    "logarithmic",
    "minutes",
    HEAD,
    cases=lambda: BARS,
    legend=f"{STATES} states each; multipliers without those of sines",
)
def logarithmic(
    place: Path,
    progress: Progress,
    robot: str,
    function: str,
    choices: dict[str, Any],
    cycles: int | None,
    multipliers: int | None,
) -> Iterator[Row]:
    """`--formulation logarithmic` beside the others: cycles, multipliers, errors, storage."""
    said = ", ".join(map(_said, choices.items())) or "composite"
    progress(f"{robot} {function}, {said}")
    core = compile_front(
        front_end(robot, functions=(function,), width=18, **A_TASK_A_CLOCK, **choices)
    )
    yield [
        f"{robot} {function}, {said}",
        _beside(core.plan.latency, cycles),
        _beside(products(core), multipliers),
        brief(integer_errors(core, STATES).coordinates),
        *storage(core).values(),
    ]


def _said(choice: tuple[str, Any]) -> str:
    name, value = choice
    return value if isinstance(value, str) else f"{name} {value}"


def _beside(measured: int, asked: int | None) -> str:
    if asked is None:
        return str(measured)
    verdict = "" if measured <= asked else ", missed"
    return f"{measured} ({asked}{verdict})"


def products(core: Product) -> int:
    """Hardware multipliers of products, without those of sines and reciprocals."""
    fixed, target = core.plan.fixed, core.front.target
    return sum(
        target.hardware_multipliers(*(fixed.formats[source(a)].width for a in node.args))
        for node in fixed.graph.nodes
        if node.op is Op.MUL
    )


def storage(core: Product) -> dict[str, int]:
    """Bits of registers in which results and what waits lie, and of FIFOs and delay memories."""
    count, plan = features(core.plan), core.plan
    fifos = sum(channel.width * channel.depth for channel in plan.channels)
    return {
        "registers": count["result_bits"] + count["waiting_bits"],
        "fifos": fifos + count["ring_bits"],
    }


@measurement("logarithmic-chains", "an hour")
def chains(place: Path, progress: Progress) -> Any:
    """Chains of 8 to 128 joints, `id` in both forms: every bit of the logarithmic one, cycles."""
    place.mkdir(parents=True, exist_ok=True)
    results, rows, before = [], Rows(CHAIN_HEAD), Rows(HEAD_BEFORE)
    counts = []
    for n in LINKS:
        file = place / f"chain{n}.urdf"
        api.write_file(file, chain_urdf(n))
        forms = ("composite", "logarithmic")
        graphs = {form: front_end(str(file), formulation=form).graph for form in forms}
        counts.append(arithmetic(n, graphs))
        before.add(as_row(counts[-1]))
    for n in LINKS:
        file = place / f"chain{n}.urdf"
        serial = compile_front(front_end(str(file), width=18, **A_TASK_A_CLOCK), progress)
        core, report = _simulated(str(file), place / f"chain{n}", progress)
        own = {
            "links": n,
            "serial": serial.plan.latency,
            "latency": report.latency,
            "every_bit": report.bit_exact,
            "error": brief(report.coordinates),
            "multipliers": [products(serial), products(core)],
            "storage": [storage(serial), storage(core)],
        }
        results.append(own)
        rows.add(_row(own))
    _fit(results)
    return {"arithmetic": counts, "chains": results}


def _simulated(robot: str, folder: Path, progress: Progress) -> tuple[Product, CoreRun]:
    """The logarithmic form, compiled once, and what a simulation of its Verilog says of it."""
    made = Compilation(robot, progress, {**A_TASK_A_CLOCK, **LOG})
    write_folder(folder, verilog(made))
    entry = checked_manifest(folder, False, progress)
    model = load_core(folder, entry, progress=progress)
    run = simulate_core(made.product, model, folder, entry, 100, 0, progress)
    return made.product, run


CHAIN_HEAD = (
    *("links", "serial", "logarithmic", "share", "every bit", WORST, "multipliers"),
    *("register bits", "FIFO bits"),
)


def _row(own: dict[str, Any]) -> list[Any]:
    both = (tuple(s[key] for s in own["storage"]) for key in ("registers", "fifos"))
    return [
        own["links"],
        own["serial"],
        own["latency"],
        f"{own['latency'] / own['serial']:.2f}",
        "yes" if own["every_bit"] else "no",
        own["error"],
        "{} → {}".format(*own["multipliers"]),
        *("{} → {}".format(*pair) for pair in both),
    ]


def _fit(results: list[dict[str, Any]]) -> None:
    """The smallest a with cycles ≤ a + b ⌈log₂ n⌉ for all, b the slope of the ends."""
    points = [(math.ceil(math.log2(own["links"])), own["latency"]) for own in results]
    (x0, y0), (x1, y1) = points[0], points[-1]
    b = math.ceil((y1 - y0) / (x1 - x0))
    a = max(y - b * x for x, y in points)
    print(f"\ncycles ≤ {a} + {b} ⌈log₂ n⌉")
    (at,) = [own for own in results if own["links"] == SHARE_AT]
    share = at["latency"] / at["serial"]
    print(f"at {SHARE_AT} links {share:.2f} of the serial pipeline's (asked: ≤ {SERIAL_SHARE})")
