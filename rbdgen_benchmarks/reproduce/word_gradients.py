"""∂q̈/∂q and ∂q̈/∂q̇ in words, as `ilqr.solve` takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rbdgen.codegen.c_file import core_function, sources
from rbdgen.codegen.compiled import CompiledModel, CSources, Results
from rbdgen.compile.flow import Front
from rbdgen.dynamics.interface import Columns, from_columns, to_columns
from rbdgen.graph.fixed import Format, Integers, evaluate_fixed
from rbdgen.system.quoting import Progress
from rbdgen.words.input_domain import InputDomain

from ..bench.ilqr import Array, Points
from .one_point import evaluate_one_point
from .word_choices import Choice, Size

ABOUT = {"robot": "", "functions": "gradient", "graph": ""}
GRADIENTS = ("dqdd_dq", "dqdd_dqd")


@dataclass
class Counts:
    """Counts of words out of range, in all iterations together.

    Inputs clipped, states that overflowed, and operations that saturated.
    """

    clipped: int = 0
    overflowed: int = 0


@dataclass
class Words:
    """A function of a robot in words; gradients of its calls, and what happened in them."""

    front: Front
    size: Size
    counts: Counts = field(default_factory=Counts)

    def columns(self, at: Points) -> Columns:
        state = {name: getattr(at, name) for name in ("q", "qd", "qdd", "tau", "Minv")}
        state["f_ext"] = np.zeros((len(at.q), len(self.front.canonical.moving), 6))
        return to_columns(self.front.canonical, self.front.graph.inputs, state)

    def matrices(self, outputs: Columns) -> tuple[Array, Array]:
        found = from_columns(
            {name: v for name, v in outputs.items() if name.startswith("dqdd")},
            self.front.canonical.nv,
        )
        return found[GRADIENTS[0]], found[GRADIENTS[1]]


class PerSignal(Words):
    """A binary point for each signal: the integer model of the words that ``generate`` makes."""

    def __init__(
        self, front: Front, given: InputDomain, choice: Choice, progress: Progress
    ) -> None:
        self.fixed, size = choice.made(front, given)
        super().__init__(front, size)
        self.given = given
        self._model = CompiledModel(self._source, len(self.fixed.graph.nodes), progress)

    def __call__(self, at: Points) -> tuple[Array, Array]:
        columns, words = self.columns(at), dict[str, Integers]()
        for name, word in self.fixed.inputs.items():
            lower, upper = self.given.limits[name]
            # within a word, which the limits of an angle that turns all the way round are
            inside = np.clip(columns[name], lower, upper)
            self.counts.clipped += int(np.count_nonzero(inside != columns[name]))
            words[name] = word.quantize(inside)
        found, flags = self._model.run("", words, self._reference)
        self.counts.overflowed += int(np.count_nonzero(flags))
        formats = {name: self.fixed.formats[n] for name, n in self.fixed.graph.outputs.items()}
        return self.matrices({name: formats[name].real(v) for name, v in found.items()})

    def _reference(self, words: Mapping[str, Integers]) -> Results:
        got = evaluate_fixed(self.fixed, words)
        flags = np.zeros((len(next(iter(words.values()))), 1), np.bool_)
        for own in got.overflowed.values():
            flags[:, 0] |= own
        return got.outputs, flags

    def _source(self) -> CSources:
        flagged = {n: frozenset({0}) for n in self.fixed.graph.nodes if self.fixed.overflowing(n)}
        file, function, word = core_function(self.fixed, flagged, 1, "gradient")
        return CSources(sources(file, [function], word, ABOUT), (function,), word)


class OnePoint(Words):
    """One binary point for everything: ``whole`` bits before it, the sign among them."""

    def __init__(self, front: Front, whole: int, fraction: int) -> None:
        super().__init__(front, Size(whole + fraction, whole + fraction))
        self.word = Format(whole + fraction, fraction)

    def __call__(self, at: Points) -> tuple[Array, Array]:
        outputs, saturated = evaluate_one_point(self.front.graph, self.word, self.columns(at))
        self.counts.overflowed += saturated
        return self.matrices(outputs)
