"""Pinocchio on one core of this machine, compiled here: what a user could run instead."""

from __future__ import annotations

import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..api import InputError
from ..design.loading import load
from ..robot.canonical import merge_fixed
from ..robot.model import JointKind, Robot, skew
from ..system.data import data_folder
from ..system.stopping import run_child

# Boost's limits are below the number of joint types that Pinocchio has.
FLAGS = (
    "-std=c++17",
    "-O3",
    "-march=native",
    "-DNDEBUG",
    "-w",  # of headers that are not ours
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=10",
)


def pinocchio_nanoseconds(robots: list[str]) -> dict[str, dict[str, float]]:
    """Robot → ns per call of ``id`` (rnea), ``did`` (computeRNEADerivatives): medians of 21 runs.

    Takes a minute or two of compilation.

    Raises InputError where Pinocchio's headers (packages pin and cmeel-eigen) are not installed.
    """
    prefix = Path(sysconfig.get_path("purelib")) / "cmeel.prefix"
    include, lib = prefix / "include", prefix / "lib"
    if not (include / "pinocchio").is_dir() or not (include / "eigen3").is_dir():
        raise InputError('no Pinocchio to compare with: pip install "rbdgen[dev]"')
    with tempfile.TemporaryDirectory(prefix="rbdgen-cpu-") as name:
        program = Path(name) / "times"
        source = data_folder("templates") / "bench" / "pinocchio_times.cpp"
        command = ["g++", *FLAGS, f"-I{include}", f"-I{include / 'eigen3'}", str(source)]
        command += ["-o", str(program), f"-L{lib}", "-lpinocchio_default", f"-Wl,-rpath,{lib}"]
        _said(command)
        times: dict[str, dict[str, float]] = {}
        for robot in robots:
            tree = Path(name) / "tree.txt"
            tree.write_text(_tree(load(robot)[1]))
            numbers = map(float, _said([str(program), str(tree)]).split())
            times[robot] = dict(zip(("id", "did"), numbers, strict=True))
        return times


def _said(command: Sequence[str]) -> str:
    """What a tool prints; InputError with its first complaint."""
    done = run_child(command)
    if done.returncode:
        reason = (done.stderr.splitlines() or [f"exit status {done.returncode}"])[0]
        raise InputError(f"{Path(command[0]).name}: {reason}")
    return done.stdout


def _tree(robot: Robot) -> str:
    """The robot as templates/bench/pinocchio_times.cpp reads it."""
    lines = []
    for joint in merge_fixed(robot).joints:
        mass = joint.inertia.mass
        com = joint.inertia.h / mass
        inertia = joint.inertia.J + mass * skew(com) @ skew(com)
        numbers = [
            joint.parent + 1,
            *joint.axis,
            int(joint.kind is JointKind.PRISMATIC),
            *joint.placement.rotation.ravel(),
            *joint.placement.translation,
            mass,
            *com,
            *(inertia[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))),
        ]
        lines.append(" ".join(repr(float(x)) if isinstance(x, float) else str(x) for x in numbers))
    return "\n".join(lines) + "\n"
