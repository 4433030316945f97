"""The dynamics of a package of ROS 2 beside KDL's, which controllers of ROS take for any robot."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Generator
from pathlib import Path

from rbdgen import api
from rbdgen.api.results import Mismatch
from rbdgen.system.compiler import compile_with, find_compiler
from rbdgen.system.quoting import Progress
from rbdgen.system.templates import render

from .cpu import processor
from .measurement import Row, measurement

RUNS = 400
CLOSE = 1e-9  # N·m, kg m²
CALLS = ("τ", "M", "C q̇", "g")
HEAD = ("robot", "call", "ours, ns", "KDL, ns", "gain", "largest difference")
CASES = (("iiwa14", "link_0", "link_7"),)  # robot, base, tip
KDL = Path("/usr/include/kdl"), Path("/usr/include/kdl_parser")
LIBRARIES = ("-lorocos-kdl", "-lkdl_parser")


def _legend() -> str:
    return (
        f"One state, of one core: the shortest of {RUNS} runs that alternate, g++ -O3 for any "
        f"processor. {processor()}, load {os.getloadavg()[1]:.1f}."
    )


@measurement("ros2", "a minute", HEAD, cases=lambda: CASES, legend=_legend, page=True)
def ros2(
    place: Path, progress: Progress, robot: str, base: str, tip: str
) -> Generator[Row, None, str | None]:
    """A package of ROS 2 beside KDL: τ, M, C q̇ and g of one state."""
    if not all(own.is_dir() for own in KDL):
        return "no KDL here: apt-get install liborocos-kdl-dev libkdl-parser-dev"
    progress(robot)
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as work:
        made = api.generate(robot, Path(work) / "made", to="cpp", functions=("id",))
        package, _ = api.package_ros2(made)
        name = made.manifest["name"]
        source = Path(work) / "times.cpp"
        source.write_text(
            render("bench/kdl_times.cpp.jinja", package=f"{name}_dynamics", runs=RUNS)
        )
        include = package / "include"
        folders = [f"-I{include}", f"-I{include / f'{name}_dynamics'}", "-I/usr/include/eigen3"]
        sources = [source, *sorted((package / "src").glob(f"{name}*.cpp"))]
        options = ["-std=c++17", "-O3", "-w", "-pthread", *folders]
        program = Path(work) / "times"
        files = [*map(str, sources), "-o", str(program), *LIBRARIES]
        compile_with([*find_compiler(), *options, *files])
        command = [str(program), str(made.folder / "robot.urdf"), base, tip]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    worst, *times = found.splitlines()
    if not float(worst) < CLOSE:
        raise Mismatch(f"{robot}: {worst} off from KDL")
    for call, line in zip(CALLS, times, strict=True):
        ours, theirs = map(float, line.split())
        yield robot, call, ours, theirs, round(theirs / ours, 1), worst
    return None
