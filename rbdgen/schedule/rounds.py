"""Time-multiplexed joints: a few datapaths, one for each thing that joints do, visited round by
round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..design.target import Target
from ..graph.visits import Visit, VisitResult, factored
from ..words.instances import FixedProgram
from .difference_constraints import ScheduleError
from .modulo import fold
from .round_plan import ON_THE_WAY, RoundPlan
from .specialise import TASK, Datapath, datapaths_of, jobs_of


def in_rounds(
    program: FixedProgram, target: Target, rounds: int, interval: int, budget: int | None = None
) -> RoundPlan:
    """A datapath that takes a task every ``rounds`` rounds of ``interval`` cycles.

    In rounds of one cycle nothing is shared, and products that find no multiplier in the
    ``budget``, or the part, are made of logic.
    """
    datapaths = datapaths_of(program, rounds)
    jobs = jobs_of(datapaths, target)
    if interval == 1:
        jobs = jobs.in_logic(budget or target.multipliers)
    whole = fold(datapaths.whole, target, interval, jobs, selected=interval > 1)
    found = RoundPlan(program, datapaths, whole, rounds, {}, {}, {})
    datapath = _datapaths_of_visits(program, rounds)
    given = _given(program, rounds)
    at = _at(found, datapath, given)
    return verify_rounds(replace(found, at=at, datapath=datapath, given=given))


def _given(program: FixedProgram, rounds: int) -> dict[tuple[Visit, str], tuple[Datapath, int]]:
    """Where and when each word of a task is laid down, in the order of the visits that read it."""
    found: dict[tuple[Visit, str], tuple[Datapath, int]] = {}
    number = 0
    for name in program.templates:
        readers = [
            (visit, ports)
            for visit in program.real.of(name)
            if (ports := list(program.real.read(visit)))
        ]
        for k, (visit, ports) in enumerate(readers):
            datapath = Datapath(TASK, (number + k // rounds,))
            found |= {(visit, port): (datapath, k % rounds) for port in ports}
        number += -(-len(readers) // rounds)
    return found


def _datapaths_of_visits(program: FixedProgram, rounds: int) -> dict[Visit, Datapath]:
    """A datapath for each visit: visits that hand on to others of their template share one.

    Then most words go round in one datapath, and few read what another gives. Longest first, into
    the fullest datapath with room; a row of visits that finds no room is broken.
    """
    datapath: dict[Visit, Datapath] = {}
    for name in program.templates:
        rows = sorted(_rows(program, name), key=lambda row: (-len(row), row[0]))
        free = [rounds] * -(-sum(map(len, rows)) // rounds)
        while rows:
            row = rows.pop(0)
            room = [(space, k) for k, space in enumerate(free) if space >= len(row)]
            if not room:
                space, k = max((space, -k) for k, space in enumerate(free))
                rows[:0] = [row[:space], row[space:]]
                continue
            _, k = min(room)
            free[k] -= len(row)
            datapath |= dict.fromkeys(row, Datapath(name, (k,)))
    return datapath


def _rows(program: FixedProgram, name: str) -> list[list[Visit]]:
    """The visits to a template, in rows of which each reads what the one before it gave."""
    rows: dict[Visit, list[Visit]] = {}  # by the last one
    for visit in program.real.of(name):
        before = [
            s.visit
            for s, _ in map(factored, program.real.reads[visit].values())
            if isinstance(s, VisitResult) and s.visit in rows
        ]
        row = rows.pop(before[0]) if before else []
        rows[visit] = [*row, visit]
    return list(rows.values())


def _at(
    plan: RoundPlan,
    datapath: Mapping[Visit, Datapath],
    given: Mapping[tuple[Visit, str], tuple[Datapath, int]],
) -> dict[Visit, int]:
    """The rounds of visits: those with the longest way to go first, each as soon as it can."""
    reads = plan.program.real.reads
    gaps: dict[Visit, dict[Visit, int]] = {}
    first: dict[Visit, int] = {}
    for visit, sources in reads.items():
        gaps[visit], first[visit] = {}, 0
        for port, (read, _) in ((port, factored(s)) for port, s in sources.items()):
            if isinstance(read, VisitResult):
                gap = _gap(plan, datapath[read.visit], read.name)
                gaps[visit][read.visit] = max(gap, gaps[visit].get(read.visit, 0))
            elif isinstance(read, str):
                own, there = given[visit, port]
                first[visit] = max(first[visit], there + _gap(plan, own, port))
    left: dict[Visit, int] = dict.fromkeys(reads, 0)
    for visit in reversed(list(reads)):
        for before, gap in gaps[visit].items():
            left[before] = max(left[before], left[visit] + gap)
    at: dict[Visit, int] = {}
    busy: set[tuple[Datapath, int]] = set()
    waiting = sorted(reads, key=lambda v: (-left[v], v))
    while waiting:
        visit = next(v for v in waiting if all(before in at for before in gaps[v]))
        waiting.remove(visit)
        ready = max([first[visit], *(at[before] + gap for before, gap in gaps[visit].items())])
        while (datapath[visit], ready % plan.rounds) in busy:
            ready += 1
        at[visit] = ready
        busy.add((datapath[visit], ready % plan.rounds))
    return at


def _gap(plan: RoundPlan, datapath: Datapath, word: str) -> int:
    """The rounds after which a datapath's word can be read."""
    return -(-(plan.written(datapath, word) + ON_THE_WAY) // plan.template.interval)


def verify_rounds(plan: RoundPlan) -> RoundPlan:
    """The plan, if it keeps its own rules.

    Raises:
        ScheduleError: a visit without a round, or on a datapath that there is not, two visits to
            one in one phase, or a word read before it is there; says which.
    """
    if plan.at.keys() != plan.program.real.reads.keys():
        raise ScheduleError("not every visit has a round")
    busy: dict[tuple[Datapath, int], Visit] = {}
    for visit, at in plan.at.items():
        slot = own, _ = plan.datapath[visit], at % plan.rounds
        if own not in plan.datapaths.copies or own.template != visit.template:
            raise ScheduleError(f"{visit} on {own.name}, a datapath that there is not")
        if busy.setdefault(slot, visit) != visit:
            raise ScheduleError(f"{visit} and {busy[slot]} on one datapath in one round")
    for (datapath, port), phases in plan.origins.items():
        for origin, ago in phases.values():
            word, _ = factored(origin)
            if isinstance(word, VisitResult):
                there = plan.written(word.visit, word.name) + ON_THE_WAY
                if ago * plan.template.interval < there:
                    raise ScheduleError(f"{datapath.name}.{port} read before it is there")
    return plan
