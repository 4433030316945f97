"""Shipped robots' designs as they come: simulated, mapped, placed, and how the compiler grows."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.coordinates import CoordinateError, brief
from rbdgen.draw.tables import table
from rbdgen.system.quoting import Progress
from rbdgen.system.signals import run_child

from ..compare.integer_errors import integer_errors
from .chains import chain_urdf
from .demo import HEAD, row
from .measurement import Row, measurement

MILLION = 1_000_000
SEEDS = (1, 2, 3)
SIZES = (7, 30, 100)
FUNCTIONS = ("id", "m", "minv", "fd", "did", "dfd", "difd")
STATES = 3000
ROBOTS = ("pendulum", "gantry", "iiwa14", "hyq", "baxter", "humanoid")
GROWTH = ("robot", "mul", "mulc", "latency", "seconds", "CPU seconds", "MiB, largest so far")


@measurement("bits", "minutes")
def bits(place: Path, progress: Progress) -> Any:
    """A million random states of iiwa 14, every bit against the integer model."""
    api.generate("iiwa14", place / "iiwa14", progress, force=True)
    report = api.simulate(place / "iiwa14", MILLION, progress=progress)
    print(report.as_text())
    return report


@measurement("robots", "an hour", HEAD, cases=lambda: [(robot,) for robot in ROBOTS])
def robots(place: Path, progress: Progress, robot: str) -> Iterator[Row]:
    """Every shipped robot: generated, simulated, mapped to ECP5 cells and to UltraScale+."""
    folder = place / robot
    api.generate(robot, folder, progress, force=True, fit=False)
    simulation = api.simulate(folder, 10_000, progress=progress)
    mapped = api.synthesize(folder, progress=progress)
    yield row(api.read_manifest(folder), simulation, mapped)


@measurement("quadruped", "an hour")
def quadruped(place: Path, progress: Progress) -> Any:
    """Every function of HyQ on a floating base, 18 bits, simulated: every bit, its errors."""
    results = {}
    for function in FUNCTIONS:
        folder = place / f"hyq_floating_{function}"
        started = time.monotonic()
        api.generate(
            "hyq",
            folder,
            progress,
            True,
            base="floating",
            functions=(function,),
            width=18,
            fit=False,
        )
        report = api.simulate(folder, STATES, progress=progress)
        results[function] = report
        print(_line(function, report, started), flush=True)
    return results


@measurement("humanoid", "minutes")
def humanoid(place: Path, progress: Progress) -> Any:
    """Every function of the humanoid in the integer model, 18 bits: overflows and errors."""
    results = {}
    for function in FUNCTIONS:
        started = time.monotonic()
        core = compile_front(
            front_end("humanoid", functions=(function,), width=18, fit=False), progress
        )
        report = integer_errors(core, STATES).to_json()
        results[function] = report
        print(_line(function, report, started), flush=True)
    return results


def _line(function: str, report: dict[str, Any], started: float) -> str:
    """A line of a function's simulation: worst coordinates at the limits | at a tenth."""
    worst = brief(map(CoordinateError.from_json, report["coordinates"]))
    return (
        f"{function:<5} {report['states']} states, {report['overflows']} overflow, latency "
        f"{report['latency']}, worst {worst}; {time.monotonic() - started:.0f} s"
    )


@measurement("xilinx", "an hour")
def xilinx(place: Path, progress: Progress) -> Any:
    """The same Verilog of iiwa 14 and HyQ mapped with synth_xilinx -family xcup."""
    results = {}
    for robot in ("iiwa14", "hyq"):
        api.generate(robot, place / robot, progress, force=True, fit=False)
        results[robot] = api.synthesize(place / robot, "xcup", progress=progress)
        print(results[robot]["text"])
    return results


@measurement("iiwa", "hours")
def iiwa(place: Path, progress: Progress) -> Any:
    """iiwa 14 placed and routed on LFE5U-85F, speeds 6 and 8, three seeds."""
    return _placed("iiwa14", place, progress)


@measurement("hyq", "hours")
def hyq(place: Path, progress: Progress) -> Any:
    """HyQ placed and routed on LFE5U-85F, speeds 6 and 8, three seeds."""
    return _placed("hyq", place, progress)


def _placed(robot: str, place: Path, progress: Progress) -> Any:
    folder = place / robot
    api.generate(robot, folder, progress, force=True, fit=False)
    simulation = api.simulate(folder, 1000, progress=progress)
    result = api.synthesize(
        folder, place_and_route=True, speeds=(6, 8), seeds=SEEDS, progress=progress
    )
    print(
        result["text"] + "\n\n" + table(HEAD, [row(api.read_manifest(folder), simulation, result)])
    )
    return {"simulation": simulation, "synthesis": result}


def _chains() -> list[tuple[str, int]]:
    return [("iiwa14", 7), *((f"chain {n}", n) for n in SIZES)]


@measurement("growth", "minutes", GROWTH, cases=_chains)
def growth(place: Path, progress: Progress, name: str, joints: int) -> Iterator[Row]:
    """Time and memory of ``generate`` for chains of 7, 30 and 100 joints, and for iiwa 14."""
    robot = name
    if name.startswith("chain"):
        file = place / f"chain{joints}.urdf"
        api.write_file(file, chain_urdf(joints))
        robot = str(file)
    command = [sys.executable, "-m", "rbdgen", "generate", robot, "-o", str(place / "growth")]
    command.append("--force")
    progress(" ".join(command[1:]))
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    if (done := run_child(command)).returncode:
        raise api.InputError(done.stderr.strip().splitlines()[-1])
    seconds, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    entry = api.read_manifest(place / "growth")
    count, peak = entry["operations"], round(after.ru_maxrss / 1024)
    cost = [count["mul"], count["mulc"], entry["latency"]]
    yield [name, *cost, round(seconds, 1), round(busy, 1), peak]
