"""Yang, Chen and Han, Dadu-RBD: robot rigid body dynamics accelerator (MICRO 2023)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..compile.flow import compile_core, front_end
from ..draw import groups
from ..draw.tables import table
from .report import Progress, Reproduction

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
ROBOTS, MORE_ROBOTS = ("iiwa14",), ("iiwa14", "hyq", "humanoid")
MULTIPLIERS = 6840  # of its part
USED = 4240  # DSPs of its iiwa, 62 %
PAPER = """\
The paper (XCVU9P at 125 MHz, 32-bit words; iiwa, HyQ, Atlas; its figures give no numbers):
ΔiFD of iiwa: 0.76 µs latency, which is 95 cycles; Robomorphic's 0.61 µs at 56 MHz.
ΔiFD's throughput beside those of RA-L 2021: CPU 10.3 to 13 times, GPU 3.4 to 11.3, FPGA 6.3 to 7.
Throughput, all functions and robots: AGX Orin CPU, 12 threads, 8.1 to 43.6 times, mean 19.2; its
GPU 3.5 to 13.4, mean 7.2; i9-13900HX, 32 threads, 4.1 to 20.2, mean 8.2; RTX 4090M 0.5 to 2.8,
mean 1.4.
Latency as a share of theirs: AGX CPU 0.12 to 0.55, mean 0.29; i9 0.34 to 1.91, mean 0.82.
iiwa takes 62 % of DSPs (4240), 17 % of flip-flops, 54 % of LUTs; 6.2 to 36.8 W by function, ΔiFD
31.2 W."""


def dadu(full: bool, place: Path, progress: Progress) -> Reproduction:
    """Cycles and multipliers of its functions here, at its clock."""
    rows: list[dict[str, Any]] = []
    for robot in MORE_ROBOTS if full else ROBOTS:
        for function, name in FUNCTIONS.items():
            progress(f"{name} of {robot}")
            front = front_end(robot, functions=(function,), target=TARGET)
            plan = compile_core(front, progress).plan
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
            _compared(rows),
            "Measured: latency, interval and multipliers of the plans that generate writes, which "
            "simulate confirms bit by bit. The paper's: its text.\n"
            "What differs: its core has all seven functions at once, ours has one each here "
            "(rbdgen bench accelerators has them together); its words have 32 bits, ours 18; its "
            "clock was placed by Vivado, which no open tool does for this part, so that ours is "
            "borrowed; its times have the host's link in them, ours do not. Atlas stands for a "
            "humanoid; ours is another. Its ratios to CPUs and GPUs need those machines: "
            "rbdgen bench cpu has Pinocchio on this one.",
        ]
    )
    pictures = {
        "002-latency.svg": groups.picture("002: latency of one task at 125 MHz", "µs", bars)
    }
    numbers: dict[str, Any] = {"rows": rows, "clock MHz": CLOCK}
    return Reproduction(text, numbers, pictures)


def _compared(rows: list[dict[str, Any]]) -> str:
    own = next(row for row in rows if (row["robot"], row["function"]) == ("iiwa14", "ΔiFD"))
    return (
        f"ΔiFD of iiwa: {own['latency, cycles']} cycles here, 95 there; {own['multipliers']} "
        f"multipliers, {USED} there (for all functions); a task every {own['a task every']} "
        "cycles, there about 8 to 10 (inferred from its ratios)."
    )
