"""Between arrays of states and the words of an accelerator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..accelerator.routes import kind_of
from ..api.folder import InputError
from ..dynamics.interface import SAMPLED, from_columns, to_columns
from ..graph.fixed import Format, Integers
from ..robot.choices import GIVES
from ..robot.design import Design
from ..robot.model import Robot
from .contract import UNREAD, Contract

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SPELT = {"qd": "v", "qdd": "a"}  # as Pinocchio calls what comes in


@dataclass(frozen=True, eq=False)
class Coder:
    """Numbers to words and back, by the contract of an accelerator.

    ``canonical``: the robot that the names of inputs are of; ``robot``: the one that arrays are of.
    """

    contract: Contract
    design: Design
    robot: Robot
    canonical: Robot

    def words(
        self, function: str, arrays: Mapping[str, Array], saturate: bool
    ) -> tuple[dict[str, Integers], Flags]:
        """Words (N,) of N tasks, by name, and which states had a value that its word cannot hold.

        InputError for the first such value unless ``saturate``.
        """
        self._refuse_missing_forces(arrays["f_ext"])
        inputs = self.contract.functions[function].inputs
        read = {i.name: i for i in inputs if kind_of(i.name) != UNREAD}
        n = len(arrays["q"])
        words = {i.word: np.zeros(n, np.int64) for i in inputs}
        outside = np.zeros(n, np.bool_)
        for name, values in to_columns(self.canonical, list(read), arrays).items():
            operand = read[name]
            limit = 2.0 ** (operand.format.width - 1 - operand.format.fraction)
            bad = np.abs(values) > limit
            if not saturate and bad.any():
                raise InputError(_outside(name, values, int(np.argmax(bad)), limit, operand.format))
            outside |= bad
            words[operand.word] = operand.format.quantize(values)
        return words, outside

    def arrays(self, function: str, results: Integers) -> dict[str, Array]:
        """What the function gives, (N, nv) or (N, nv, nv), from result words (N, words)."""
        outputs = self.contract.functions[function].outputs
        columns = {name: word.real(results[:, k]) for k, (name, word) in enumerate(outputs.items())}
        nv = self.robot.nv
        found = from_columns(columns, nv)
        shapes = {name: (nv,) if name in ("tau", "qdd") else (nv, nv) for name in GIVES[function]}
        return {
            name: found.get(name, np.zeros((len(results), *shape)))
            for name, shape in shapes.items()
        }

    def _refuse_missing_forces(self, f_ext: Array) -> None:
        for body, i in enumerate(self.robot.moving):
            name = self.robot.joints[i].body
            if f_ext[:, body].any() and name not in self.design.external_forces:
                raise InputError(
                    f'f_ext acts on "{name}", which has no force input; add it to external_forces'
                )


def _outside(name: str, values: Array, state: int, limit: float, word: Format) -> str:
    field = kind_of(name)
    cure = "widen the design's limits, or wrap angles to ±π"
    if field in SAMPLED:
        cure = "it is sized by what random states within the design's limits take; widen them"
    return (
        f"{spelt(name)} of state {state} is {values[state]:g}, outside ±{limit:g}, the range of "
        f"its {word.width}-bit word; {cure}, or saturate"
    )


def spelt(name: str) -> str:
    """``qd[2]`` → ``v[2]``."""
    field = kind_of(name)
    return SPELT.get(field, field) + name[len(field) :]
