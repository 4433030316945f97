"""A plan of time-multiplexed joints: who visits which datapath in which round, and what lies in
between.

In every round each datapath begins one visit: some joint of some task. A task begins every
``rounds`` rounds, and a round takes ``interval`` cycles, in which the operations of each datapath
share multipliers as those of any fold do. What a visit gives lies in memory until another visit
reads it, always the same number of rounds later for the same visit of each task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..graph.fixed import FixedGraph, Format
from ..graph.graph import source
from ..graph.node import STILL, Node, Region
from ..graph.visits import Source, Visit, VisitResult, factored, scaled
from ..words.instances import FixedProgram
from .difference_constraints import READ
from .fold import WAKING, Fold, flag_time, flagged_together
from .pipelined import INPUT, OUTPUT
from .plan import Channel, PlanDefaults, Sharing
from .specialise import TASK, Datapath, region_of
from .units import Binding

SHALLOW = 32  # rounds that words lie in LUT-RAM; longer, and a block RAM has room for them
GATHERING = 4  # cycles besides its rounds that putting a result together takes
PHASES = 3  # in which a result is put together, at least: it can be taken before the next begins
AGAIN = 5  # cycles after its first words came in vain in which a result is not there yet, once more
# What an input reads in some phase, a number or a datapath's result, and how many rounds later.
Origin = tuple[Source, int]
ON_THE_WAY = 3  # cycles from the one that stores a word to the first that takes it as an operand
SETTLING = 3  # cycles in which copies of the counters catch up after a rest, before a task is taken


@dataclass(frozen=True)
class Group:
    """The words that a datapath reads of another with the same delays: they can lie in one memory.

    ``ago``: phase → rounds between; ``words``: word of the sender → the reader's inputs that it
    goes to.
    """

    reader: Datapath
    sender: Datapath
    ago: Mapping[int, int]
    words: Mapping[str, Sequence[str]]

    @property
    def depth(self) -> int:
        """Rounds that it has room for, a power of two."""
        return max(1 << (max(self.ago.values()) - 1).bit_length(), 2)

    @property
    def in_block_ram(self) -> bool:
        return self.depth > SHALLOW


@dataclass(frozen=True, eq=False)
class RoundPlan(PlanDefaults):
    """When every visit takes place, and on which datapath.

    ``template``: the fold of all datapaths; its interval is a round. ``at``: the round of each
    visit, from the one in which its task is taken; ``datapath``: where. ``given``: (visit, input)
    of the words that come from the task → the datapath of `TASK` that has it, and in which round.
    """

    program: FixedProgram
    datapaths: FixedProgram
    template: Fold
    rounds: int
    at: Mapping[Visit, int]
    datapath: Mapping[Visit, Datapath]
    given: Mapping[tuple[Visit, str], tuple[Datapath, int]]

    @property
    def fixed(self) -> FixedGraph:
        """The datapaths' graph, which is scheduled."""
        return self.template.fixed

    @property
    def whole(self) -> FixedGraph:
        """The graph of all visits."""
        return self.program.whole

    @property
    def turns(self) -> Sharing:
        """The joints, in the rounds between one task and the next."""
        return Sharing("joints", self.rounds, self.template.interval, self.program)

    @property
    def phases(self) -> int:
        """Cycles in which a result is put together."""
        return max(self.rounds, PHASES)

    @property
    def waking(self) -> int:
        """The cycles until the phases are awake, and the counters of rounds right."""
        return WAKING + SETTLING

    @property
    def resumes(self) -> int:
        """Cycles, at most, from a result that waited to the next.

        The next result is not buffered while one waits: its words are read again.
        """
        return AGAIN + self.phases

    @property
    def interval(self) -> int:
        """Cycles from task to task."""
        return self.rounds * self.template.interval

    @property
    def binding(self) -> Binding:
        """Which products are hardware multipliers."""
        return self.template.binding

    @property
    def fire(self) -> dict[Region, int]:
        """When a task is taken, and when its result can be."""
        return {INPUT: 0, OUTPUT: self.latency}

    def node(self, datapath: Datapath, result: str) -> Node:
        """The node whose bits a datapath's output is."""
        return source(self.fixed.graph.outputs[f"{datapath.name}.{result}"])

    def written(self, datapath: Datapath, word: str) -> int:
        """The cycle, from the visit's first, at whose end a datapath's word is stored."""
        if datapath.template == TASK:  # chosen in the round's last cycle, a task's second or later
            return max(self.template.interval, 2)
        return self.template.time[self.node(datapath, word)]

    @cached_property
    def origins(self) -> dict[tuple[Datapath, str], dict[int, Origin]]:
        """(datapath, its input) → phase, a round modulo ``rounds`` → what it reads then."""
        found: dict[tuple[Datapath, str], dict[int, Origin]] = {}
        for visit, sources in self.program.real.reads.items():
            datapath, at = self.datapath[visit], self.at[visit]
            for port, (read, by) in ((port, factored(s)) for port, s in sources.items()):
                word: Source = read
                ago = 0
                if isinstance(read, VisitResult):
                    word = VisitResult(self.datapath[read.visit], read.name)
                    ago = at - self.at[read.visit]
                elif isinstance(read, str):
                    own, there = self.given[visit, port]
                    word, by, ago = VisitResult(own, port), 1.0, at - there
                origin = scaled(word, by), ago
                found.setdefault((datapath, port), {})[at % self.rounds] = origin
        return found

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups of words that lie in memory between datapaths."""
        found: dict[
            tuple[Datapath, Datapath, tuple[tuple[int, int], ...]], dict[str, list[str]]
        ] = {}
        for (datapath, port), phases in self.origins.items():
            senders: dict[VisitResult, dict[int, int]] = {}
            for phase, (origin, ago) in phases.items():
                word, _ = factored(origin)
                if isinstance(word, VisitResult):
                    senders.setdefault(word, {})[phase] = ago
            for result, delays in senders.items():
                key = datapath, result.visit, tuple(sorted(delays.items()))
                found.setdefault(key, {}).setdefault(result.name, []).append(port)
        return tuple(
            Group(reader, sender, dict(ago), words)
            for (reader, sender, ago), words in found.items()
        )

    def memories(self, group: Group) -> dict[int, list[list[str]]]:
        """Cycle of a visit at whose end they are written → the words of each memory of a group.

        A LUT-RAM's address reaches few bits, so that it can lie beside all of them.
        """
        found: dict[int, list[list[str]]] = {}
        for word in group.words:
            parts = found.setdefault(self.written(group.sender, word), [[]])
            wide = sum(self.word(group.sender, own).width for own in (*parts[-1], word))
            if parts[-1] and wide > READ and not group.in_block_ram:
                parts.append([])
            parts[-1].append(word)
        return found

    @cached_property
    def numbers(self) -> dict[tuple[Datapath, str], dict[int, float]]:
        """(datapath, its input) → phase → the number that it is then."""
        of = {
            key: {phase: x for phase, (x, _) in phases.items() if isinstance(x, float)}
            for key, phases in self.origins.items()
        }
        return {key: numbers for key, numbers in of.items() if numbers}

    def word(self, sender: Datapath, word: str) -> Format:
        """The format of a word that a datapath gives."""
        if sender.template == TASK:
            visit = self.task_visits(sender, word)[0][1]
            return self.program.templates[visit.template].inputs[word]
        return self.fixed.formats[self.fixed.graph.outputs[f"{sender.name}.{word}"]]

    def task_visits(self, sender: Datapath, word: str) -> list[tuple[int, Visit]]:
        """(round, visit) of all that read a word of the task which this datapath lays down."""
        return [
            (at, visit)
            for (visit, port), (datapath, at) in self.given.items()
            if datapath == sender and port == word
        ]

    @cached_property
    def checks(self) -> dict[Datapath, dict[int, list[Node]]]:
        """The checks of each datapath that can overflow: cycle of a visit → nodes, as of a fold."""
        regions: dict[Region | None, list[Node]] = {}
        for node in self.template.time:
            regions.setdefault(node.region, []).append(node)
        found = {
            datapath: self.template.checks_of(regions.get(region_of(datapath), ()))
            for datapath in self.datapaths.copies
        }
        return {datapath: checks for datapath, checks in found.items() if checks}

    @cached_property
    def results(self) -> dict[tuple[Datapath, int], dict[Node, dict[int, Node]]]:
        """The results kept: (datapath, cycle at whose end) → words of the datapaths' graph.

        And phase → the node of the whole robot that a word is then.
        """
        found: dict[tuple[Datapath, int], dict[Node, dict[int, Node]]] = {}
        whole = self.program.whole.graph.outputs
        for name, result in self.program.real.outputs.items():
            own = source(whole[name])
            result, _ = factored(result)
            if not isinstance(result, VisitResult) or own.op in STILL:
                continue
            datapath, phase = self.datapath[result.visit], self.at[result.visit] % self.rounds
            node = self.node(datapath, result.name)
            words = found.setdefault((datapath, self.template.time[node]), {})
            words.setdefault(node, {})[phase] = own
        return found

    @cached_property
    def kept(self) -> dict[Datapath, set[int]]:
        """The cycles of a visit at whose end something of a datapath is kept, its flag too."""
        found: dict[Datapath, set[int]] = {}
        for datapath, written in self.results:
            found.setdefault(datapath, set()).add(written)
        for datapath, checks in self.checks.items():
            found.setdefault(datapath, set()).add(flag_time(checks))
        return found

    def offset(self, visit: Visit, cycle: int) -> int:
        """The cycle of a task that is this one of a visit."""
        return self.at[visit] * self.template.interval + cycle

    @cached_property
    def complete(self) -> int:
        """The cycle at whose end all of a task is kept."""
        return max(
            self.offset(visit, max(self.kept[datapath]))
            for visit, datapath in self.datapath.items()
            if datapath in self.kept
        )

    @property
    def latency(self) -> int:
        """Cycles from the clock edge that takes a task in to the one that can take its result."""
        return self.complete + self.phases + GATHERING + 2

    @property
    def places(self) -> int:
        """Tasks that may be under way, a power of two."""
        return 1 << (-(-self.latency // self.interval) + 1).bit_length()

    @property
    def channels(self) -> tuple[Channel, ...]:
        """None: words lie in memories between the datapaths."""
        return ()

    def flagged(self, overflowed: Mapping[Node, NDArray[np.bool_]], n: int) -> NDArray[np.bool_]:
        """(n, outputs): the flags of n results. An overflow anywhere in a task flags all of its."""
        return flagged_together(self.program.whole.graph, overflowed, n)
