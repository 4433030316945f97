"""Joints in turn: a few datapaths, one for each thing that joints do, visited round by round.

In every round each datapath, a *lane*, begins one visit: some joint of some task. A task begins
every ``rounds`` rounds, and a round takes ``interval`` cycles, in which the operations of all lanes
share multipliers as those of any fold do. What a visit gives lies in memory until another visit
reads it, always the same number of rounds later for the same visit of each task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph
from ..graph.node import Node, Op, Region, source
from ..graph.verify import verify_fixed
from ..graph.visits import Result, Visit
from ..passes.instances import CopyingBuilder
from ..passes.visit_words import Visited, copied
from ..target import Target
from .binding import Binding
from .channels import Channel
from .fold import Fold, flag_time, flagged_together
from .modulo import fold
from .pipelined import INPUT, OUTPUT
from .program import ScheduleError
from .units import Jobs, shared_jobs

TASK = "task"  # the lane that gives a task's words to those who read them
SHALLOW = 32  # rounds that words lie in LUT-RAM; longer, and a block RAM has room for them
GATHERING = 4  # cycles besides its rounds that putting a result together takes
ON_THE_WAY = 3  # cycles from the one that stores a word to the first that takes it as an operand


@dataclass(frozen=True, order=True)
class Lane:
    """One datapath of a template; or of ``TASK``, the words of a task that a template reads."""

    template: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.template}_{self.number}"


@dataclass(frozen=True)
class Origin:
    """What a lane's input reads in some phase: the word of a lane, so many rounds ago."""

    lane: Lane
    word: str
    ago: int


@dataclass(frozen=True, eq=False)
class Lanes:
    """Lanes as one graph, in words.

    ``copies``: for each lane, node of its template → node of ``fixed``. Inputs and outputs are
    called LANE.NAME there.
    """

    fixed: FixedGraph
    copies: Mapping[Lane, Mapping[Node, Node]]

    def jobs(self, target: Target) -> Jobs:
        """What takes a multiplier. Lanes share none, so that each can lie in one place."""
        number = {(lane.template, lane.number): k for k, lane in enumerate(self.copies)}

        def apart(node: Node) -> int:
            assert node.region is not None
            return number[node.region]

        return shared_jobs(self.fixed, target, apart)


