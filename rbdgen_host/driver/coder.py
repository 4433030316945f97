"""Conversion between arrays of states and the words of a design's tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rbdgen.api.arrays import refuse_missing_forces
from rbdgen.api.folder import InputError
from rbdgen.design.arrays import counts, given_coordinates, gives
from rbdgen.design.design import Design
from rbdgen.design.facts import TaskFacts
from rbdgen.dynamics.interface import SAMPLED, from_columns, to_columns
from rbdgen.graph.fixed import Format, Integers
from rbdgen.graph.word import kind_of, renamed, shape_of
from rbdgen.robot.angles import wrapped
from rbdgen.robot.model import Robot
from rbdgen.tasks.routes import UNREAD

from .words import SPELT, Array, Flags


@dataclass(frozen=True, eq=False)
class Coder:
    """Numbers to words and back, by what a design says of its ``tasks``.

    ``canonical``: the robot that the names of inputs are of; ``robot``: the one that arrays are of.
    """

    tasks: TaskFacts
    design: Design
    robot: Robot
    canonical: Robot

    def words(
        self, function: str, arrays: Mapping[str, Array], saturate: bool
    ) -> tuple[dict[str, Integers], Flags]:
        """Words (N,) of N tasks, by name, and which states had a value that its word cannot hold.

        Angles that a word cannot hold are taken whole turns back, where that changes nothing.
        InputError for the first such value unless ``saturate``.
        """
        refuse_missing_forces(self.design, self.robot, arrays["f_ext"])
        inputs = self.tasks.functions[function].inputs
        read = {i.name: i for i in inputs if kind_of(i.name) != UNREAD}
        n = len(arrays["q"])
        words = {i.word: np.zeros(n, np.int64) for i in inputs}
        outside = np.zeros(n, np.bool_)
        for name, values in to_columns(self.canonical, list(read), arrays).items():
            operand = read[name]
            word = Format(operand.width, operand.fraction)
            limit = word.limits[1]
            values = wrapped(values, limit, operand.turns)
            bad = np.abs(values) > limit
            if not saturate and bad.any():
                raise InputError(_outside(name, values, int(np.argmax(bad)), limit, word))
            outside |= bad
            words[operand.word] = word.quantize(values)
        return words, outside

    def arrays(self, function: str, results: Integers) -> dict[str, Array]:
        """The arrays of a function, (N, nv) or (N, nv, nv), from result words (N, words).

        Of a base whose motion is given there are no rows and columns.
        """
        outputs = self.tasks.functions[function].outputs
        columns = {
            own.name: Format(own.width, own.fraction).real(results[:, k])
            for k, own in enumerate(outputs)
        }
        given, frames = given_coordinates(self.design, self.robot), len(self.design.frames)
        nv, nq = self.robot.nv, self.robot.nq
        many = counts(self.design, self.canonical)
        found = from_columns(columns, nv, given, frames, nq, many)
        shapes = {
            name: shape_of(name, nv - given, frames, nq, many)
            for name in gives(self.design, function)
        }
        return {
            name: found.get(name, np.zeros((len(results), *shape)))
            for name, shape in shapes.items()
        }


def _outside(name: str, values: Array, state: int, limit: float, word: Format) -> str:
    field = kind_of(name)
    cure = "widen the design's limits"
    if field in SAMPLED:
        cure = "it is sized by what random states within the design's limits take; widen them"
    return (
        f"{spelt(name)} of state {state} is {values[state]:g}, outside ±{limit:g}, the range of "
        f"its {word.width}-bit word; {cure}, or saturate"
    )


def spelt(name: str) -> str:
    """``qd[2]`` → ``v[2]``."""
    field = kind_of(name)
    return renamed(name, SPELT.get(field, field))
