"""Pinocchio on one core of this machine, compiled here: what a user could run instead.

In two forms: templated, as its library is called; and generated, straight-line C by Pinocchio's
own code generation (CppADCodeGen). One function a program; compiling with -O3 -march=native.
"""

from __future__ import annotations

import hashlib
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from ..api.folder import InputError
from ..design.loading import load
from ..robot.canonical import merge_fixed
from ..robot.model import Array, JointKind, Robot, skew
from ..simulate.toolchain import in_cache
from ..system.cache import cached
from ..system.compiler import about, compile_with, find_compiler, processor
from ..system.data import data_folder
from ..system.stopping import run_child

Progress = Callable[[str], None]
FUNCTIONS = ("id", "did", "dfd")
TEMPLATED, GENERATED = "templated", "generated"
FORMS = (TEMPLATED, GENERATED)
PROCESSES = 5
FAST = ("-O3", "-march=native", "-DNDEBUG")
# Boost's limits are below the number of joint types that Pinocchio has.
HEADERS = (
    "-std=c++17",
    "-w",  # of headers that are not ours
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=10",
)
PACKAGES = ("pin", "cmeel-eigen", "cmeel-cppad", "cmeel-cppadcodegen")
RESIDUE = 1e-12  # of a placement's entries: what is nearer to 0, 1 or -1 is meant to be that
PROGRAM = "program"
Commands = Mapping[str, Sequence[str | Path]]


def pinocchio_nanoseconds(robots: Sequence[str]) -> dict[str, dict[str, float]]:
    """Robot → ns per call of ``id`` (rnea), ``did`` (computeRNEADerivatives): the faster form.

    Takes minutes of compilation the first time. Raises InputError where Pinocchio's headers are
    not installed; NoCompiler.
    """
    return {
        robot: {
            function: min(least({f: command(f, function, robot) for f in FORMS}).values())[0]
            for function in ("id", "did")
        }
        for robot in robots
    }


def least(commands: Commands, processes: int = PROCESSES) -> dict[str, tuple[float, ...]]:
    """The numbers that each program prints, each the least of several processes.

    The programs take turns, so that a busy minute is all of theirs.
    """
    found: dict[str, tuple[float, ...]] = {}
    for _ in range(processes):
        for name, own in commands.items():
            new = tuple(map(float, _said([str(word) for word in own]).split()))
            found[name] = tuple(map(min, found.get(name, new), new))
    return found


def command(
    form: str, function: str, robot: str, say: Progress = lambda _: None
) -> list[str | Path]:
    """What prints ns per call of a function of a robot on a fixed base, revolute and prismatic.

    InputError; NoCompiler, CompilerError; SimulationError where the cache cannot be written.
    """
    tree = _tree(load(robot)[1])
    if form == GENERATED:
        return [_generated(function, robot, tree, say)]
    place = _kept(f"pinocchio-tree-{_digest(tree)}", say, lambda work: _write(work, tree))
    return [_templated(function, say), place / "tree.txt"]


def _templated(function: str, say: Progress) -> Path:
    prefix, source = _prefix(), _folder() / "pinocchio_times.cpp"
    flags = [*FAST, *HEADERS, f"-D{function.upper()}", *_libraries(prefix)]
    what = f"Pinocchio's {function}, a minute"
    return _program(f"pinocchio-{function}", flags, source, say, what)


def _generator(say: Progress) -> Path:
    """The program that generates; its own speed is of no interest."""
    prefix, source = _prefix(), _folder() / "pinocchio_codegen.cpp"
    if not (prefix / "include" / "cppad" / "cg.hpp").is_file():
        raise InputError('no CppADCodeGen to generate Pinocchio with: pip install "rbdgen[dev]"')
    flags = ["-O0", "-DNDEBUG", *HEADERS, *_libraries(prefix), "-lcppad_lib"]
    what = "Pinocchio's code generation, two minutes and 4 GB"
    return _program("pinocchio-codegen", flags, source, say, what)


