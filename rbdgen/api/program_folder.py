"""The folder of a program: its sources, robot, design and manifest; its arrays of states."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..codegen.interface import Array, ArrayEntry, ArrayInterface
from ..compile.front import Front
from ..design.arrays import all_gives, given_coordinates, is_loaded, needs
from ..design.functions import UNFORCED
from ..design.manifest import ProgramManifest
from ..dynamics.interface import SAMPLED, WRENCH
from ..graph.word import SYMMETRIC, Word, parse, shape_of, skipped_of
from ..passes.registers import PARAMETER
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
    if design.external_forces and not set(design.functions) <= set(UNFORCED):
        takes.append("f_ext")
    if is_loaded(design):
        takes.append(PAYLOAD)
    if front.parameters:
        shapes[PARAMETER] = (len(front.parameters.names),)
        takes += [PARAMETER] * (not together)
    kinds = {parse(name).kind for name in graph.inputs}
    takes += [kind for kind in ("sin", "cos") if kind in kinds]
    frames, nq = len(design.frames), robot.nq
    results = {name: shape_of(name, free, frames, nq) for name in all_gives(design)}
    inputs, outputs = {}, {}
    for name in graph.inputs:
        word = parse(name)
        before = [given if word.kind in SAMPLED else 0] * len(word.indices)
        inputs[name] = ArrayEntry(word.kind, _at(word, shapes[word.kind], before))
    for name in graph.outputs:
        word = parse(name)
        shape, mirrored = results[word.kind], Word(word.kind, word.indices[::-1])
        skipped = skipped_of(word.kind, given)
        at = [_at(word, shape, skipped)]
        if word.kind in SYMMETRIC and mirrored != word:
            at.append(_at(mirrored, shape, skipped))
        outputs[name] = tuple(ArrayEntry(word.kind, place) for place in at)
    return ArrayInterface(
        tuple(Array(name, shapes[name]) for name in takes),
        tuple(Array(name, shape) for name, shape in results.items()),
        inputs,
        outputs,
        Array(PARAMETER, shapes[PARAMETER]) if front.parameters and together else None,
    )


def _at(word: Word, shape: Sequence[int], skipped: Sequence[int]) -> int:
    """Numbers before this one in its array, which lacks ``skipped`` of what each index counts."""
    indices = [index - before for index, before in zip(word.indices, skipped, strict=True)]
    if word.axis:
        indices.append(WRENCH.index(word.axis))
    return sum(k * math.prod(shape[d + 1 :]) for d, k in enumerate(indices))
