"""The long measurements: each prints the numbers that README and docs/ quote.

``rbdgen bench`` lists them, ``rbdgen bench NAME …`` runs some, ``make bench`` all; ``functions``
stands for all that begin with it. Results lie in build/bench/NAME.json as well. Hours for all of
them on two cores, nearly all of it mapping, place and route.
"""

from __future__ import annotations

import json
import platform
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.api.cluster import Executor
from rbdgen.api.digests import FOLDER, compiler_digest
from rbdgen.api.parallel import in_parallel
from rbdgen.api.simulation import integer_errors
from rbdgen.compile.flow import compile_core, front_end
from rbdgen.design.coordinates import CoordinateError, brief
from rbdgen.draw.tables import table
from rbdgen.system.cache import cached_result
from rbdgen.system.progress import Progress
from rbdgen.system.signals import run_child

from .accelerators import accelerators
from .accuracy import accuracy
from .area import area_model
from .bit_exactness import exact_accelerators, exact_c, exact_hls
from .board import board
from .chains import chain_urdf
from .codesign import codesign
from .compiling import compiling
from .cpu import cpu
from .delays import delays
from .demo import HEAD, row
from .entry import entry
from .folding import fold_overhead, folded
from .functions import ROBOTS, all_functions, as_text, title
from .fuzz_packets import malformed
from .fuzz_urdf import mutated_robots
from .gpu import gpu
from .identities import saved
from .latency import latency, robots_folder
from .logarithmic import chains, logarithmic
from .loops import loops
from .mppi import mppi
from .names import TAKES, chosen
from .parameters import parameters
from .payload import payload
from .peers import beside_peers
from .programs import programs
from .proven import proven
from .ranges import ranges
from .reliability import reliability, vectors
from .rk4 import rk4
from .rounding import rounding
from .second_derivatives import second
from .tool_latency import tool

HERE = Path(__file__).parent
MILLION = 1_000_000
SEEDS = (1, 2, 3)
SIZES = (7, 30, 100)
FUNCTIONS = ("id", "m", "minv", "fd", "did", "dfd", "difd")
STATES = 3000


def bench(
    names: Sequence[str],
    place: Path,
    progress: Progress,
    executor: Executor | None = None,
    jobs: int = 1,
    only: Sequence[str] = (),
) -> dict[str, Any]:
    """Run the measurements called ``names``, or "all"; name → what it found.

    With an ``executor`` each is a job of its own, ``jobs`` at a time, whose result is kept in
    PLACE/kept: what was measured by the same rbdgen is not measured again. ``only``: robots, of
    measurements that take some one after another. UnknownMeasurement for a name that is none.
    """
    own = chosen(names, only)
    some: Mapping[str, Any] = {"only": only} if only else {}
    results = {}
    for name in own:
        api.check_place(place / f"{name}.json")
    if executor:
        return _in_jobs(own, place.absolute(), progress, executor, jobs)
    for name in own:
        print(f"\n== {name}: {_about(name)}\n", flush=True)
        results[name] = MEASUREMENTS[name](place, progress, **some)
        api.write_file(place / f"{name}.json", json.dumps(results[name], indent=2) + "\n")
    return results


def _in_jobs(
    names: Sequence[str], place: Path, progress: Progress, executor: Executor, jobs: int
) -> dict[str, Any]:
    def done(k: int, found: Mapping[str, Any]) -> None:
        print(f"\n== {names[k]}: {_about(names[k])}, {found['where']}\n\n{found['printed']}")
        api.write_file(place / f"{names[k]}.json", json.dumps(found["found"], indent=2) + "\n")

    inputs = [(name, place) for name in names]
    each = in_parallel(_measured, inputs, jobs, done, executor, _measured_before, progress)
    return {name: found["found"] for name, found in zip(names, each, strict=True)}


def _measured(name: str, place: Path) -> dict[str, Any]:
    """Where a measurement ran, what it printed, what it found; kept in PLACE/kept."""

    def compute() -> dict[str, Any]:
        with redirect_stdout(StringIO()) as printed:
            found = MEASUREMENTS[name](place / name, partial(print, file=sys.stderr, flush=True))
        where = f"on {platform.node()}"
        return {"where": where, "printed": printed.getvalue(), "found": found}

    made: dict[str, Any] = cached_result(place / "kept", f"bench-{name}", _of(name), compute)
    return made


def _measured_before(name: str, place: Path) -> dict[str, Any] | None:
    found: dict[str, Any] | None = cached_result(place / "kept", f"bench-{name}", _of(name), None)
    return found


def _of(name: str) -> str:
    given = f" {robots_folder()}" if name == "latency" else ""
    return f"{name}{given} {compiler_digest((*FOLDER, HERE))}"


def there_are() -> dict[str, dict[str, str]]:
    """Name of each measurement → ``about``: what it measures; ``takes``: how long on two cores."""
    return {name: {"about": _about(name), "takes": takes} for name, takes in TAKES.items()}


