"""The folder of a program, and packages made of a folder of C++: for pip, and for ROS 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..codegen.interface import (
    Array,
    ArrayEntry,
    ArrayInterface,
    Coordinates,
    JointCoordinates,
)
from ..compile.front import Front
from ..design.arrays import all_gives, counts, given_coordinates, is_loaded, is_pushed, needs
from ..design.design import Design, no_defaults
from ..design.functions import OF_CONTACTS, REFERRED
from ..design.limits import known_limits
from ..design.manifest import ProgramManifest
from ..dynamics.interface import FOLLOWED, WRENCH, place_of_input, places_of_output
from ..graph.word import PARAMETER, kind_of, shape_of
from ..robot.angles import endless
from ..robot.variations import PAYLOAD, SIZE
from ..system.quoting import Progress
from ..system.templates import render
from .compilation import Files, closed, described, robot_facts, sources_of
from .folder import OutputError, checked_folder, text_of, write_file
from .output_paths import check_place

# Choices that stand elsewhere in a folder's texts, or are the robot's own.
UNSAID = ("functions", "name", "limits", "joint_limits", "joints", "accelerator")


def about(front: Front) -> dict[str, str]:
    """The robot, functions and choices that a program's files name."""
    functions = ", ".join(front.design.functions)
    return {"robot": front.robot.name, "functions": functions, "chosen": chosen(front.design)}


def chosen(design: Design) -> str:
    """The choices that are no defaults, and those that say what results of frames are."""
    own = no_defaults(design)
    shown = {key: own[key] for key in own if key not in UNSAID}
    for key, concerned in (("reference", REFERRED), ("contact", OF_CONTACTS)):
        if not set(concerned).isdisjoint(design.functions):
            shown.setdefault(key, vars(design)[key])
    said = (f"{key.replace('_', '-')}: {_spelt(value)}" for key, value in shown.items())
    return "; ".join(said)


def _spelt(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_spelt(own)}" for key, own in value.items())
    return ", ".join(map(_spelt, value)) if isinstance(value, list | tuple) else str(value)


def program_folder(
    front: Front, language: str, name: str, own: Files, facts: Mapping[str, Any]
) -> Files:
    """The files of a program's folder: its ``own`` files, the robot, the design, the manifest.

    ``facts``: what a host must know of the language's.
    """
    files = own | sources_of(front)
    manifest = ProgramManifest(
        **described(front, name, robot_facts(front)),
        language=language,
        # words of tasks are named, and no arrays
        interface=ArrayInterface((), (), {}, {})
        if front.design.accelerator
        else interface_of(front, language == "cuda"),
        facts=facts,
    )
    return closed(files, manifest)


def interface_of(front: Front, together: bool = False) -> ArrayInterface:
    """The arrays of one state, as `evaluate` has them, and each graph input's and output's place.

    q (nq,), qd, qdd, tau (nv,), Minv (nv, nv), f_ext (bodies, 6), as the functions need, payload
    (10,); of a design for all robots of a model what its registers hold, parameter; last, where
    sines and cosines come in, sin and cos, of each joint of the canonical robot. Arrays of what a
    given base leaves out are that much smaller. ``together``: all states are one robot's.
    """
    robot, design, graph = front.robot, front.design, front.graph
    given = given_coordinates(design, robot)
    free = robot.nv - given
    shapes: dict[str, tuple[int, ...]] = {
        "q": (robot.nq,),
        "qd": (robot.nv,),
        "qdd": (robot.nv,),
        "tau": (free,),
        "q_ref": (robot.nq,),
        **dict.fromkeys(FOLLOWED, (robot.nv,)),
        "Minv": (free, free),
        "f_ext": (len(robot.moving), len(WRENCH)),
        PAYLOAD: (SIZE,),
        "sin": (len(front.canonical.joints),),
        "cos": (len(front.canonical.joints),),
    }
    takes = list(needs(design))
    if is_pushed(design):
        takes.append("f_ext")
    if is_loaded(design):
        takes.append(PAYLOAD)
    if front.parameters:
        shapes[PARAMETER] = (len(front.parameters.names),)
        takes += [PARAMETER] * (not together)
    kinds = {kind_of(name) for name in graph.inputs}
    takes += [kind for kind in ("sin", "cos") if kind in kinds]
    frames, nq, many = len(design.frames), robot.nq, counts(design, front.canonical)
    results = {name: shape_of(name, free, frames, nq, many) for name in all_gives(design)}
    inputs = {
        name: ArrayEntry(kind_of(name), place_of_input(name, free, given)) for name in graph.inputs
    }
    outputs = {}
    for name in graph.outputs:
        kind = kind_of(name)
        places = places_of_output(name, results[kind], given)
        outputs[name] = tuple(ArrayEntry(kind, place) for place in places)
    return ArrayInterface(
        tuple(Array(name, shapes[name]) for name in takes),
        tuple(Array(name, shape) for name, shape in results.items()),
        inputs,
        outputs,
        Array(PARAMETER, shapes[PARAMETER]) if front.parameters and together else None,
    )


