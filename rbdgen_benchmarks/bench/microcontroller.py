"""C on microcontrollers, in integers and in float: bytes, stack, instructions of a call."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen import api
from rbdgen.api.folder import InputError
from rbdgen.api.results import Mismatch
from rbdgen.codegen.ilqr_c import TOLERANCE
from rbdgen.design.choices import REALS
from rbdgen.design.manifest import ProgramManifest
from rbdgen.system.quoting import Progress
from rbdgen.system.signals import run_child
from rbdgen.system.templates import data_folder, render

from .measurement import Row, measurement

CASES = (
    ("pendulum", "fixed", "id"),
    ("iiwa14", "fixed", "id"),
    ("iiwa14", "fixed", "did"),
    ("hyq", "floating", "id"),
)
GCC, QEMU, SIZE = "arm-none-eabi-gcc", "qemu-system-arm", "arm-none-eabi-size"
PACKAGES = "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm"
# A core: what compiles for it, and QEMU's board that has it.
CORES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "Cortex-M4F": (("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16"), "mps2-an386"),
    "Cortex-M7": (("-mcpu=cortex-m7", "-mfpu=fpv5-sp-d16"), "mps2-an500"),
}
FLAGS = ("-mthumb", "-mfloat-abi=hard", "-O2")
STATES, TIMES = 16, 20
SECONDS = 60
# no screen, and what the program says to its host goes to the output
ALONE = (
    *("-display", "none", "-serial", "none", "-monitor", "none", "-chardev", "stdio,id=out"),
    *("-semihosting-config", "enable=on,target=native,chardev=out"),
)
LEAST = 1e-6  # of an array's largest entry: an error of results in float that passes
HEAD = ("", "core", "numbers", "bytes of code", "of constants", "stack", "instructions a call")
LEGEND = (
    f"One state a call, by {GCC} {' '.join(FLAGS)}, for the core's own unit of single precision. "
    "Constants: those beside the code; others are in it. Stack: bytes of the deepest call, by "
    "-fcallgraph-info=su, without sinf and cosf, which are called beyond 10000 rad alone. "
    f"Instructions: executed, by {QEMU} -icount, the mean of {STATES} states within the limits, "
    "whose results are checked; cycles are more."
)


@measurement(
    "microcontroller",
    "a minute",
    HEAD,
    cases=lambda: CASES,
    legend=LEGEND,
    page=True,
    robots=lambda: {robot for robot, *_ in CASES},
)
def microcontroller(
    place: Path, progress: Progress, robot: str, base: str, function: str
) -> Iterator[Row]:
    """C in integers and in float on Cortex-M4F and M7: bytes, stack, instructions of a call."""
    refuse_missing()
    name = f"{robot}{', floating' * (base == 'floating')}, {function}"
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as work:
        for real in REALS:
            progress(f"{name}: C, {real}")
            choices: dict[str, Any] = {"base": base, "functions": (function,), "real": real}
            made = api.generate(robot, Path(work) / real, to="c", **choices)
            for core in CORES:
                yield [name, core, real, *measured(made.folder, core)]


CONTROLLERS = (
    ("iiwa14", 32, "float", "Cortex-M4F", ()),
    ("iiwa14", 32, "float", "Cortex-M7", ()),
    ("iiwa14", 32, "double", "Cortex-M7", ("-mfpu=fpv5-d16",)),
)
MPC_HEAD = (
    *("", "knots", "core", "numbers", "bytes of code", "of constants", "of a solver", "stack"),
    *("iterations", "instructions an iteration"),
)
MPC_LEGEND = (
    "A motion of all joints by 0.5 rad, from an empty plan, until it has converged. Double: with a "
    "unit of double precision. The rest as in `bench microcontroller`."
)


@measurement(
    "microcontroller-mpc", "a minute", MPC_HEAD, cases=lambda: CONTROLLERS, legend=MPC_LEGEND
)
def predictive(
    place: Path,
    progress: Progress,
    robot: str,
    knots: int,
    real: str,
    core: str,
    more: tuple[str, ...],
) -> Iterator[Row]:
    """Model predictive control in C on Cortex-M4F and M7: bytes, instructions of an iteration."""
    refuse_missing()
    progress(f"{robot}: {knots} knots in {real} on {core}")
    choices: dict[str, Any] = {"controller": "ilqr", "knots": knots}
    if real == "float":
        choices["real"] = real
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as work:
        folder = api.generate(robot, Path(work) / real, to="c", **choices).folder
        entry = api.read_manifest(folder).program
        tolerance, slack = TOLERANCE[real]
        values = {"name": entry.name, "tolerance": tolerance, "slack": slack}
        calls = render("bench/microcontroller_mpc.c.jinja", **values)
        sizes, stack, (taken, iterations, wrong) = _run(
            folder, core, calls, f"{entry.name}_solve", more
        )
    if wrong:
        raise Mismatch(f"{entry.name} on {core}: it has not converged")
    size = entry.facts["bytes"]
    yield [robot, knots, core, real, *sizes, size, stack, iterations, round(taken / iterations)]


def refuse_missing() -> None:
    """InputError where a tool is not installed."""
    for tool in (GCC, QEMU):
        if shutil.which(tool) is None:
            raise InputError(f"no {tool} (Debian: apt-get install {PACKAGES})")


def measured(folder: Path, core: str) -> list[int]:
    """Bytes of code, of constants and of stack, and instructions of a call, of a folder of C.

    Mismatch where a result is not what its folder expects.
    """
    name = api.read_manifest(folder).program.name
    sizes, stack, (taken, wrong) = _run(folder, core, _harness(folder), name)
    if wrong:
        raise Mismatch(f"{name} on {core}: {wrong} results are not those expected")
    return [*sizes, stack, round(taken / (STATES * TIMES))]


def _run(
    folder: Path, core: str, calls: str, function: str, more: Sequence[str] = ()
) -> tuple[tuple[int, int], int, list[int]]:
    """Bytes of code and of constants, of a ``function``'s stack, and what a program that ``calls``
    it prints. ``more``: the compiler's options besides the core's."""
    flags, board = CORES[core]
    name = api.read_manifest(folder).program.name
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as temporary:
        work = Path(temporary)
        (work / "calls.c").write_text(calls, "utf-8")
        compiler = [GCC, *FLAGS, *flags, *more, f"-I{folder}"]
        object_file, program = str(work / "made.o"), str(work / "calls.elf")
        said([*compiler, "-fcallgraph-info=su", "-c", folder / f"{name}.c", "-o", object_file])
        memory = data_folder("templates") / "bench/microcontroller.ld"
        parts = [str(work / "calls.c"), object_file, "-lm", "-lc", "-lgcc"]
        said([*compiler, "-nostartfiles", "-T", memory, *parts, "-o", program])
        sizes = sections(said([SIZE, "-A", object_file]))
        stack = deepest((work / "made.ci").read_text("utf-8"), function)
        emulator = [QEMU, "-M", board, "-icount", "shift=0", *ALONE, "-kernel", program]
        printed = said(["timeout", str(SECONDS), *emulator]).split()
    return sizes, stack, [int(word) for word in printed]


def said(command: Sequence[str | Path]) -> str:
    """The output of a command; InputError with the first line of its complaint."""
    done = run_child([str(word) for word in command])
    if done.returncode:
        reason = (done.stderr.splitlines() or [f"exit status {done.returncode}"])[0]
        raise InputError(f"{command[0]}: {reason}")
    return done.stdout


def sections(text: str) -> tuple[int, int]:
    """Bytes of code, and of constants beside it, of what `SIZE` prints of an object."""
    rows = [line.split() for line in text.splitlines() if line.startswith(".")]
    code, constants = (
        sum(int(row[1]) for row in rows if row[0].startswith(own)) for own in (".text", ".rodata")
    )
    return code, constants


def deepest(graph: str, function: str) -> int:
    """Bytes of stack of a function and of what it calls, of a call graph as GCC writes it."""
    node = re.compile(r'node: \{ title: "([^"]*)" label: "[^"]*?(\d+) bytes')
    own = {title: int(size) for title, size in node.findall(graph)}
    edges = re.findall(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"', graph)

    def below(title: str) -> int:
        called = {to for source, to in edges if source == title}
        return own.get(title, 0) + max(map(below, called), default=0)

    return below(function)


def _harness(folder: Path) -> str:
    """The program that calls the function in a folder."""
    entry = api.read_manifest(folder).program
    values = _in_float(folder, entry) if entry.facts.get("real") else _in_words(folder, entry)
    return render(
        "bench/microcontroller.c.jinja",
        name=entry.name,
        taken=len(values["states"][0]),
        given=len(values["expected"][0]),
        times=TIMES,
        calls=STATES * TIMES,
        **values,
    )


def _in_float(folder: Path, entry: ProgramManifest) -> dict[str, Any]:
    """States and results as literals, and how far each of these may be off."""
    states, expected = _rows(folder / "states.txt"), _rows(folder / "expected.txt")
    takes, gives = (
        (arrays, np.cumsum([array.size for array in arrays]))
        for arrays in (entry.interface.takes, entry.interface.gives)
    )
    arguments = [
        f"{where} + {end - array.size}"
        for where, (arrays, ends) in (("in[k]", takes), ("out", gives))
        for array, end in zip(arrays, ends, strict=True)
    ]
    within = max(LEAST, 2 * entry.facts["float"]["alone"])
    of_arrays = np.split(np.abs(expected).max(axis=0), gives[1][:-1])
    return {
        "type": "float",
        "states": [[f"{x!r}F" for x in row] for row in states.tolist()],
        "expected": [[f"{x!r}F" for x in row] for row in expected.tolist()],
        "apart": [f"{within * float(own.max())!r}F" for own in of_arrays for _ in own],
        "flags": 0,
        "arguments": ", ".join(arguments),
    }


def _in_words(folder: Path, entry: ProgramManifest) -> dict[str, Any]:
    """The same of words, which are to be equal."""
    (facts,) = entry.facts["functions"]
    outputs = len(facts["outputs"])
    states, expected = _rows(folder / "words.txt"), _rows(folder / "expected_words.txt")
    return {
        "type": entry.facts["word"],
        "states": states.astype(np.int64).tolist(),
        "expected": expected[:, :outputs].astype(np.int64).tolist(),
        "apart": ["0"] * outputs,
        "flags": facts["flags"],
        "arguments": "in[k], out, flags",
    }


def _rows(file: Path) -> NDArray[np.float64]:
    """The first states of a file, which are within the limits; words of up to 53 bits are exact."""
    return np.loadtxt(file, ndmin=2)[:STATES]