def _generated(function: str, robot: str, tree: str, say: Progress) -> Path:
    generator = _generator(say)
    of = _digest(f"{generator.parent.name} {function} {tree}")

    def make(work: Path) -> None:
        say(f"Pinocchio's {function} of {robot}, generated")
        _write(work, tree)
        _said([str(generator), function, str(work / "tree.txt"), str(work)])

    place = _kept(f"pinocchio-{function}-{of}", say, make)
    return _program(
        f"pinocchio-{function}",
        [*FAST, "-std=c++17"],
        _folder() / "generated_times.cpp",
        say,
        f"Pinocchio's {function} of {robot}, generated",
        [place / f"generated_{name}.c" for name in ("forward_zero", "info")],
    )


def _program(
    name: str,
    flags: Sequence[str],
    source: Path,
    say: Progress,
    what: str,
    parts: Sequence[Path] = (),
) -> Path:
    """A program of a source, and of parts in C, that is compiled once and kept."""
    compiler = find_compiler()
    texts = [file.read_text() for file in (source, *sorted(_folder().glob("*.hpp")), *parts)]
    of = _digest(repr((about(compiler), processor(), _versions(), flags, texts)))

    def make(work: Path) -> None:
        say(f"compiling {what}")
        objects = [str(work / f"{part.stem}.o") for part in parts]
        for part, target in zip(parts, objects, strict=True):
            compile_with([compiler, *FAST, "-x", "c", "-c", str(part), "-o", target])
        compile_with([compiler, str(source), *objects, *flags, "-o", str(work / PROGRAM)])

    return _kept(f"{name}-{of}", say, make) / PROGRAM


def _kept(name: str, say: Progress, make: Callable[[Path], None]) -> Path:
    with in_cache():
        return cached(name, make, say)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _versions() -> tuple[str, ...]:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            raise InputError(f'no {name} to compare with: pip install "rbdgen[dev]"') from None
    return tuple(found)


def _prefix() -> Path:
    _versions()
    return Path(sysconfig.get_path("purelib")) / "cmeel.prefix"


def _libraries(prefix: Path) -> list[str]:
    include, lib = prefix / "include", prefix / "lib"
    flags = [f"-I{include}", f"-I{include / 'eigen3'}", f"-L{lib}", f"-Wl,-rpath,{lib}"]
    return [*flags, "-lpinocchio_default"]


def _folder() -> Path:
    return data_folder("templates") / "bench"


def _said(own: Sequence[str]) -> str:
    """What a program prints; InputError with its first complaint."""
    done = run_child(own)
    if done.returncode:
        reason = (done.stderr.splitlines() or [f"exit status {done.returncode}"])[0]
        raise InputError(f"{Path(own[0]).parent.name}: {reason}")
    return done.stdout


def _write(work: Path, tree: str) -> None:
    (work / "tree.txt").write_text(tree)


def _tree(robot: Robot) -> str:
    """The robot as templates/bench/pinocchio_tree.hpp reads it.

    Residues of a URDF's angles become the zeros that they stand for: generated code, like ours,
    has no terms of them then.
    """
    lines = []
    for joint in merge_fixed(robot).joints:
        if joint.kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC):
            raise InputError(f"{robot.name}: Pinocchio is timed on a fixed base only")
        mass = joint.inertia.mass
        com = joint.inertia.h / mass
        inertia = joint.inertia.J + mass * skew(com) @ skew(com)
        numbers = [
            joint.parent + 1,
            *_plain(joint.axis),
            int(joint.kind is JointKind.PRISMATIC),
            *_plain(joint.placement.rotation).ravel(),
            *_plain(joint.placement.translation),
            mass,
            *com,
            *(inertia[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))),
        ]
        lines.append(" ".join(repr(float(x)) if isinstance(x, float) else str(x) for x in numbers))
    return "\n".join(lines) + "\n"


def _plain(entries: Array) -> Array:
    nearest = entries.round()
    return np.where(np.abs(entries - nearest) < RESIDUE, nearest, entries)
