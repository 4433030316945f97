"""Programs of many robots, beside the golden model: every robot of example-robot-data."""

from __future__ import annotations

import json
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen import api
from rbdgen.api.arrays import completed
from rbdgen.api.design_file import FOLDER, compiler_digest
from rbdgen.api.folder import write_folder
from rbdgen.api.native_programs import NativeProgram, ProgramKind
from rbdgen.api.programs import cpp_program
from rbdgen.api.reference import golden_model
from rbdgen.codegen.library import build
from rbdgen.compile.flow import front_end
from rbdgen.compile.samples import sample_states
from rbdgen.design.bounds import State
from rbdgen.design.design import Design
from rbdgen.design.loading import load
from rbdgen.draw.tables import table
from rbdgen.robot.model import Array, Robot, RobotError
from rbdgen.system.cache import cached_result
from rbdgen.system.compiler import about, find_compiler
from rbdgen.system.quoting import Progress

from .measurement import Rows, measurement

STATES, SEED = 17, 4  # two blocks, and one state alone
BASES = ("fixed", "floating")
# Gradients of forward dynamics come twice: from an effort, and from M⁻¹ given.
TOGETHER = (("id", "fd", "m", "minv", "did", "dfd"), ("difd",))
FLAGS = ("-std=c++17", "-O0", "-march=native", "-fPIC")
# Robots as they are to be read, where it is not by themselves.
CHOICES: Mapping[str, Mapping[str, Any]] = {
    "alex_psyonic_hands": {"mimic": "independent"},  # its fingers follow joints that are not there
}
# Of the largest entry.
WITHIN = 1e-10
# What M times an array makes, of those that have M⁻¹ in them.
EFFORTS = {"qdd": "tau", "dqdd_dq": "dtau_dq", "dqdd_dqd": "dtau_dqd", "Minv": None}
HEAD = (
    *("robot", "base", "coordinates", "functions"),
    *("largest difference", "in", "as effort", "s", "verdict"),
)
COUNTS = ("base", "rows", "right", "wrong", "refused", "nothing moves")
LARGEST = ("base", "array", "largest difference", "of", "largest as effort", "of")
LEGEND = (
    "Differences from the golden model, of the array's largest entry. As effort: of accelerations\n"
    "and M⁻¹ that differ by more than 1e-10, M times the difference, of M times the array and of\n"
    "the efforts that make it. Right: by 1e-10 at most, as effort where that is said."
)


@measurement("programs", "an hour", robots=lambda: {file.stem for file in example_robots()})
def programs(place: Path, progress: Progress, only: Sequence[str] = ()) -> Any:
    """C++ of every robot of example-robot-data, every function, both bases, beside golden."""
    rows: list[dict[str, Any]] = []
    shown = Rows(HEAD)
    for file in example_robots():
        if only and file.stem not in only:
            continue
        for base in BASES:
            for functions in TOGETHER:
                choices = {"base": base, **CHOICES.get(file.stem, {})}
                found = _row(place / "programs", file, functions, choices, progress)
                rows.append({"robot": file.stem, **choices, "functions": functions, **found})
                shown.add(_line(rows[-1]))
    shown.close(_summary(rows))
    return rows


def example_robots() -> Iterator[Path]:
    """The URDF files of the package example-robot-data; InputError where it is not installed."""
    share = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
    if not share.is_dir():
        raise api.InputError("no robots to try: pip install example-robot-data")
    yield from sorted(share.rglob("*.urdf"))


def _row(
    place: Path,
    file: Path,
    functions: Sequence[str],
    choices: Mapping[str, Any],
    progress: Progress,
) -> dict[str, Any]:
    """The row of a robot's functions, cached by its contents, or the reason why there is none."""
    verdict = "nothing moves"
    try:
        _, robot = load(str(file), snap=0.0, functions=tuple(functions), **choices)
        if robot.nv:
            made = compiler_digest(FOLDER), about(find_compiler()), FLAGS, STATES, SEED
            of = f"{json.dumps(asdict(robot), default=_plain)} {functions} {made}"
            found = cached_result(
                place, "robot", of, lambda: _found(file, functions, choices), progress
            )
            return {"coordinates": robot.nv, **found}
    except RobotError as error:
        verdict = f"refused: {str(error).removeprefix(f'{file.parent}/')}"
    return {"coordinates": 0, "apart": {}, "efforts": {}, "s": 0.0, "verdict": verdict}


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else str(value)


