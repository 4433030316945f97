"""From real numbers to words of so many bits, or of as many as an error asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..graph.arrays import SURE, array_of, relative_rms, times
from ..graph.evaluate import Array, evaluate
from ..graph.fixed import FixedGraph, evaluate_fixed
from ..graph.graph import Graph
from .given import Given, Progress
from .order import to_fixed
from .precision import affordable
from .ranges import Ranges
from .setting import Setting
from .wordlength import GUARD


def to_words(
    graph: Graph,
    given: Given,
    width: int,
    error: float | None = None,
    progress: Progress = lambda _: None,
    guard: int = GUARD,
    proven: str = "none",
) -> tuple[Ranges, FixedGraph]:
    """Constants as shifts and additions, sums in order, and a format for every signal.

    Words are of ``width`` bits, or of as many each as the ``error`` asks for, and then ``width``
    is what a hardware multiplier takes. ``guard``: bits more of what only additions read.
    ``proven``: which words are made for proven ranges, see ``Setting``.
    """
    setting = Setting(given, width, error, progress, guard, proven)
    fixed = to_fixed(graph, setting)
    return setting.searched(fixed.graph), fixed


def within_error(
    graph: Graph,
    given: Given,
    error: float,
    width: int,
    progress: Progress = lambda _: None,
    proven: str = "none",
) -> tuple[Ranges, FixedGraph]:
    """Words whose outputs are off by at most ``error``, measured on the ``few`` with a margin.

    ``width``: of a hardware multiplier's operand; ``proven`` as of ``to_words``.
    """
    given, _ = given.searched(graph, progress)  # once, for what is tried to start from
    again = replace(given, rounds=1)
    return affordable(
        error,
        lambda aim: to_words(graph, again, width, aim, progress, proven=proven),
        lambda made: relative_error(made[1], graph, given.few),
    )


def relative_error(fixed: FixedGraph, graph: Graph, inputs: Mapping[str, Array]) -> float:
    """The error of the array that is off most: root mean square against the float graph's, and how
    much more it may be in other states."""
    words = {name: word.quantize(inputs[name]) for name, word in fixed.inputs.items()}
    found, exact = evaluate_fixed(fixed, words).outputs, evaluate(graph, inputs)
    squares: dict[str, Array] = {}
    sizes: dict[str, Array] = {}
    for name, array in array_of(graph.outputs).items():
        value = fixed.formats[fixed.graph.outputs[name]].real(found[name])
        for sums, own in ((squares, value - exact[name]), (sizes, exact[name])):
            sums[array] = sums.get(array, 0.0) + times(name) * own**2
    return max((relative_rms(e, sizes[a], SURE) for a, e in squares.items()), default=0.0)
