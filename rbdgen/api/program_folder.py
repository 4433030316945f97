"""The folder of a program, and the package of Python that pip installs from a folder of C++."""

from __future__ import annotations

from collections.abc import Mapping
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
from ..design.arrays import all_gives, given_coordinates, is_loaded, is_pushed, needs
from ..design.limits import known_limits
from ..design.manifest import ProgramManifest
from ..dynamics.interface import WRENCH, place_of_input, places_of_output
from ..graph.word import PARAMETER, kind_of, shape_of
from ..robot.angles import endless
from ..robot.variations import PAYLOAD, SIZE
from ..system.quoting import Progress
from ..system.templates import render
from .compilation import Files, closed, described, robot_facts, sources_of
from .folder import OutputError, checked_folder, text_of, write_file
from .output_paths import check_place


def about(front: Front) -> dict[str, str]:
    """The robot and functions that the header of a program's files names."""
    return {"robot": front.robot.name, "functions": ", ".join(front.design.functions)}


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
    frames, nq = len(design.frames), robot.nq
    results = {name: shape_of(name, free, frames, nq) for name in all_gives(design)}
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


FOLDER = "python"
MODULE = "{name}_python.cc"
SOURCES, HEADERS = (".cpp", ".cc"), (".h", ".inc")


def package_python(
    folder: str | Path, progress: Progress = lambda _: None, trust: bool = False
) -> tuple[Path, list[str]]:
    """Write FOLDER/python: pyproject.toml, setup.py, the package NAME with its types, sources.

    Returns the folder and notes. OutputError for a folder that holds no C++ or was changed, unless
    ``trust``.
    """
    place = Path(folder)
    manifest = checked_folder(place, trust, progress)
    if manifest.get("language") != "cpp":
        raise OutputError(
            f"{place}: holds {manifest.get('language', 'Verilog')}, packages of Python are made "
            "of C++: rbdgen generate ROBOT --to cpp"
        )
    entry = manifest.program
    name, out = entry.name, place / FOLDER
    files = sorted(file for file in entry.files if file.startswith(f"{name}"))
    sources = [file for file in files if Path(file).suffix in SOURCES]
    headers = [file for file in files if Path(file).suffix in HEADERS]
    if MODULE.format(name=name) not in sources:
        raise OutputError(f"{place}: has no module of Python; generate it again")
    check_place(out / "pyproject.toml")
    facts = {
        "name": name,
        "version": entry.generator.split()[-1],
        "robot": entry.robot,
        "functions": ", ".join(entry.functions),
        "joint_names": entry.joint_names,
        "body_names": entry.body_names,
        "nq": entry.nq,
        "nv": entry.nv,
        "takes": entry.interface.takes,
        "gives": entry.interface.gives,
        "parameters": [number["real"] for number in entry.facts["parameters"]],
        "sources": sources,
        "headers": headers,
    }
    written = {
        "pyproject.toml": render("python/pyproject.toml.jinja", **facts),
        "setup.py": render("python/setup.py.jinja", **facts),
        "README.md": render("python/README.md.jinja", **facts),
        "MANIFEST.in": "graft src\n",
        f"{name}/__init__.py": render("python/init.py.jinja", **facts),
        f"{name}/__init__.pyi": render("python/init.pyi.jinja", **facts),
        f"{name}/py.typed": "",
        **{f"src/{file}": text_of(place, file) for file in (*sources, *headers, "README.md")},
    }
    for file, text in written.items():
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        write_file(out / file, text)
    return out, [*entry.notes]
