"""Where the scalars of a design's graph stand in arrays of states."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..codegen.interface import Array, Entry, Interface
from ..compile.front import Front
from ..design.choices import UNFORCED, shape_of
from ..design.design import all_gives, given_coordinates, needs
from ..dynamics.interface import SAMPLED, WRENCH
from ..graph.arrays import SYMMETRIC
from ..graph.word import Word, parse


def interface_of(front: Front) -> Interface:
    """The arrays of one state, as `evaluate` has them, and each graph input's and output's place.

    q (nq,), qd, qdd, tau (nv,), Minv (nv, nv), f_ext (bodies, 6), as the functions need; where
    sines and cosines come in, sin and cos, of each joint of the canonical robot. Arrays of what a
    given base leaves out are that much smaller.
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
        "sin": (len(front.canonical.joints),),
        "cos": (len(front.canonical.joints),),
    }
    takes = list(needs(design))
    if design.external_forces and not set(design.functions) <= set(UNFORCED):
        takes.append("f_ext")
    kinds = {parse(name).kind for name in graph.inputs}
    takes += [kind for kind in ("sin", "cos") if kind in kinds]
    results = {name: shape_of(name, free) for name in all_gives(design)}
    inputs, outputs = {}, {}
    for name in graph.inputs:
        word = parse(name)
        skipped = given if word.kind in SAMPLED else 0
        inputs[name] = Entry(word.kind, _at(word, shapes[word.kind], skipped))
    for name in graph.outputs:
        word = parse(name)
        shape, mirrored = results[word.kind], Word(word.kind, word.indices[::-1])
        at = [_at(word, shape, given)]
        if word.kind in SYMMETRIC and mirrored != word:
            at.append(_at(mirrored, shape, given))
        outputs[name] = tuple(Entry(word.kind, place) for place in at)
    return Interface(
        tuple(Array(name, shapes[name]) for name in takes),
        tuple(Array(name, shape) for name, shape in results.items()),
        inputs,
        outputs,
    )


def _at(word: Word, shape: Sequence[int], skipped: int) -> int:
    """Numbers before this one in its array, which lacks the first ``skipped`` rows and columns."""
    indices = [index - skipped for index in word.indices]
    if word.axis:
        indices.append(WRENCH.index(word.axis))
    return sum(k * math.prod(shape[d + 1 :]) for d, k in enumerate(indices))