def listed() -> str:
    """The same as text."""
    rows = [[name, own["takes"], own["about"]] for name, own in there_are().items()]
    how = "rbdgen bench NAME … runs some, rbdgen bench all all but those of days: many hours"
    return f"{table(('name', 'takes about', 'what'), rows)}\n\n{how}"


def _about(name: str) -> str:
    return (MEASUREMENTS[name].__doc__ or "").splitlines()[0]


def scans(place: Path, progress: Progress) -> Any:
    """Errors of `rbdgen_host.parallel` on 2 to 256 links, worst of 64 states, beside ABA's."""
    from .scans import scans as measured  # which needs JAX

    return measured(place, progress)


def bits(place: Path, progress: Progress) -> Any:
    """A million random states of iiwa 14, every bit against the integer model."""
    api.generate("iiwa14", place / "iiwa14", progress, force=True)
    report = api.simulate(place / "iiwa14", MILLION, progress=progress)
    print(report.as_text())
    return report


def robots(place: Path, progress: Progress) -> Any:
    """Every shipped robot: generated, simulated, mapped to ECP5 cells and to UltraScale+."""
    results = {}
    rows = []
    for robot in ("pendulum", "gantry", "iiwa14", "hyq", "baxter", "humanoid"):
        folder = place / robot
        api.generate(robot, folder, progress, force=True, fit=False)
        simulation = api.simulate(folder, 10_000, progress=progress)
        mapped = api.synthesize(folder, progress=progress)
        rows.append(row(api.read_manifest(folder), simulation, mapped))
        results[robot] = {"simulation": simulation, "ecp5": mapped}
    print(table(HEAD, rows))
    return results


def xilinx(place: Path, progress: Progress) -> Any:
    """The same Verilog of iiwa 14 and HyQ mapped with synth_xilinx -family xcup."""
    results = {}
    for robot in ("iiwa14", "hyq"):
        api.generate(robot, place / robot, progress, force=True, fit=False)
        results[robot] = api.synthesize(place / robot, "xcup", progress=progress)
        print(results[robot]["text"])
    return results


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


def humanoid(place: Path, progress: Progress) -> Any:
    """Every function of the humanoid in the integer model, 18 bits: overflows and errors."""
    results = {}
    for function in FUNCTIONS:
        started = time.monotonic()
        core = compile_core(
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


def iiwa(place: Path, progress: Progress) -> Any:
    """iiwa 14 placed and routed on LFE5U-85F, speeds 6 and 8, three seeds."""
    return _placed("iiwa14", place, progress)


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


def growth(place: Path, progress: Progress) -> Any:
    """Time and memory of ``generate`` for chains of 7, 30 and 100 joints, and for iiwa 14."""
    rows = []
    for name, joints in [("iiwa14", 7), *((f"chain {n}", n) for n in SIZES)]:
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
        peak = after.ru_maxrss / 1024
        count = entry["operations"]
        rows.append(
            [name, count["mul"], count["mulc"], entry["latency"]]
            + [round(x, 1) for x in (seconds, busy)]
            + [round(peak)]
        )
    heads = ("robot", "mul", "mulc", "latency", "seconds", "CPU seconds", "MiB, largest so far")
    print(table(heads, rows))
    return rows


def _functions_of(robot: str, base: str) -> Callable[[Path, Progress], Any]:
    def measure(place: Path, progress: Progress) -> Any:
        result = all_functions(robot, base, place, progress)
        print(as_text(result))
        return result

    measure.__doc__ = f"Every function of {robot}, {base} base: cost, errors, widths, cells."
    return measure


MEASUREMENTS: dict[str, Callable[..., Any]] = {
    "cpu": cpu,
    "parameters": parameters,
    "payload": payload,
    "identities": saved,
    "second-derivatives": second,
    "rounding": rounding,
    "codesign": codesign,
    "compiling": compiling,
    "programs": programs,
    "bit-exactness-c": exact_c,
    "bit-exactness-hls": exact_hls,
    "bit-exactness-accelerators": exact_accelerators,
    "board": board,
    "gpu": gpu,
    "loops": loops,
    "mppi": mppi,
    "bits": bits,
    "ranges": ranges,
    "proven": proven,
    "accuracy": accuracy,
    "scans": scans,
    "growth": growth,
    "tool-latency": tool,
    "entry": entry,
    "robots": robots,
    "quadruped": quadruped,
    "humanoid": humanoid,
    "xilinx": xilinx,
    "iiwa": iiwa,
    "hyq": hyq,
    "folded": folded,
    "fold-overhead": fold_overhead,
    "accelerators": accelerators,
    "peers": beside_peers,
    "reliability": reliability,
    "fuzz-urdf": mutated_robots,
    "fuzz-packets": malformed,
    "vectors": vectors,
    "rk4": rk4,
    "delays": delays,
    "area-model": area_model,
    "logarithmic": logarithmic,
    "logarithmic-chains": chains,
    "latency": latency,
    **{f"functions-{title(*robot)}": _functions_of(*robot) for robot in ROBOTS},
}
