"""The passes from a traced graph to words, in order: one list, each with the reason for its place.

    trace ─ EXACT ─► Graph ─ UNITS ─► Graph of what hardware has ─ WORDS ─► FixedGraph

The graph is verified after each, so that what is wrong is said of the pass that did it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from ..graph.accuracy import Accuracy, Shares, Worst, worst_of
from ..graph.evaluate import Array
from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.verify import GraphError, verify, verify_fixed
from ..graph.visits import Program
from ..graph.word import SURE
from ..passes.identities import identities, phase, reciprocals
from ..passes.sums import balance, factor
from ..system.quoting import Progress
from .constant_multiply import constant_multiply, has_constants, moved
from .input_domain import InputDomain
from .precision import affordable
from .program_ranges import evaluate_program, program_word_samples, tasks_over
from .proven_ranges import proven_words
from .ranges import Ranges
from .word_options import Known, Setting, gains_of
from .wordlength import GUARD, finer_inputs, input_formats, wordlength

Context = TypeVar("Context")  # what the passes of a part are told besides the graph


@dataclass(frozen=True)
class Pass(Generic[Context]):
    """One step: ``run`` takes a graph to another; ``reason``: why it stands where it does."""

    name: str
    run: Callable[[Graph, Context], Graph | FixedGraph]
    reason: str

    def __call__(self, graph: Graph, known: Context) -> Graph | FixedGraph:
        """The graph that the pass makes, verified; GraphError names the pass."""
        made = self.run(graph, known)
        try:
            return verify_fixed(made) if isinstance(made, FixedGraph) else verify(made)
        except GraphError as error:
            raise GraphError(f"after {self.name}: {error}") from error


def _constants(graph: Graph, setting: Setting) -> Graph:
    while has_constants(graph):  # again where a negligible product left a constant factor
        slack = setting.slack(graph)
        setting.before.append((graph, moved(graph, slack)))
        graph = verify(constant_multiply(graph, slack))
    return graph


def _words(graph: Graph, setting: Setting) -> FixedGraph:
    def make(ranges: Ranges) -> FixedGraph:
        chosen = setting.fractions(graph, ranges)
        given, finer = setting.given, setting.given.finer
        ports = dict.fromkeys(finer.inputs, finer.bits)
        if chosen is None:
            ports |= finer_inputs(graph, ranges, setting.width)
        inputs = input_formats(graph, given.limits, setting.width, chosen, ports)
        results = {graph.outputs[name]: finer.bits for name in finer.outputs}
        made = wordlength(graph, ranges, setting.width, inputs, chosen, setting.guard, results)
        return replace(made, before=tuple(setting.before))

    searched = setting.searched(graph)
    if setting.proven == "none":
        return make(searched)
    ranges, fixed = proven_words(graph, searched, setting.proven, make)
    setting.keep(graph, ranges)
    return fixed


# Over real numbers, with a few random states as input.
EXACT: tuple[Pass[Mapping[str, Array]], ...] = (
    Pass(
        "identities",
        identities,
        "first: equal expressions become one node before later passes count who reads it",
    ),
    Pass(
        "factor",
        lambda graph, _: factor(graph),
        "takes apart only products that one sum reads, which is known once equal ones are one",
    ),
)
# What operations need that hardware has units for.
UNITS: tuple[Pass[None], ...] = (
    Pass(
        "phase",
        lambda graph, _: phase(graph),
        "introduces the constant 1/2π, which constant_multiply lowers; passes before it see "
        "angles in radians",
    ),
    Pass(
        "reciprocals",
        lambda graph, _: reciprocals(graph),
        "carries constants across the shift behind a product, where constant_multiply finds them",
    ),
)
BALANCE: Pass[Any] = Pass(
    "balance",
    lambda graph, _: balance(graph),
    "after all that makes additions; the last to change the graph, so that ranges are searched of "
    "what stays",
)
# From real numbers to words, for an input domain and a number of bits.
WORDS: tuple[Pass[Setting], ...] = (
    Pass(
        "constant_multiply",
        _constants,
        "products by constants become additions, which balance is to put in order",
    ),
    BALANCE,
    Pass(
        "wordlength",
        _words,
        "last: a format for every remaining signal, from its range",
    ),
)
BEFORE_WORDS = WORDS[:-1]
PASSES: tuple[Pass[Any], ...] = (*EXACT, *UNITS, *WORDS)


def run(
    passes: Iterable[Pass[Context]],
    graph: Graph,
    known: Context,
    watch: Callable[[str, Graph], None] = lambda name, graph: None,
) -> Graph:
    """The graph after passes of which none makes words. ``watch`` sees it after each."""
    for step in passes:
        made = step(graph, known)
        assert isinstance(made, Graph), f"{step.name} ends the passes"
        graph = made
        watch(step.name, graph)
    return graph


def to_fixed(graph: Graph, setting: Setting) -> FixedGraph:
    """The graph in words: all of WORDS."""
    last = WORDS[-1]
    made = last(run(BEFORE_WORDS, graph, setting), setting)
    assert isinstance(made, FixedGraph), f"{last.name} makes no words"
    return made


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
