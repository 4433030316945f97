"""Functions on this machine's processor: ours in C++, beside Pinocchio's."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.api.evaluation import checked, graph_model
from rbdgen.api.folder import write_file
from rbdgen.api.native_programs import DTYPES, NativeProgram, compiled
from rbdgen.api.reference import golden_model
from rbdgen.api.results import Mismatch, entries_of, portions
from rbdgen.compile.flow import Front, front_end
from rbdgen.compile.samples import accuracy_of, sample_states
from rbdgen.design.coordinates import CoordinateError, brief, coordinate_errors
from rbdgen.design.loading import load
from rbdgen.draw.tables import markdown, table
from rbdgen.graph.accuracy import REPORTED, SCALES, Accuracy
from rbdgen.system.cache import cached_result
from rbdgen.system.quoting import Progress
from rbdgen.system.records import plain

from ..compare.integer_errors import worst_of_scales
from ..compare.pinocchio import FORMS, PORTABLE, check, command
from ..compare.ports import Ports, binding, ports
from ..compare.timing import Command, least, read
from ..compare.timing import command as times_command
from .measurement import Rows, measurement

# Robot, base, function, Pinocchio's forms.
PEERS = (*FORMS, PORTABLE)
CASES = (
    ("iiwa14", "fixed", "id", PEERS),
    ("iiwa14", "fixed", "did", PEERS),
    ("iiwa14", "fixed", "dfd", PEERS),
    ("hyq", "floating", "did", PEERS),
    ("hyq", "floating", "dfd", PEERS),
    ("humanoid", "floating", "dfd", FORMS[:1]),
)
STATES = 100_000  # whose errors are taken
CHUNK = 2_000  # states at a time
GOLDEN = "golden"
THREADS = 2
FEW = 256  # states of a batch that stays in the cache
MANY = 100_000  # states of a large batch,
LARGEST = 1 << 28  # or as many as take so many bytes
BOUNDARIES = ("one", "blocks", "rows", "batch", "batch_threads", "zeros")
HEAD = ("", "one state", "blocks", "rows", "zeros", "float, blocks", "rows", *PEERS)
RATIOS = (
    *("", "one state by templated", "by generated", "by portable"),
    *("blocks by templated", "by generated", "by portable"),
    *("float by double", "rows by blocks", f"{THREADS} threads by one"),
    *("error, double", "float", "golden model"),
)
PORTS = "ports"
BINDING = (
    *("", "a block: instructions", "products", "sums", "of the stack", "kB of code"),
    *("one state: kB of code", "a block: instructions a cycle", "of the port bound"),
)
PORT_BOUND = (
    "A block is of 8 states of double. Products are fused or not. Of the port bound: as many "
    "products and sums of registers as this processor starts in a cycle: {}. Other operations of "
    "registers, values on the stack, code that is read from beyond the first cache, and chains of "
    "operations take the rest."
)
LEGEND = (
    "ns a state: medians of 5 to 51 runs in CPU time, least of 5 processes in turn; sines "
    "included. Of one state at a time; of 256 in blocks, and in rows as C has arrays; zeros: "
    "written over the rows that come out, and nothing else. Pinocchio: one state at a time, "
    "templated and generated (CppADCodeGen); all -O3 for this processor, portable is the generated "
    "one with -O3 alone. "
    "Threads: batches of rows, wall time. Errors: RMS of the coordinate that is off most, by its "
    f"own, {SCALES[0].name} | {SCALES[1].name}, of states as the program has them, in double or in "
    "float; beside the graph in longer floats, "
    f"of {np.finfo(np.longdouble).nmant + 1} bits, as are those of the golden model in double."
)


@measurement("cpu", "an hour", robots=lambda: {robot for robot, *_ in CASES})
def cpu(place: Path, progress: Progress, only: Sequence[str] = ()) -> Any:
    """Ours in C++ on this machine's processor, beside Pinocchio templated and code-generated."""
    results: dict[str, Any] = {}
    rows, bound = Rows(HEAD), list[list[Any]]()
    for robot, base, function, forms in CASES:
        if only and robot not in only:
            continue
        name = f"{robot}{' floating' * (base == 'floating')} {function}"

        def say(line: str, name: str = name) -> None:
            progress(f"{name}: {line}")

        choices: dict[str, Any] = {"base": base, "functions": (function,)}
        design, loaded = load(robot, **choices)
        programs = {kind: compiled(design, loaded, kind, say) for kind in DTYPES}
        commands: dict[str, Command] = {
            kind: times_command(own, _sizes(own), THREADS, say) for kind, own in programs.items()
        }
        for form in forms:
            commands[form] = command(form, function, robot, say, base)
            check(form, function, robot, say, base)
        commands[PORTS] = ports(say)
        say("timed")
        found = least(commands)
        times = {kind: _ours(own, found[kind]) for kind, own in programs.items()}
        peers = {form: found[form][0] for form in forms}
        made = f"{[str(own.file) for own in programs.values()]} {STATES} {CHUNK}"
        compare = partial(errors_of, front_end(robot, **choices), programs, STATES, say)
        errors = cached_result(place / "kept", "worst", made, compare, say)
        results[name] = {
            "ns": {**times, **peers},
            "errors": errors,
            "states": STATES,
            "facts": programs["cpp"].facts,
        }
        if counts := binding(programs["cpp"].file):
            here = Ports.measured(found[PORTS])
            results[name] |= {"binding": asdict(counts), "ports": asdict(here)}
            bound.append([name, *counts.row(times["cpp"]["blocks"], here)])
        rows.add(_times(name, results[name]["ns"]))
    load_of = os.getloadavg()[1]
    machine = {"processor": processor(), "cores": os.cpu_count(), "load": load_of}
    ratios = [_ratios(name, result) for name, result in results.items()]
    about = f"{LEGEND} {machine['processor']}, load {load_of:.1f}."
    binds = [markdown(BINDING, bound), PORT_BOUND.format(here)] if bound else []
    rows.close("\n\n".join([table(RATIOS, ratios), about, *binds]))
    text = "\n\n".join([markdown(HEAD, rows.rows), markdown(RATIOS, ratios), about, *binds])
    write_file(place / "cpu.md", text + "\n")
    return {"machine": machine, "results": results}