def coordinates_of(front: Front) -> Coordinates:
    """The coordinates of the design's robot, their names and limits."""
    robot, turning = front.robot, endless(front.robot)
    joints = []
    for i in robot.free:
        q, v = robot.q_slices[i].start, robot.v_slices[i].start
        kind = "continuous" if q in turning else robot.joints[i].kind.value
        joints.append(JointCoordinates(robot.joints[i].name, kind, q, v))
    return Coordinates(
        robot.nq,
        robot.nv,
        tuple(joints),
        tuple(robot.joints[i].body for i in robot.moving),
        front.design.frames,
        known_limits(front.design, robot),
    )


PYTHON, ROS2 = "python", "ros2"
HEADERS = (".h", ".inc")
STATE = ("q", "qd", "qdd")
NEEDS = (  # of a package of ROS 2
    "controller_interface",
    "hardware_interface",
    "inverse_dynamics_solver",
    "pluginlib",
    "rclcpp",
    "rclcpp_lifecycle",
    "trajectory_msgs",
    "urdf",
)


@dataclass(frozen=True)
class _Program:
    """A checked folder of C++ that packages are made of: its manifest, sources and headers."""

    place: Path
    entry: ProgramManifest
    sources: Sequence[str]
    headers: Sequence[str]

    @property
    def version(self) -> str:
        """The generator's."""
        return self.entry.generator.split()[-1]

    def write(self, out: Path, files: Mapping[str, str]) -> None:
        """Write files of a package to ``out``, once all of them are made."""
        for file, text in files.items():
            (out / file).parent.mkdir(parents=True, exist_ok=True)
            write_file(out / file, text)


def _program(folder: str | Path, progress: Progress, trust: bool, of: str) -> _Program:
    """The folder that a package ``of`` something is made of; OutputError for others."""
    place = Path(folder)
    manifest = checked_folder(place, trust, progress)
    if manifest.get("language") != "cpp":
        raise OutputError(
            f"{place}: holds {manifest.get('language', 'Verilog')}, packages of {of} are made "
            "of C++: rbdgen generate ROBOT --to cpp"
        )
    entry = manifest.program
    files = sorted(file for file in entry.files if file.startswith(f"{entry.name}"))
    sources = [f for f in files if Path(f).suffix == ".cpp" or f == f"{entry.name}_python.cc"]
    # what is of other libraries, as crocoddyl and XLA, is no part of packages
    headers = [f for f in files if Path(f).suffix in HEADERS or f == f"{entry.name}.hpp"]
    return _Program(place, entry, sources, headers)


def package_python(
    folder: str | Path, progress: Progress = lambda _: None, trust: bool = False
) -> tuple[Path, list[str]]:
    """Write FOLDER/python: the package NAME with its types and sources, pyproject.toml and
    setup.py.

    Returns the folder and notes. Raises OutputError for a folder that has no C++ or has changed,
    unless ``trust``.
    """
    made = _program(folder, progress, trust, "Python")
    entry, out = made.entry, made.place / PYTHON
    if not {f"{entry.name}_python.cc", f"{entry.name}.hpp"} <= {*made.sources, *made.headers}:
        raise OutputError(
            f"{made.place}: has no module of Python, or an old one; generate it again"
        )
    check_place(out / "pyproject.toml")
    name = entry.name
    facts = {
        "name": name,
        "version": made.version,
        "robot": entry.robot,
        "functions": ", ".join(entry.functions),
        "joint_names": entry.joint_names,
        "body_names": entry.body_names,
        "nq": entry.nq,
        "nv": entry.nv,
        "takes": entry.interface.takes,
        "gives": entry.interface.gives,
        "parameters": [number["real"] for number in entry.facts["parameters"]],
        "sources": made.sources,
        "headers": made.headers,
    }
    copied = (*made.sources, *made.headers, "README.md")
    made.write(
        out,
        {
            "pyproject.toml": render("python/pyproject.toml.jinja", **facts),
            "setup.py": render("python/setup.py.jinja", **facts),
            "README.md": render("python/README.md.jinja", **facts),
            "MANIFEST.in": "graft src\n",
            f"{name}/__init__.py": render("python/init.py.jinja", **facts),
            f"{name}/__init__.pyi": render("python/init.pyi.jinja", **facts),
            f"{name}/py.typed": "",
            **{f"src/{file}": text_of(made.place, file) for file in copied},
        },
    )
    return out, [*entry.notes]


