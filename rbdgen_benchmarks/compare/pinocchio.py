"""Pinocchio on one core of this machine, compiled here: what a user could run instead.

In two forms: templated, as its library is called; and generated, straight-line C by Pinocchio's
own code generation (CppADCodeGen). One function a program; compiling with -O3 -march=native.
Portable is the generated one compiled with -O3 alone, for any processor of the kind.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.api.evaluation import checked
from rbdgen.api.folder import InputError
from rbdgen.api.recorded_states import states
from rbdgen.api.reference import golden_model
from rbdgen.api.results import Mismatch
from rbdgen.design.functions import GIVES, NEEDS
from rbdgen.design.loading import load
from rbdgen.golden import crba, minv
from rbdgen.graph.word import SYMMETRIC
from rbdgen.robot.canonical import merge_fixed
from rbdgen.robot.model import Array, JointKind, Robot, skew
from rbdgen.system.cache import cached, named
from rbdgen.system.quoting import Progress

from .timing import FAST, PLAIN, SOURCES, least, program, said

TEMPLATED, GENERATED, PORTABLE = "templated", "generated", "portable"
FORMS = (TEMPLATED, GENERATED)
# Boost's limits are below the number of joint types that Pinocchio has.
HEADERS = (
    "-std=c++17",
    "-w",  # of headers that are not ours
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=10",
)
PACKAGES = ("pin", "cmeel-eigen", "cmeel-cppad", "cmeel-cppadcodegen")
# Of each function, what the generated one gives; that many states of it are checked.
RESULTS = {
    "id": ("tau",),
    "did": ("dtau_dq", "dtau_dqd", "M"),
    "ddid": GIVES["ddid"],
    "dfd": ("dqdd_dq", "dqdd_dqd", "Minv"),
}
CHECKED = 5
WITHIN = 1e-9  # of the largest entry
KINDS = (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.FLOATING)
RESIDUE = 1e-12  # of a placement's entries: what is nearer to 0, 1 or -1 is meant to be that


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


def command(
    form: str, function: str, robot: str, say: Progress = lambda _: None, base: str = "fixed"
) -> list[str | Path]:
    """A command that prints the ns per call of a function, or its results for given inputs.

    InputError; NoCompiler, CompilerError; CacheError where the cache cannot be written.
    """
    tree = _tree(load(robot, base=base)[1])
    if form != TEMPLATED:
        flags = FAST if form == GENERATED else PLAIN
        return [_generated(function, f"{robot} {base}", tree, flags, say)]
    place = cached(named("pinocchio-tree", tree), lambda work: _write(work, tree), say)
    return [_templated(function, say), place / "tree.txt"]


def check(
    form: str, function: str, robot: str, say: Progress = lambda _: None, base: str = "fixed"
) -> None:
    """Mismatch where Pinocchio's function of a robot differs from the golden model."""
    choices: dict[str, Any] = {"base": base, "functions": (function,)}
    design, loaded = load(robot, **choices)
    arrays = checked(design, loaded, states(robot, CHECKED, **choices))
    expected = golden_model(design, loaded, arrays)
    expected |= {"M": crba(loaded, arrays["q"]), "Minv": minv(loaded, arrays["q"])}
    program = [str(word) for word in command(form, function, robot, say, base)]
    for k in range(CHECKED):
        numbers = np.concatenate([arrays[name][k] for name in NEEDS[function]])
        found = np.array(said([*program, *map(repr, numbers.tolist())]).split(), np.float64)
        for name, values in zip(
            RESULTS[function], np.split(found, len(RESULTS[function])), strict=True
        ):
            golden = expected[name][k]
            error = values.reshape(golden.shape) - golden
            if name in SYMMETRIC:  # of which Pinocchio fills one triangle
                error = np.triu(error)
            if not np.abs(error).max() <= WITHIN * np.abs(golden).max():
                raise Mismatch(f"Pinocchio's {function} of {robot}: {name} is not the golden one's")


def _templated(function: str, say: Progress) -> Path:
    prefix, source = _prefix(), _source("pinocchio_times.cpp")
    flags = [*FAST, *HEADERS, f"-D{function.upper()}", *_libraries(prefix)]
    what = f"Pinocchio's {function}, a minute"
    return program(f"pinocchio-{function}", flags, source, say, what)


def _generator(say: Progress) -> Path:
    """The program that generates; its own speed is of no interest."""
    prefix, source = _prefix(), _source("pinocchio_codegen.cpp")
    if not (prefix / "include" / "cppad" / "cg.hpp").is_file():
        raise InputError('no CppADCodeGen to generate Pinocchio with: pip install "rbdgen[dev]"')
    flags = ["-O0", "-DNDEBUG", *HEADERS, *_libraries(prefix), "-lcppad_lib"]
    what = "Pinocchio's code generation, two minutes and 4 GB"
    return program("pinocchio-codegen", flags, source, say, what)


def _generated(
    function: str, robot: str, tree: str, optimised: Sequence[str], say: Progress
) -> Path:
    generator = _generator(say)
    key = named(f"pinocchio-{function}", generator.parent.name, tree)

    def make(work: Path) -> None:
        say(f"Pinocchio's {function} of {robot}, generated")
        _write(work, tree)
        said([str(generator), function, str(work / "tree.txt"), str(work)])

    place = cached(key, make, say)
    return program(
        f"pinocchio-{function}",
        [*optimised, "-std=c++17"],
        (SOURCES / "generated_times.cpp").read_text("utf-8"),
        say,
        f"Pinocchio's {function} of {robot}, generated",
        [place / f"generated_{name}.c" for name in ("forward_zero", "info")],
        optimised,
    )


@cache
def _versions() -> tuple[str, ...]:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            raise InputError(f'no {name} to compare with: pip install "rbdgen[dev]"') from None
    return tuple(found)


def _source(name: str) -> str:
    """The text, which says of what versions of the packages the program is."""
    return f"// {', '.join(_versions())}\n{(SOURCES / name).read_text('utf-8')}"


def _prefix() -> Path:
    return Path(sysconfig.get_path("purelib")) / "cmeel.prefix"


def _libraries(prefix: Path) -> list[str]:
    include, lib = prefix / "include", prefix / "lib"
    flags = [f"-I{include}", f"-I{include / 'eigen3'}", f"-L{lib}", f"-Wl,-rpath,{lib}"]
    return [*flags, "-lpinocchio_default"]


def _write(work: Path, tree: str) -> None:
    (work / "tree.txt").write_text(tree, "utf-8")


def _tree(robot: Robot) -> str:
    """The robot as templates/bench/pinocchio_tree.hpp reads it.

    Residues of a URDF's angles become the zeros that they stand for: generated code, like ours,
    has no terms of them then.
    """
    lines = []
    for joint in merge_fixed(robot).joints:
        if joint.kind not in KINDS or joint.mimic is not None:
            raise InputError(f"{robot.name}: {joint.name}: Pinocchio is not timed with such joints")
        if not joint.drivetrain.is_zero:
            raise InputError(
                f"{robot.name}: {joint.name}: Pinocchio is timed with rigid bodies alone, and this "
                "joint has a rotor, damping or friction"
            )
        mass = joint.inertia.mass
        com = joint.inertia.h / mass
        inertia = joint.inertia.J + mass * skew(com) @ skew(com)
        numbers = [
            joint.parent + 1,
            *_plain(joint.axis),
            joint.kind.value,
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
