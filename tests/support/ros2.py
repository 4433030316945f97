"""Packages of ROS 2 compiled against declarations of its interfaces, and their plugins called."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

from rbdgen import api

HERE = Path(__file__).parents[1] / "api"  # the declarations
EIGEN = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "include" / "eigen3"
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror")
PLUGINS = ("solver.cpp", "controller.cpp")
LATER = ("-DJAZZY", "-DHUMBLE")  # interfaces as they are from Jazzy on, and as they were
HEADERS = (
    "controller_interface/controller_interface.hpp",
    "inverse_dynamics_solver/exceptions.hpp",
    "inverse_dynamics_solver/inverse_dynamics_solver.hpp",
    "rclcpp/parameter.hpp",
    "rclcpp/rclcpp.hpp",
    "trajectory_msgs/msg/joint_trajectory_point.hpp",
    "urdf/model.h",
)
JOINTS = ("a'\" <b> & --> ]]> */ \\ ??/ {{7}}", "-slide: [x]", "turn #3")
FRICTION = ((0.3, 0.5), (0.0, 0.4), (0.2, 0.0))
EFFORTS = (30.0, None, 5.0)
STATES = 40
NAME = "arm_1_dynamics"


def urdf(joints: tuple[str, ...] = JOINTS, friction: bool = True) -> str:
    links = ["<link name='l0'/>"]
    for k, name in enumerate(joints):
        kind = ("revolute", "prismatic", "continuous")[k]
        damping, coulomb = FRICTION[k]
        own = f"<dynamics damping='{damping}' friction='{coulomb}'/>" if friction else ""
        effort = f"effort='{EFFORTS[k]}'" if EFFORTS[k] else ""
        links.append(
            f"<link name='l{k + 1}'><inertial><origin xyz='0.1 0.02 {0.1 * k}'/><mass value='2'/>"
            "<inertia ixx='0.02' ixy='0.001' ixz='0' iyy='0.03' iyz='0.002' izz='0.04'/>"
            f"</inertial></link><joint name={quoteattr(name)} type='{kind}'>"
            f"<parent link='l{k}'/><child link='l{k + 1}'/><origin xyz='0.3 0 0.1' rpy='0.3 0 0'/>"
            f"<axis xyz='0 {k % 2} {1 - k % 2}'/>{own}"
            f"<limit lower='-2' upper='2' velocity='3' {effort}/></joint>"
        )
    return f"<robot name='arm &lt;b&gt; &quot; -- */ {{{{7}}}}'>{''.join(links)}</robot>"


@dataclass(frozen=True)
class Package:
    """A package's robot, and its probes by what they were compiled for."""

    robot: Path
    probes: dict[str, Path]
    name: str = NAME

    def run(
        self, of: str, rows: Iterable[Iterable[float]] = (), later: str = LATER[0], **given: object
    ) -> Said:
        """What a plugin says of rows of numbers; parameters: strings, or lists."""
        words = [f"{self.name}::{of}"]
        for key, value in given.items():
            if isinstance(value, (tuple, list)):
                listed = "\x1f".join(map(str, value))
                mark = "" if key == "hardware" else "#" if isinstance(value[0], float) else ":"
                value = f"{mark}{listed}"
            words.append(f"{key.replace('__', '.')}={value}")
        text = "".join(" ".join(map(str, row)) + "\n" for row in rows)
        done = subprocess.run(
            [self.probes[later], *words], input=text, capture_output=True, text=True, check=False
        )
        return Said(done.returncode, done.stdout.splitlines(), done.stderr.strip())


@dataclass(frozen=True)
class Said:
    """A probe's exit code, the lines it printed, and what is wrong."""

    code: int
    lines: list[str]
    wrong: str

    def of(self, what: str) -> np.ndarray:
        """The numbers after a word, of all lines that begin with it."""
        assert not self.code, self.wrong
        own = [line.split()[1:] for line in self.lines if line.split()[0] == what]
        return np.array(own, float)

    def named(self, what: str) -> list[str]:
        return [line.removeprefix(f"{what} ") for line in self.lines if line.startswith(f"{what} ")]


def included(work: Path, what: str, names: Iterable[str]) -> None:
    """Headers of these names that include one of ours."""
    for header in names:
        (work / header).parent.mkdir(parents=True, exist_ok=True)
        (work / header).write_text(f'#include "{HERE / what}"\n')


def compiled(
    place: Path, name: str, work: Path, releases: Iterable[str] = LATER
) -> dict[str, Path]:
    """Probes of a package, all of whose own sources compile without a warning."""
    if not EIGEN.is_dir():
        pytest.skip("no Eigen: pip install cmeel-eigen")
    included(work, "ros2_declarations.hpp", HEADERS)
    included(work, "ros2_plugins.hpp", ("pluginlib/class_list_macros.hpp",))
    options = ["-std=c++17", "-O1", f"-I{place / 'include'}", f"-I{place / 'include' / name}"]
    options += [f"-I{work}", f"-I{HERE}", "-isystem", str(EIGEN)]

    def gcc(*arguments: str | Path) -> None:
        done = subprocess.run(["g++", *options, *arguments], capture_output=True, text=True)
        assert not done.returncode, done.stderr

    def compiled(source: Path, *more: str) -> Path:
        file = work / f"{source.stem}{''.join(more[1:2])}.o"
        gcc(*more, "-c", source, "-o", file)
        return file

    own = place / "src"
    functions = [f for f in sorted(own.glob("*.cpp")) if f.name not in PLUGINS]
    native = f"-D{functions[0].stem.upper()}_NATIVE"
    common = [compiled(file, native) for file in functions]
    common.append(compiled(own / "solver.cpp", "-trigraphs", LATER[0], *STRICT))
    probes = {}
    for later in releases:
        controller = compiled(own / "controller.cpp", "-trigraphs", later, *STRICT)
        probe = compiled(HERE / "ros2_probe.cpp", "-w", later, "-O0")
        probes[later] = work / f"probe{later}"
        gcc(*common, controller, probe, "-ldl", "-o", probes[later])
    return probes


def golden(package: Package, states: np.ndarray, **choices: object) -> np.ndarray:
    q, qd, qdd = np.moveaxis(states, 1, 0)
    arrays = {"q": q, "qd": qd, "qdd": qdd}
    return api.evaluate(package.robot, arrays, "golden", functions=("id",), **choices)["tau"]


READER = """
#include <cstdio>
#include <thread>
#include "latest.hpp"
struct Pair { long a = 0, b = 0; };
int main()
{
    const long last = 20000;
    NAMESPACE::Latest<Pair> latest;
    std::thread writer([&] { for (long i = 1; i <= last; ++i) latest.write({ i, -i }); });
    long before = 0, wrong = 0;
    for (Pair own; before < last;)
        if (latest.read(own)) {
            wrong += own.a + own.b != 0 || own.a <= before;
            before = own.a;
        }
    writer.join();
    Pair none;
    return wrong || latest.read(none);
}
"""
