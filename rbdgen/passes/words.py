"""From real numbers to words of so many bits, or of as many as an error asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..graph.arrays import SURE, relative_rms, squares
from ..graph.evaluate import Array
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.visits import Program
from .along import evaluate_along, tasks_over, words_along
from .given import Given, Progress
from .order import to_fixed
from .precision import affordable
from .ranges import Ranges
from .setting import Known, Setting, gains_of
from .wordlength import GUARD

MANY = 50_000  # nodes: of more, ranges of what is tried are those of the states found before


def to_words(
    graph: Graph,
    given: Given,
    width: int,
    error: float | None = None,
    progress: Progress = lambda _: None,
    guard: int = GUARD,
    proven: str = "none",
    tasks: Sequence[Program] = (),
) -> tuple[Ranges, FixedGraph]:
    """Constants as shifts and additions, sums in order, and a format for every signal.

    Words are of ``width`` bits, or of as many each as the ``error`` asks for, and then ``width``
    is what a hardware multiplier takes. ``guard``: bits more of what only additions read.
    ``proven``: which words are made for proven ranges, and ``tasks``: what the error is of, see
    ``Setting``.
    """
    return _made(graph, Setting(given, width, error, progress, guard, proven, tasks))


def _made(graph: Graph, setting: Setting) -> tuple[Ranges, FixedGraph]:
    fixed = to_fixed(graph, setting)
    return setting.searched(fixed.graph), fixed


def within_error(
    graph: Graph,
    given: Given,
    error: float,
    width: int,
    progress: Progress = lambda _: None,
    proven: str = "none",
    tasks: Sequence[Program] = (),
) -> tuple[Ranges, FixedGraph]:
    """Words whose outputs are off by at most ``error``, measured on the ``few`` with a margin.

    ``width``: of a hardware multiplier's operand; ``proven`` and ``tasks`` as of ``to_words``.
    """
    given, _ = given.searched(graph, progress)  # once, for what is tried to start from
    again = replace(given, rounds=1) if len(graph.nodes) < MANY else replace(given, domain=None)
    known = Known(graph, again.ranges(graph), gains_of(graph, again, tasks))

    def lower(aim: float) -> tuple[Ranges, FixedGraph]:
        setting = Setting(again, width, aim, progress, proven=proven, tasks=tasks, first=known)
        return _made(graph, setting)

    return affordable(
        error, lower, lambda made: relative_error(made[1], graph, given.few, tasks), progress
    )


def relative_error(
    fixed: FixedGraph,
    graph: Graph,
    inputs: Mapping[str, Array],
    tasks: Sequence[Program] = (),
) -> float:
    """The error of the array that is off most: root mean square against the float graph's, and how
    much more it may be in other states. Of ``tasks``, every one's arrays count."""
    found = 0.0
    for task in tasks_over(graph, tasks):
        words, exact = words_along(task, fixed, inputs), evaluate_along(task, graph, inputs)
        of_arrays = squares(words, exact).values()
        found = max([found, *(relative_rms(off, size, SURE) for off, size in of_arrays)])
    return found