def _found(file: Path, functions: Sequence[str], choices: Mapping[str, Any]) -> dict[str, Any]:
    """The differences by array, of its largest entry; the seconds; a verdict."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as work:
        program = _compiled(file, functions, choices, Path(work))
        design, robot = program.design, program.robot
        state = completed(robot, sample_states(design, robot, STATES, SEED))
        wanted = golden_model(design, robot, state)
        differences = {name: own - wanted[name] for name, own in program(state).items()}
    apart = {
        name: _largest(own) / (_largest(wanted[name]) or 1.0) for name, own in differences.items()
    }
    far = [name for name, own in apart.items() if not own <= WITHIN]
    efforts = {
        name: _effort(design, robot, state, name, differences[name], wanted[name])
        for name in far
        if name in EFFORTS
    }
    right = all(efforts.get(name, apart[name]) <= WITHIN for name in far)
    return {
        "apart": apart,
        "efforts": efforts,
        "s": round(time.monotonic() - started, 1),
        "verdict": "right" if right else "wrong",
    }


def _effort(
    design: Design, robot: Robot, state: State, name: str, difference: Array, wanted: Array
) -> float:
    """The backward error of what was divided by M: how far off the efforts are that it is of.

    M times the difference, of the largest entry of M times the array's, and of the efforts'. An
    acceleration at 10000 rad/s is what efforts leave of each other that are a million times larger.
    """
    golden = golden_model(replace(design, functions=("m", "did")), robot, state)
    M, of = golden["M"], EFFORTS[name]
    effort = M @ (difference if difference.ndim == 3 else difference[..., None])
    size = _largest(M) * _largest(wanted) + (_largest(golden[of]) if of else 0.0)
    return _largest(effort) / (size or 1.0)


def _compiled(
    file: Path, functions: Sequence[str], choices: Mapping[str, Any], work: Path
) -> NativeProgram:
    """The functions in double, of the text that the driver compiles, without optimisations."""
    front = front_end(str(file), snap=0.0, functions=tuple(functions), **choices)
    folder = work / "made"
    write_folder(folder, cpp_program(front))
    entry = api.read_manifest(folder).program
    kind = ProgramKind("cpp")
    compiler = find_compiler()
    build(compiler, kind.dtype, folder, entry.name, work, lambda _: None, FLAGS, module=True)
    return NativeProgram(front.design, front.robot, folder, entry, work, kind)


def _largest(values: Array) -> float:
    """The largest entry, or infinity where one is no number."""
    largest = float(np.abs(values).max(initial=0.0))
    return largest if np.isfinite(largest) else np.inf


def _line(row: Mapping[str, Any]) -> list[Any]:
    apart, efforts = row["apart"], row["efforts"]
    worst = max(apart, key=apart.__getitem__, default="")
    known = (row["robot"], row["base"], row["coordinates"], ", ".join(row["functions"]))
    found = (_short(apart.get(worst)), worst or "-", _short(efforts.get(worst)))
    return [*known, *found, row["s"], row["verdict"][:90]]


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"


def _summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many of which verdict, and the largest differences of each array."""
    counts, largest = [], []
    for base in BASES:
        own = [row for row in rows if row["base"] == base]
        verdicts = [row["verdict"].partition(":")[0] for row in own]
        counts.append([base, len(own), *map(verdicts.count, COUNTS[2:])])
        for name in dict.fromkeys(name for row in own for name in row["apart"]):
            most = [_most(own, kind, name) for kind in ("apart", "efforts")]
            largest.append([base, name, *most[0], *most[1]])
    seconds = sum(row["s"] for row in rows)
    return (
        f"{table(COUNTS, counts)}\n\n{table(LARGEST, largest)}\n\n{LEGEND}\n"
        f"Rows are of a file and of functions that are compiled together; {seconds:.0f} s."
    )


def _most(rows: Sequence[Mapping[str, Any]], kind: str, name: str) -> tuple[str, str]:
    """The largest difference of an array, and whose it is."""
    of = [(row[kind][name], row["robot"]) for row in rows if name in row[kind]]
    value, robot = max(of, default=(None, "-"))
    return _short(value), robot
