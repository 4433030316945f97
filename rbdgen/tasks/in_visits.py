"""Each function of an accelerator as visits to the one graph that its stages are cut from."""

from __future__ import annotations

from collections.abc import Iterable

from ..design.arrays import left_out
from ..design.functions import GIVES
from ..graph.graph import Graph
from ..graph.visits import Program, Visit, VisitResult
from ..graph.visits import Source as VisitSource
from ..graph.word import indices, kind_of, renamed
from ..words.program_ranges import WHOLE
from .routes import CALLED, HOST, NOTHING, ROLLOUTS, ROUTES, TOLD, origin
from .visit import StageVisit

FIRST, FORWARD, AGAIN = (
    StageVisit("rnea"),
    StageVisit("forward"),
    StageVisit("rnea", again=True),
)


def in_visits(graph: Graph, functions: Iterable[str], given: int) -> list[Program]:
    """The functions as programs, whose words of the task have the names of the graph's inputs.

    ``given``: how many of v's first entries are the base's, its motion being given. A rollout
    counts as its evaluation of forward dynamics.
    """
    named = dict.fromkeys("fd" if f in ROLLOUTS else f for f in functions)
    return [_task(graph, function, given) for function in named]


def _task(graph: Graph, function: str, given: int) -> Program:
    steps = [FIRST, *(visit for visit in (FORWARD, AGAIN) if visit in ROUTES[function])]
    visits = {step: Visit(WHOLE, (k,)) for k, step in enumerate(steps)}
    by_stage = {"rnea": visits[FIRST], "inverse": visits[FIRST], "forward": visits.get(FORWARD)}

    def source(field: str, step: StageVisit) -> VisitSource:
        of = origin(field, function, step, {}, given)
        if of.stage == NOTHING:
            return 0.0
        if of.stage == TOLD:
            return -1.0
        if of.stage == HOST:
            return field
        giver = by_stage[of.stage]
        assert giver is not None, f"{function}: {field} comes from a stage that it does not visit"
        return VisitResult(giver, of.field)

    reads = {
        visit: {field: source(field, step) for field in graph.inputs}
        for step, visit in visits.items()
    }
    own = {CALLED.get(kind, kind): kind for kind in GIVES[function]}
    last = visits[steps[-1]]
    outputs: dict[str, VisitSource] = {
        renamed(name, own[kind_of(name)]): VisitResult(
            visits.get(FORWARD, last) if kind_of(name) == "qdd" else last, name
        )
        for name in graph.outputs
        if kind_of(name) in own and min(indices(name)) >= left_out(function)
    }
    return Program({WHOLE: graph}, reads, outputs)