def package_ros2(
    folder: str | Path, progress: Progress = lambda _: None, trust: bool = False
) -> tuple[Path, list[str]]:
    """Write FOLDER/ros2, an ament package: a solver and a controller as plugins, with sources.

    The folder's function is ``id`` alone, from which M, C q̇, g and friction follow.

    Returns the folder and notes. Raises OutputError for another function, a moving base, joints of
    several coordinates, or a folder that has changed, unless ``trust``.
    """
    made = _program(folder, progress, trust, "ROS 2")
    entry, out = made.entry, made.place / ROS2
    _refuse_what_ros2_has_not(made)
    check_place(out / "package.xml")
    package = f"{entry.name}_dynamics"  # names of designs are names of packages
    facts: dict[str, Any] = {
        "package": package,
        "name": entry.name,
        "version": made.version,
        "robot": entry.robot,
        "joints": entry.joint_names,
        "link": entry.choices.get("payload") if PAYLOAD in _taken(entry) else None,
        "needs": NEEDS,
        "sources": [file for file in made.sources if file.endswith(".cpp")],
    }
    own = ("package.xml", "CMakeLists.txt", "README.md", "solver.xml", "controller.xml")
    code = ("solver.cpp", "controller.cpp", "description.hpp", "latest.hpp")
    public = [f"{entry.name}.h", f"{entry.name}.hpp"]
    copied = {f"include/{package}/{file}": file for file in public}
    for file in (*facts["sources"], *made.headers):
        if file not in public:
            copied[f"src/{file}"] = file
    made.write(
        out,
        {
            **{file: render(f"ros2/{file}.jinja", **facts) for file in own},
            **{f"src/{file}": render(f"ros2/{file}.jinja", **facts) for file in code},
            f"include/{package}/dynamics.hpp": render("ros2/dynamics.hpp.jinja", **facts),
            "config/controllers.yaml": render("ros2/controllers.yaml.jinja", **facts),
            **{to: text_of(made.place, file) for to, file in copied.items()},
        },
    )
    note = f"{out / 'package.xml'}: its licence and maintainer are yours to write"
    return out, [note, *entry.notes]


def _taken(entry: ProgramManifest) -> list[str]:
    return [array.name for array in entry.interface.takes]


def _refuse_what_ros2_has_not(made: _Program) -> None:
    """OutputError for functions and robots that the interfaces of ROS 2 have no place for."""
    entry, again = made.entry, "rbdgen generate ROBOT --function id --to cpp"
    if tuple(entry.functions) != ("id",):
        raise OutputError(
            f"{made.place}: is of {', '.join(entry.functions)}; packages of ROS 2 are of id alone, "
            f"from which M, C, g and friction follow: {again}"
        )
    if others := [name for name in _taken(entry) if name not in (*STATE, PAYLOAD)]:
        raise OutputError(
            f"{made.place}: takes {', '.join(others)}, for which the interfaces of ROS 2 have no "
            f"place; leave out what asks for it: {again}"
        )
    names = [limit.joint for limit in entry.limits]  # once for each kind of motion
    several = next((f"joint {name!r}" for name in names if names.count(name) > 1), None)
    if entry.base != "fixed" or several:
        what = several if entry.base == "fixed" else f"its {entry.base} base"
        raise OutputError(
            f"{made.place}: {what} has several coordinates; packages of ROS 2 are of robots on a "
            "fixed base whose joints have one each"
        )