def _times(name: str, ns: Mapping[str, Any]) -> list[Any]:
    double, single = ns["cpp"], ns["cpp32"]
    ours = [double[own] for own in ("one", "blocks", "rows", "zeros")]
    ours += [single["blocks"], single["rows"]]
    return [name, *(_three(x) for x in ours), *(_three(ns.get(form)) for form in PEERS)]


def _ratios(name: str, result: Mapping[str, Any]) -> list[Any]:
    ns = result["ns"]
    double, single = ns["cpp"], ns["cpp32"]
    by_peers = [ns[f] / double[kind] if f in ns else None for kind in BOUNDARIES[:2] for f in PEERS]
    others = [
        double["blocks"] / single["blocks"],
        double["rows"] / double["blocks"],
        double["batch"] / double["batch_threads"],
    ]
    errors = [
        brief(map(CoordinateError.from_json, result["errors"][kind])) for kind in (*DTYPES, GOLDEN)
    ]
    return [name, *(_three(x) for x in (*by_peers, *others)), *errors]


def _three(value: float | None) -> float | str:
    """A number of three digits."""
    return "-" if value is None else float(f"{value:.3g}")


def _sizes(own: NativeProgram) -> tuple[int, int]:
    """The sizes of a batch that stays in the cache, and of a large one."""
    arrays = (*own.interface.takes, *own.interface.gives)
    bytes_of_one = own.library.dtype.itemsize * sum(array.size for array in arrays)
    return FEW, min(MANY, LARGEST // bytes_of_one)


def _ours(own: NativeProgram, numbers: Sequence[float]) -> dict[str, float]:
    """The times that a program's command printed, by `BOUNDARIES`."""
    few, many = _sizes(own)
    found = read(numbers, (few, many))
    some, all_of = found.of[few], found.of[many]
    ours = found.one, some.blocks, some.rows, all_of.wall, all_of.threads, some.zeros
    return dict(zip(BOUNDARIES, ours, strict=True))


def errors_of(
    front: Front, programs: Mapping[str, NativeProgram], n: int, say: Progress
) -> dict[str, Any]:
    """Errors of the worst coordinates for each precision, as JSON, and those of `GOLDEN`.

    What they are compared with is given what the program is: rounding q to float alone moves q̈
    more than all that is computed from it does. It is the graph in longer floats, since the golden
    model's own rounding may be as large as ours. Half of the states are at the limits. Mismatch
    where a result is not finite.
    """
    sums: dict[str, Accuracy] = {}
    design, robot = front.design, front.robot

    def add(kind: str, scale: int, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
        for name, values in found.items():
            if not np.isfinite(values).all():
                raise Mismatch(f"{robot.name}, {kind}: {name} is not finite in every state")
        arrays = [(name, own, expected[name]) for name, own in found.items() if name in expected]
        own = sums.setdefault(kind, accuracy_of(design, front.canonical))
        own.add(scale, *entries_of(arrays, front.graph.outputs, design, robot))

    for scale, count in enumerate(portions(n)):
        for seed in range(-(-count // CHUNK)):
            if seed % 10 == 0:
                say(f"errors {REPORTED[scale].name}: {seed * CHUNK} of {count} states")
            share, size = REPORTED[scale].share, min(CHUNK, count)
            state = sample_states(design, robot, size, [seed, scale], share=share)
            arrays = checked(design, robot, state)
            for kind, own in programs.items():
                scalar = own.library.dtype
                given = {k: x.astype(scalar).astype(np.float64) for k, x in arrays.items()}
                expected = graph_model(front, given, np.longdouble)
                add(kind, scale, own(given), expected)
                if scalar == np.float64:
                    add(GOLDEN, scale, golden_model(design, robot, given), expected)
    return {
        kind: plain(worst_of_scales(coordinate_errors(design, front.canonical, own)))
        for kind, own in sums.items()
    }


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
