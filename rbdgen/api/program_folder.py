"""The folder of a program: its sources, robot, design and manifest; its arrays of states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..codegen.interface import Array, ArrayEntry, ArrayInterface
from ..compile.front import Front
from ..design.arrays import all_gives, given_coordinates, is_loaded, is_pushed, needs
from ..design.manifest import ProgramManifest
from ..dynamics.interface import WRENCH, place_of_input, places_of_output
from ..graph.word import PARAMETER, kind_of, shape_of
from ..robot.variations import PAYLOAD, SIZE
from .compilation import Files, closed, described, robot_facts, sources_of


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
