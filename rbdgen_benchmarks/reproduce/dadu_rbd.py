"""Yang, Chen and Han, Dadu-RBD: robot rigid body dynamics accelerator (MICRO 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.functions import WHOLE
from rbdgen.draw.tables import table
from rbdgen.system.quoting import Progress

from ..bench.accelerators import DESIGNS, PUBLISHED, beside_dadu
from ..compare import grouped_bars as groups
from .report import Reproduction

CLOCK = 125.0  # MHz, the paper's
TARGET = "xcup"  # the paper's XCVU9P
# Its functions, as its text and ours call them.
FUNCTIONS = {
    "id": "ID",
    "fd": "FD",
    "m": "M",
    "minv": "Minv",
    "did": "ΔID",
    "dfd": "ΔFD",
    "difd": "ΔiFD",
}
# Its text gives no word width: ours with the words of all other rows, and with small errors.
WORDS: dict[str, dict[str, Any]] = {"18 bits": {"width": 18}, "--error 1e-4": {"error": 1e-4}}
ROBOTS, MORE_ROBOTS = ("iiwa14_fast",), ("iiwa14_fast", "hyq", "humanoid")
MULTIPLIERS = 6840  # of its part
PAPER = """\
The paper (XCVU9P at 125 MHz; iiwa, HyQ, Atlas; no numbers in its figures, no word width in its
text):
ΔiFD of iiwa: 0.76 µs latency, which is 95 cycles; Robomorphic's 0.61 µs at 56 MHz.
ΔiFD's throughput beside those of RA-L 2021: CPU 10.3 to 13 times, GPU 3.4 to 11.3, FPGA 6.3 to 7.
Throughput, all functions and robots: AGX Orin CPU, 12 threads, 8.1 to 43.6 times, mean 19.2; its
GPU 3.5 to 13.4, mean 7.2; i9-13900HX, 32 threads, 4.1 to 20.2, mean 8.2; RTX 4090M 0.5 to 2.8,
mean 1.4.
Latency as a share of theirs: AGX CPU 0.12 to 0.55, mean 0.29; i9 0.34 to 1.91, mean 0.82.
62 % of DSPs (4240), 17 % of flip-flops, 54 % of LUTs, of a robot that it does not name; power of
iiwa 6.2 to 36.8 W by function, ΔiFD 31.2 W."""


def dadu(full: bool, place: Path, progress: Progress) -> Reproduction:
    """Cycles and multipliers of its functions here, at its clock."""
    rows: list[dict[str, Any]] = []
    for robot in MORE_ROBOTS if full else ROBOTS:
        for function, name in FUNCTIONS.items():
            progress(f"{name} of {robot}")
            front = front_end(robot, functions=(function,), width=18, target=TARGET)
            plan = compile_front(front, progress).plan
            rows.append(
                {
                    "robot": robot,
                    "function": name,
                    "latency, cycles": plan.latency,
                    "a task every": plan.interval,
                    "multipliers": plan.multipliers,
                    "of the part": f"{100 * plan.multipliers / MULTIPLIERS:.0f} %",
                    "latency, µs": round(plan.latency / CLOCK, 2),
                    "M tasks/s": round(CLOCK / plan.interval, 1),
                }
            )
    accelerators = {}
    for name, words in WORDS.items():
        progress(f"the accelerator of all functions of iiwa14, {name}")
        accelerators[name] = api.info(
            "iiwa14_fast",
            functions=WHOLE,
            target=TARGET,
            accelerator=True,
            **DESIGNS["iiwa14"][1],
            **words,
        )["tasks"]
    bars = {
        robot: [
            groups.Bar(row["function"], {"latency here": row["latency, µs"]})
            for row in rows
            if row["robot"] == robot
        ]
        for robot in dict.fromkeys(row["robot"] for row in rows)
    }
    bars["iiwa, paper"] = [groups.Bar("ΔiFD", {"latency, Dadu-RBD": 0.76})]
    text = "\n\n".join(
        [
            PAPER,
            f"Ours, a core for each function on {TARGET}, 18-bit words, cycles at {CLOCK:g} MHz\n\n"
            + table(list(rows[0]), [list(row.values()) for row in rows]),
            _one_accelerator(accelerators),
            "Measured: latency, interval and multipliers of the plans that generate writes, which "
            "simulate confirms bit by bit. The paper's: its text.\n"
            "What differs: the rows of one function have a core for each; ours have 18-bit words, "
            "theirs are not said; its clock was placed by Vivado, which no open tool does for this "
            "part, so that ours is borrowed; its times have the host's link in them, ours do not. "
            "Atlas stands for a humanoid; ours is another. Its ratios to CPUs and GPUs need those "
            "machines: "
            "rbdgen bench cpu has Pinocchio on this one.",
        ]
    )
    pictures = {
        "002-latency.svg": groups.picture("002: latency of one task at 125 MHz", "µs", bars)
    }
    numbers: dict[str, Any] = {
        "rows": rows,
        "clock MHz": CLOCK,
        "accelerators": accelerators,
    }
    return Reproduction(text, numbers, pictures)


def _one_accelerator(accelerators: Mapping[str, Mapping[str, Any]]) -> str:
    """All seven functions together, the published design and ours, by the function it times."""
    ours = {}
    for name, facts in accelerators.items():
        own = facts["functions"][PUBLISHED]
        ours[f"ours, {name}"] = own["latency"], own["interval"], facts["multipliers"]
    return f"All seven functions on one accelerator, as planned\n\n{beside_dadu(ours)}"
