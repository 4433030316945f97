"""Crocoddyl's action model in C++ over our functions, beside its own, compiled with its wheels."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from rbdgen import api

HERE = Path(__file__).parent
SWINGER = HERE.parent / "robots" / "swinger.urdf"
WALKER = HERE.parent / "robots" / "walker.urdf"
FUNCTIONS = ("dfd", "minv")
PARTS = {"crocoddyl_rbdgen.hpp", "crocoddyl_costs_rbdgen.hpp", "crocoddyl_contacts_rbdgen.hpp"}
HEADERS = {"crocoddyl.hpp", *PARTS}
PREFIX = Path(sysconfig.get_path("purelib")) / "cmeel.prefix"
PROJECT = """\
cmake_minimum_required(VERSION 3.16)
project(values LANGUAGES C CXX)
set(CMAKE_CXX_FLAGS "-O1 -w")
find_package(crocoddyl REQUIRED)
add_library(functions {sources})
target_include_directories(functions PUBLIC {folders})
add_executable(values {here}/crocoddyl_values.cpp)
target_link_options(values PRIVATE LINKER:--disable-new-dtags)
target_link_libraries(values functions crocoddyl::crocoddyl pinocchio::pinocchio_parsers)
"""


def built(source: Path, target: str, build: Path) -> Path:
    """A program of CMake's, with the wheels' headers and libraries."""
    pytest.importorskip("crocoddyl", reason="crocoddyl is not installed: the extra solvers")
    if shutil.which("cmake") is None:
        pytest.skip("no cmake: apt-get install cmake")
    prepare = ["cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={PREFIX}"]
    for command in (prepare, ["cmake", "--build", build, "--target", target]):
        found = subprocess.run(command, capture_output=True, text=True)
        assert found.returncode == 0, found.stdout + found.stderr
    return build / target


@pytest.mark.parametrize(
    ("robot", "choices", "files"),
    [
        ("pendulum", {"functions": FUNCTIONS}, {*HEADERS, "crocoddyl_example.cpp"}),
        (str(SWINGER), {"functions": FUNCTIONS, "base": "floating"}, HEADERS),
        (
            str(SWINGER),
            {"functions": FUNCTIONS, "base": "floating", "external_forces": ("lower",)},
            HEADERS,
        ),
        ("pendulum", {"functions": ("dfd",)}, set()),
        ("pendulum", {"functions": FUNCTIONS, "payload": "lower_rod"}, set()),
        (
            str(SWINGER),
            {"functions": FUNCTIONS, "base": "floating", "base_link": "upper"},
            set(),
        ),
    ],
)
def test_what_is_written(robot: str, choices: dict, files: set[str], tmp_path: Path) -> None:
    """The model of functions that have what it takes, the example of bases that are fixed."""
    made = api.generate(robot, tmp_path / "made", to="cpp", **choices).folder
    found = {f.name.partition("minv_")[2] or f.name for f in made.glob("*crocoddyl*")}
    assert found == files
    assert all(name in (made / "README.md").read_text() for name in files)


@pytest.mark.slow
def test_an_arm_reaches_in_as_many_iterations(tmp_path: Path) -> None:
    """FDDP and BoxFDDP, by one thread and two: as many iterations as over crocoddyl's own model."""
    made = api.generate("iiwa14", tmp_path / "made", to="cpp", functions=FUNCTIONS).folder
    built(made, "iiwa14_dfd_minv_crocoddyl_example", tmp_path / "build")
    example = tmp_path / "build" / "crocoddyl_example"
    found = subprocess.run([example, made / "robot.urdf"], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    print(f"\n{found.stdout}")
    lines = re.findall(r"^(\w+) +(\S.*?) +\d threads? +(\d+) iterations", found.stdout, re.M)
    assert len(lines) == 8
    counts = {(solver, of): int(count) for solver, of, count in lines}
    for solver in ("FDDP", "BoxFDDP"):
        own, ours = (counts[solver, of] for of in ("crocoddyl's own", "iiwa14_dfd_minv"))
        assert own > 2 and abs(own - ours) <= 1


@pytest.mark.slow
def test_values_and_gradients(tmp_path: Path) -> None:
    """Of a floating base and joints without end, with q̈ from all functions and from ``fd``."""
    folders = [
        api.generate(
            str(SWINGER), tmp_path / name, to="cpp", functions=own, base="floating", name=name
        ).folder
        for name, own in (("swinger_dfd_minv", FUNCTIONS), ("swinger_fd", ("fd",)))
    ]
    held = {"external_forces": ("lower",), "base": "floating", "name": "swinger_held"}
    folders.append(
        api.generate(str(SWINGER), tmp_path / "held", to="cpp", functions=FUNCTIONS, **held).folder
    )
    sources = [str(file) for folder in folders for file in sorted(folder.glob("*.cpp"))]
    text = PROJECT.format(sources=" ".join(sources), folders=" ".join(map(str, folders)), here=HERE)
    (tmp_path / "CMakeLists.txt").write_text(text)
    values = built(tmp_path, "values", tmp_path / "build")
    found = subprocess.run([values, SWINGER, WALKER], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    *lines, refused = found.stdout.splitlines()
    apart = np.array([[float(word) for word in line.split()] for line in lines])
    assert apart.shape == (60, 6)
    assert apart.max() < 1e-9
    joints = "root_joint, shoulder, elbow"
    assert refused == f"swinger_dfd_minv: the model's joints are not the robot's: {joints}"
