"""Words for a graph over real numbers: of so many bits, or of as many as an error asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..graph.accuracy import Accuracy, Shares, Worst, worst_of
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.visits import Program
from ..graph.word import SURE
from ..system.quoting import Progress
from .input_domain import InputDomain
from .order import to_fixed
from .precision import affordable
from .program_ranges import evaluate_program, program_word_samples, tasks_over
from .ranges import Ranges
from .word_options import Known, Setting, gains_of
from .wordlength import GUARD

MANY = 50_000  # nodes: of more, ranges of what is tried are those of the states found before


def to_words(
    graph: Graph,
    given: InputDomain,
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
    given: InputDomain,
    error: float,
    width: int,
    progress: Progress = lambda _: None,
    proven: str = "none",
    tasks: Sequence[Program] = (),
) -> tuple[Ranges, FixedGraph]:
    """Words whose outputs are off by at most ``error`` at the limits, each coordinate, and by what
    the other `SCALES` allow there, measured on the ``few`` with a margin.

    ``width``: of a hardware multiplier's operand; ``proven`` and ``tasks`` as of ``to_words``.
    """
    given, _ = given.searched(graph, progress)  # once, for what is tried to start from
    again = replace(given, rounds=1) if len(graph.nodes) < MANY else replace(given, domain=None)
    ranges = again.ranges(graph)

    def lower(aim: float, counts: Shares) -> tuple[Ranges, FixedGraph]:
        known = Known(graph, ranges, gains_of(graph, again, tasks, counts))
        setting = Setting(
            again, width, aim, progress, proven=proven, tasks=tasks, first=known, counts=counts
        )
        return _made(graph, setting)

    return affordable(error, lower, lambda made: shares(made[1], graph, given, tasks), progress)


def shares(
    fixed: FixedGraph, graph: Graph, given: InputDomain, tasks: Sequence[Program] = ()
) -> dict[tuple[str, int], float]:
    """Errors of coordinates over what their scales allow, measured on the ``few`` against the float
    graph, and `SURE` deviations more: in other states they may be larger. Of ``tasks``, every one's
    results count."""
    found = dict[tuple[str, int], float]()
    for task in tasks_over(graph, tasks):
        words, exact = (
            program_word_samples(task, fixed, given.few),
            evaluate_program(task, graph, given.few),
        )
        for visit in range(given.visits):
            own = [{n: x[visit :: given.visits] for n, x in of.items()} for of in (words, exact)]
            seen = Accuracy(given.factors)
            seen.add_parts(*own)
            for row, share in seen.shares(SURE).items():
                found[row] = max(share, found.get(row, 0.0))
    return found


def worst_error(fixed: FixedGraph, graph: Graph, given: InputDomain) -> Worst:
    """The one that is most of what is allowed."""
    return worst_of(shares(fixed, graph, given))