def lanes_of(visited: Visited, rounds: int) -> Lanes:
    """As many lanes of every template as its visits need, one visit in a round each."""
    builder = CopyingBuilder()
    formats: dict[Node, Format] = {}
    inputs: dict[str, Format] = {}
    outputs: dict[str, Node] = {}
    copies: dict[Lane, Mapping[Node, Node]] = {}
    width = 0
    for name, template in visited.templates.items():
        width = template.width
        for number in range(-(-len(visited.program.of(name)) // rounds)):
            lane = Lane(name, number)
            words = {}
            for port, word in template.inputs.items():
                words[port] = builder.input(f"{lane.name}.{port}")
                inputs[words[port].name] = formats[words[port]] = word
            copies[lane] = copied(builder, template, words, formats, (name, number))
            for result, node in template.graph.outputs.items():
                outputs[f"{lane.name}.{result}"] = copies[lane][node]
    graph = Graph(tuple(inputs), outputs)
    return Lanes(verify_fixed(FixedGraph(graph, inputs, formats, width)), copies)


@dataclass(frozen=True, eq=False)
class RoundPlan:
    """When every visit takes place, and on which lane.

    ``template``: the fold of all lanes; its interval is a round. ``at``: the round of each visit,
    from the one in which its task is taken; ``lane``: where. ``given``: (visit, input) of the words
    that come from the task → the lane of `TASK` that has it, and in which round.
    """

    visited: Visited
    lanes: Lanes
    template: Fold
    rounds: int
    at: Mapping[Visit, int]
    lane: Mapping[Visit, Lane]
    given: Mapping[tuple[Visit, str], tuple[Lane, int]]

    @property
    def fixed(self) -> FixedGraph:
        """The lanes' graph, which is scheduled."""
        return self.template.fixed

    @property
    def interval(self) -> int:
        """Cycles from task to task."""
        return self.rounds * self.template.interval

    @property
    def binding(self) -> Binding:
        """Which products are hardware multipliers."""
        return self.template.binding

    @property
    def multipliers(self) -> int:
        """Hardware multipliers."""
        return self.template.multipliers

    @property
    def fire(self) -> dict[Region, int]:
        """When a task is taken, and when its result can be."""
        return {INPUT: 0, OUTPUT: self.latency}

    def node(self, lane: Lane, result: str) -> Node:
        """The node whose bits a lane's output is."""
        return source(self.fixed.graph.outputs[f"{lane.name}.{result}"])

    def written(self, lane: Lane, word: str) -> int:
        """The cycle, from the visit's first, at whose end a lane's word is stored."""
        if lane.template == TASK:  # chosen in the round's last cycle: a round has two or more
            return self.template.interval
        return self.template.time[self.node(lane, word)]

    @cached_property
    def origins(self) -> dict[tuple[Lane, str], dict[int, Origin | float]]:
        """(lane, its input) → phase, a round modulo ``rounds`` → what it reads then."""
        found: dict[tuple[Lane, str], dict[int, Origin | float]] = {}
        for visit, sources in self.visited.program.reads.items():
            lane, at = self.lane[visit], self.at[visit]
            for port, read in sources.items():
                origin: Origin | float
                if isinstance(read, Result):
                    origin = Origin(self.lane[read.visit], read.name, at - self.at[read.visit])
                elif isinstance(read, str):
                    own, there = self.given[visit, port]
                    origin = Origin(own, port, at - there)
                else:
                    origin = read
                found.setdefault((lane, port), {})[at % self.rounds] = origin
        return found

    @cached_property
    def checks(self) -> dict[Lane, dict[int, list[Node]]]:
        """For each lane that can overflow: cycle of a visit → nodes, as of a fold."""
        regions: dict[Region | None, list[Node]] = {}
        for node in self.template.time:
            regions.setdefault(node.region, []).append(node)
        found = {
            lane: self.template.checks_of(regions.get((lane.template, lane.number), ()))
            for lane in self.lanes.copies
        }
        return {lane: checks for lane, checks in found.items() if checks}

    @cached_property
    def results(self) -> dict[tuple[Lane, int], dict[Node, dict[int, Node]]]:
        """What is kept: (lane, cycle of a visit at whose end) → words, of the lanes' graph.

        And phase → the node of the whole robot that a word is then.
        """
        found: dict[tuple[Lane, int], dict[Node, dict[int, Node]]] = {}
        whole = self.visited.whole.graph.outputs
        for name, result in self.visited.program.outputs.items():
            own = source(whole[name])
            if not isinstance(result, Result) or own.op is Op.CONST:
                continue
            lane, phase = self.lane[result.visit], self.at[result.visit] % self.rounds
            node = self.node(lane, result.name)
            words = found.setdefault((lane, self.template.time[node]), {})
            words.setdefault(node, {})[phase] = own
        return found

    @cached_property
    def kept(self) -> dict[Lane, set[int]]:
        """The cycles of a visit at whose end something of a lane is kept, its flag too."""
        found: dict[Lane, set[int]] = {}
        for lane, written in self.results:
            found.setdefault(lane, set()).add(written)
        for lane, checks in self.checks.items():
            found.setdefault(lane, set()).add(flag_time(checks))
        return found

    def offset(self, visit: Visit, cycle: int) -> int:
        """The cycle of a task that is this one of a visit."""
        return self.at[visit] * self.template.interval + cycle

    @cached_property
    def complete(self) -> int:
        """The cycle at whose end all of a task is kept."""
        return max(
            self.offset(visit, max(self.kept[lane]))
            for visit, lane in self.lane.items()
            if lane in self.kept
        )

    @property
    def latency(self) -> int:
        """Cycles from the clock edge that takes a task in to the one that can take its result."""
        return self.complete + self.rounds + GATHERING + 1

    @property
    def places(self) -> int:
        """Tasks that may be under way, a power of two."""
        return 1 << (-(-self.latency // self.interval) + 1).bit_length()

    @property
    def channels(self) -> tuple[Channel, ...]:
        """None: words lie in memories between the lanes."""
        return ()

    def flagged(self, overflowed: Mapping[Node, NDArray[np.bool_]], n: int) -> NDArray[np.bool_]:
        """(n, outputs): the flags of n results. An overflow anywhere in a task flags all of its."""
        return flagged_together(self.visited.whole.graph, overflowed, n)


def in_rounds(visited: Visited, target: Target, rounds: int, interval: int) -> RoundPlan:
    """A datapath that takes a task every ``rounds`` rounds of ``interval`` cycles."""
    lanes = lanes_of(visited, rounds)
    jobs = lanes.jobs(target)
    whole = fold(lanes.fixed, target, interval, jobs, selected=True)
    found = RoundPlan(visited, lanes, whole, rounds, {}, {}, {})
    lane = _lanes_of_visits(visited, rounds)
    given = _given(visited, rounds)
    at = _at(found, lane, given)
    return verify_rounds(replace(found, at=at, lane=lane, given=given))


def _given(visited: Visited, rounds: int) -> dict[tuple[Visit, str], tuple[Lane, int]]:
    """Where and when each word of a task is laid down, in the order of the visits that read it."""
    found: dict[tuple[Visit, str], tuple[Lane, int]] = {}
    number = 0
    for name in visited.templates:
        readers = [
            (visit, ports)
            for visit in visited.program.of(name)
            if (ports := [p for p, s in visited.program.reads[visit].items() if isinstance(s, str)])
        ]
        for k, (visit, ports) in enumerate(readers):
            lane = Lane(TASK, number + k // rounds)
            found |= {(visit, port): (lane, k % rounds) for port in ports}
        number += -(-len(readers) // rounds)
    return found


def _lanes_of_visits(visited: Visited, rounds: int) -> dict[Visit, Lane]:
    """A lane for each visit: visits that hand on to others of their template share one.

    Then most words go round in one lane, and few lanes read what a lane gives. Longest first, into
    the fullest lane with room; a row of visits that finds no room is broken.
    """
    lane: dict[Visit, Lane] = {}
    for name in visited.templates:
        rows = sorted(_rows(visited, name), key=lambda row: (-len(row), row[0]))
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
            lane |= dict.fromkeys(row, Lane(name, k))
    return lane


def _rows(visited: Visited, name: str) -> list[list[Visit]]:
    """The visits to a template, in rows of which each reads what the one before it gave."""
    rows: dict[Visit, list[Visit]] = {}  # by the last one
    for visit in visited.program.of(name):
        before = [
            s.visit
            for s in visited.program.reads[visit].values()
            if isinstance(s, Result) and s.visit in rows
        ]
        row = rows.pop(before[0]) if before else []
        rows[visit] = [*row, visit]
    return list(rows.values())


def _at(
    plan: RoundPlan,
    lane: Mapping[Visit, Lane],
    given: Mapping[tuple[Visit, str], tuple[Lane, int]],
) -> dict[Visit, int]:
    """Rounds: those with the longest way to go first, each as soon as it can and its lane may."""
    reads = plan.visited.program.reads
    gaps: dict[Visit, dict[Visit, int]] = {}
    first: dict[Visit, int] = {}
    for visit, sources in reads.items():
        gaps[visit], first[visit] = {}, 0
        for port, read in sources.items():
            if isinstance(read, Result):
                gap = _gap(plan, lane[read.visit], read.name)
                gaps[visit][read.visit] = max(gap, gaps[visit].get(read.visit, 0))
            elif isinstance(read, str):
                own, there = given[visit, port]
                first[visit] = max(first[visit], there + _gap(plan, own, port))
    left: dict[Visit, int] = dict.fromkeys(reads, 0)
    for visit in reversed(list(reads)):
        for before, gap in gaps[visit].items():
            left[before] = max(left[before], left[visit] + gap)
    at: dict[Visit, int] = {}
    busy: set[tuple[Lane, int]] = set()
    waiting = sorted(reads, key=lambda v: (-left[v], v))
    while waiting:
        visit = next(v for v in waiting if all(before in at for before in gaps[v]))
        waiting.remove(visit)
        ready = max([first[visit], *(at[before] + gap for before, gap in gaps[visit].items())])
        while (lane[visit], ready % plan.rounds) in busy:
            ready += 1
        at[visit] = ready
        busy.add((lane[visit], ready % plan.rounds))
    return at


def _gap(plan: RoundPlan, lane: Lane, word: str) -> int:
    """The rounds after which a lane's word can be read."""
    return -(-(plan.written(lane, word) + ON_THE_WAY) // plan.template.interval)


def verify_rounds(plan: RoundPlan) -> RoundPlan:
    """The plan, if it keeps its own rules.

    Raises:
        ScheduleError: two visits to a lane in one phase, or a word read before it is there.
    """
    busy: dict[tuple[Lane, int], Visit] = {}
    for visit, at in plan.at.items():
        slot = plan.lane[visit], at % plan.rounds
        if busy.setdefault(slot, visit) != visit:
            raise ScheduleError(f"{visit} and {busy[slot]} on one lane in one round")
    for (lane, port), phases in plan.origins.items():
        for origin in phases.values():
            if isinstance(origin, Origin):
                there = plan.written(origin.lane, origin.word) + ON_THE_WAY
                if origin.ago * plan.template.interval < there:
                    raise ScheduleError(f"{lane.name}.{port} read before it is there")
    return plan
