"""Functions on this machine's processor: ours in C++, beside Pinocchio's."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..api.compiled import DTYPES, Program, compiled
from ..api.errors import Error, Mismatch
from ..api.evaluation import checked
from ..api.folder import write_file
from ..api.reference import golden_model
from ..api.sampling import states
from ..codegen.interface import Interface
from ..design.loading import load
from ..draw.tables import markdown, table
from ..system.templates import render
from .pinocchio import FORMS, check_generated, command
from .timing import least, program

Progress = Callable[[str], None]
# Robot, base, function, states whose errors are taken: those of the golden model take longest.
CASES = (
    ("iiwa14", "fixed", "id", 100_000),
    ("iiwa14", "fixed", "did", 100_000),
    ("iiwa14", "fixed", "dfd", 100_000),
    ("hyq", "floating", "did", 100_000),
    ("humanoid", "floating", "dfd", 2_000),
)
CHUNK = 2_000  # states at a time
THREADS = 2
MANY = 100_000  # states of a large batch,
LARGEST = 1 << 28  # or as many as take so many bytes
BOUNDARIES = ("one", "blocks", "rows", "batch", "batch_threads")
HEAD = ("", "one state", "blocks", "rows", "float, blocks", "rows", *FORMS)
RATIOS = (
    *("", "one state by templated", "by generated", "blocks by templated", "by generated"),
    *("float by double", "rows by blocks", f"{THREADS} threads by one"),
    *("error, double", "float"),
)
LEGEND = (
    "ns a state: medians of 51 runs in CPU time, least of 5 processes in turn; sines included. Of "
    "one state at a time; of 256 in blocks, and in rows as C has arrays. Pinocchio: one state at "
    "a time, templated and generated (CppADCodeGen); all -O3 for this processor. Threads: batches "
    "of rows, wall time. Errors: the largest, by the largest entry of the golden model's array."
)


def cpu(place: Path, progress: Progress) -> Any:
    """Ours in C++ on this machine's processor, beside Pinocchio templated and code-generated."""
    results: dict[str, Any] = {}
    for robot, base, function, n in CASES:
        name = f"{robot}{' floating' * (base == 'floating')} {function}"

        def say(line: str, name: str = name) -> None:
            progress(f"{name}: {line}")

        choices: dict[str, Any] = {"base": base, "functions": (function,)}
        design, loaded = load(robot, **choices)
        programs = {kind: compiled(design, loaded, kind, say) for kind in DTYPES}
        commands = {kind: _timed(own, say) for kind, own in programs.items()}
        if base == "fixed":
            commands |= {form: command(form, function, robot, say) for form in FORMS}
            check_generated(function, robot, say)
        say("timed")
        found = least(commands)
        times = {kind: dict(zip(BOUNDARIES, found[kind], strict=True)) for kind in DTYPES}
        peers = {form: found[form][0] for form in FORMS if form in found}
        errors = _errors(robot, programs, n, choices, say)
        results[name] = {
            "ns": {**times, **peers},
            "errors": errors,
            "states": n,
            "facts": programs["cpp"].facts,
        }
    load_of = os.getloadavg()[1]
    machine = {"processor": _processor(), "cores": os.cpu_count(), "load": load_of}
    rows = [_times(name, result["ns"]) for name, result in results.items()]
    ratios = [_ratios(name, result) for name, result in results.items()]
    about = f"{LEGEND} {machine['processor']}, load {load_of:.1f}."
    print("\n\n".join([table(HEAD, rows), table(RATIOS, ratios), about]))
    text = "\n\n".join([markdown(HEAD, rows), markdown(RATIOS, ratios), about])
    write_file(place / "cpu.md", text + "\n")
    return {"machine": machine, "results": results}


def _times(name: str, ns: Mapping[str, Any]) -> list[Any]:
    double, single = ns["cpp"], ns["cpp32"]
    ours = [double["one"], double["blocks"], double["rows"], single["blocks"], single["rows"]]
    return [name, *(_three(x) for x in ours), *(_three(ns.get(form)) for form in FORMS)]


def _ratios(name: str, result: Mapping[str, Any]) -> list[Any]:
    ns = result["ns"]
    double, single = ns["cpp"], ns["cpp32"]
    by_peers = [ns[f] / double[kind] if f in ns else None for kind in BOUNDARIES[:2] for f in FORMS]
    others = [
        double["blocks"] / single["blocks"],
        double["rows"] / double["blocks"],
        double["batch"] / double["batch_threads"],
    ]
    errors = [f"{result['errors'][kind]:.1e}" for kind in DTYPES]
    return [name, *(_three(x) for x in (*by_peers, *others)), *errors]


def _three(value: float | None) -> float | str:
    """A number of three digits."""
    return "-" if value is None else float(f"{value:.3g}")


def _timed(own: Program, say: Progress) -> list[str | Path]:
    """What prints the times of a program of ours."""
    interface = own.interface
    arrays = (*interface.takes, *interface.gives)
    itemsize = own.library.dtype.itemsize
    text = render(
        "bench/states_times.cpp.jinja",
        name=own.name,
        sizes=[array.size for array in arrays],
        takes=len(interface.takes),
        arrays=len(arrays),
        many=min(MANY, LARGEST // (itemsize * sum(array.size for array in arrays))),
        **_inputs(interface),
    )
    suffix = "_f32" * (itemsize == 4)
    scalar = own.library.dtype.name.replace("float64", "double").replace("float32", "float")
    flags = ["-std=c++17", "-O2", f"-DSCALAR={scalar}", f"-DSUFFIX={suffix}", f"-I{own.folder}"]
    flags += [str(own.file), f"-Wl,-rpath,{own.file.parent}"]
    made = program(f"times-{own.file.parent.name}", flags, text, say, f"times of {own.name}")
    return [made, own.folder / "states.txt", str(THREADS)]


def _inputs(interface: Interface) -> dict[str, list[int]]:
    """Of each input of a block: which array, and which of its entries."""
    places = {array.name: k for k, array in enumerate(interface.takes)}
    entries = interface.inputs.values()
    return {
        "input_array": [places[entry.array] for entry in entries],
        "input_at": [entry.at for entry in entries],
    }


def _errors(
    robot: str, programs: Mapping[str, Program], n: int, choices: Mapping[str, Any], say: Progress
) -> dict[str, float]:
    """Of each precision the largest error, by the largest entry of its array."""
    sums: dict[str, dict[str, Error]] = {kind: {} for kind in programs}
    design, loaded = load(robot, **choices)
    for seed in range(-(-n // CHUNK)):
        if seed % 10 == 0:
            say(f"errors: {seed * CHUNK} of {n} states")
        arrays = checked(design, loaded, states(robot, min(CHUNK, n), seed, **choices))
        expected = golden_model(design, loaded, arrays)
        for kind, own in programs.items():
            for name, values in own(arrays).items():
                if not np.isfinite(values).all():
                    raise Mismatch(f"{own.name}, {kind}: {name} is not finite in every state")
                sums[kind].setdefault(name, Error()).add(values, expected[name])
    return {
        kind: max(error.report().max_relative for error in of.values()) for kind, of in sums.items()
    }


def _processor() -> str:
    """What the processor is called."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
