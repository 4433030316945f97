"""An accelerator as data: its stages, its tasks' words and its results' words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..graph.fixed import Format
from ..graph.graph import Graph
from ..graph.node import Op
from ..graph.word import indices, kind_of, renamed
from ..schedule.partition import Piece
from ..schedule.plan import Plan
from .routes import (
    CALLED,
    CORE,
    HOST,
    NOTHING,
    ORDER,
    RESULT,
    ROLLOUTS,
    STEPS,
    TOLD,
    TURN,
    Source,
    StageVisit,
    first,
    parse,
    place,
    route,
    stands_alone,
    visit_counts,
    waits,
    words_taken,
)
from .stage import Stage

TAG = 16  # bits of a task's tag
COUNT = 16  # bits of the number of steps of a rollout
BLOCK = 256 * 36  # bits, words of so many block RAMs: with more, a bank is in block RAM


@dataclass(frozen=True, eq=False)
class Accelerator:
    """Functions of a robot on shared stages, or a core: one stage that computes all of them.

    ``results``: function → the names of its outputs in the order in which they are given.
    ``inputs``: the formats of the whole graph's inputs, whether a stage reads them or not.
    ``slots``: tasks that may be under way; a core has none, and its tasks go straight through.
    ``in_order``: results come in the order of the tasks, not as they finish (then too, those of one
    function are in order). ``blocks``: (sender, reader) of the banks between stages that are in
    block RAM.
    """

    functions: tuple[str, ...]
    stages: Mapping[str, Stage]
    results: Mapping[str, tuple[str, ...]]
    inputs: Mapping[str, Format]
    slots: int
    in_order: bool
    blocks: frozenset[tuple[str, str]] = frozenset()

    @property
    def is_core(self) -> bool:
        """Whether a task computes all functions."""
        return not self.slots

    @cached_property
    def tasks(self) -> dict[str, dict[str, Format]]:
        """Kind of task → the inputs that it brings, in order, each with its format.

        A task is of one function, and called so; a core's is of all, and has no name.
        """
        return {"": dict(self.inputs)} if self.is_core else self.formats

    @cached_property
    def words(self) -> dict[str, int]:
        """Width of each word of a task, by name, in order."""
        if self.is_core:
            return {name: word.width for name, word in self.inputs.items()}
        found: dict[str, int] = {}
        for function in self.functions:
            for word, (_, of) in self._taken[function].items():
                found[word] = max(of.width, found.get(word, 0))
        return dict(sorted(found.items(), key=_position))

    @cached_property
    def formats(self) -> dict[str, dict[str, Format]]:
        """Function → the inputs that its task brings, in order, each with its format.

        Of a core: those that its results follow from.
        """
        made = {}
        if self.is_core:
            return {function: self._followed(names) for function, names in self.results.items()}
        for function in self.functions:
            read = self._taken[function]
            # a word that only others read has a place all the same
            unread = {word: (word, self._unread(word)) for word in self.words}
            taken = words_taken(function, self.words)
            made[function] = dict((unread | read)[word] for word in taken)
        return made

    def _followed(self, results: Iterable[str]) -> dict[str, Format]:
        (stage,) = self.stages.values()
        whole = stage.fixed.graph
        own = Graph(whole.inputs, {name: whole.outputs[name] for name in results})
        read = {node.name for node in own.nodes if node.op is Op.INPUT}
        return {name: word for name, word in self.inputs.items() if name in read}

    def _unread(self, word: str) -> Format:
        return self.inputs.get(word, Format(self.words[word], 0))

    @cached_property
    def _taken(self) -> dict[str, dict[str, tuple[str, Format]]]:
        """Function → each word of a task that it reads: the input that it brings, its format."""
        return {function: self._words_of(function) for function in self.functions}

    def _words_of(self, function: str) -> dict[str, tuple[str, Format]]:
        found: dict[str, tuple[str, Format]] = {}
        for visit in self.route(function):
            stage = self.stages[visit.stage]
            for field, source in stage.sources(function, visit).items():
                if source.stage == HOST and place(field) == source.field:
                    found[source.field] = field, self._brought[field]
                elif source.stage == HOST:
                    found.setdefault(source.field, (source.field, self.inputs[source.field]))
        if function in ROLLOUTS:
            found[STEPS] = STEPS, Format(COUNT + 1, 0)
        return found

    @cached_property
    def _brought(self) -> dict[str, Format]:
        """Input of a stage → its format in a task, the same for all functions.

        With the bits of all stages that read it: where joints are time-multiplexed, some have more.
        """
        found: dict[str, Format] = {}
        for stage in self.stages.values():
            for field, own in stage.fixed.inputs.items():
                before = found.setdefault(field, own)
                fraction = max(before.fraction, own.fraction)
                whole = max(word.width - word.fraction for word in (before, own))
                found[field] = replace(before, width=whole + fraction, fraction=fraction)
        return found

    def given(self, function: str, source: Source) -> Format:
        """The format of what an operand is made from."""
        if source.stage == HOST:
            return self._taken[function][source.field][1]
        return self.stages[source.stage].outputs[source.field]

    @cached_property
    def result_formats(self) -> dict[str, dict[str, Format]]:
        """Function → its outputs, in order, each with its format."""
        return {
            function: {
                name: self.given(function, self.giver(function, name))
                for name in self.results[function]
            }
            for function in self.functions
        }

    @property
    def result_words(self) -> int:
        """How many words a result has at most."""
        if self.is_core:
            return sum(len(stage.outputs) for stage in self.stages.values())
        return max(map(len, self.results.values()))

    @property
    def result_width(self) -> int:
        """Bits of the widest word of a result."""
        formats = self.result_formats.values()
        return max(word.width for own in formats for word in own.values())

    def word_of(self, field: str) -> str:
        """The word of a task that an input comes in."""
        return field if self.is_core else place(field)

    def giver(self, function: str, output: str) -> Source:
        """The stage that gives an output of a function, and what it calls it."""
        visited = self.visit_counts[function]
        kind = kind_of(output)
        called = output, renamed(output, CALLED.get(kind, kind))
        return next(
            Source(s, own) for own in called for s in visited if own in self.stages[s].outputs
        )

    def visitors(self, stage: str) -> list[tuple[str, StageVisit]]:
        """(function, visit) of each way in which tasks come to a stage."""
        return [
            (function, visit)
            for function in self.functions
            for visit in self.route(function)
            if visit.stage == stage
        ]

    def senders(self, stage: Stage) -> dict[str, list[str]]:
        """Sender → the fields that a stage reads of it, in any visit."""
        found: dict[str, dict[str, None]] = {}
        for function, visit in self.visitors(stage.name):
            for given in stage.sources(function, visit).values():
                if given.stage not in (NOTHING, TURN, TOLD):
                    found.setdefault(given.stage, {})[given.field] = None
        if stage.name == "integrate":
            found[HOST][STEPS] = None
        return {sender: list(fields) for sender, fields in found.items()}

    def large_banks(self) -> dict[tuple[str, str], int]:
        """(sender, reader) → bits for a slot, of the banks between stages with many."""
        bits = {
            (sender, name): sum(self.bank(sender, fields).values()) + 1  # and a flag
            for name, stage in self.stages.items()
            for sender, fields in self.senders(stage).items()
            if sender != HOST
        }
        return {bank: own for bank, own in bits.items() if own > BLOCK}

    def waits_for_words(self, stage: str) -> bool:
        """Whether a stage's words come a cycle after its task, out of block RAM."""
        return any(reader == stage for _, reader in self.blocks)

    def bank(self, sender: str, fields: list[str]) -> dict[str, int]:
        """Width of each of a sender's words that a bank holds for each slot."""
        if sender == HOST:
            return {field: self.words[field] for field in fields}
        return {field: self.stages[sender].outputs[field].width for field in fields}

    @cached_property
    def given_fields(self) -> dict[str, list[str]]:
        """Stage → its words that results consist of; those that complete a function come first."""
        found: dict[str, dict[str, None]] = {}
        for function, outputs in self.results.items():
            found.setdefault(self.last(function), {})
            for output in outputs:
                giver = self.giver(function, output)
                found.setdefault(giver.stage, {})[giver.field] = None
        return {stage: list(fields) for stage, fields in found.items()}

    def in_block_ram(self, stage: str) -> bool:
        """Whether the words that results consist of are in block RAM, being so many."""
        return sum(self.bank(stage, self.given_fields[stage]).values()) > BLOCK

    @cached_property
    def alone(self) -> bool:
        """Whether `gradient` stands alone."""
        return stands_alone({name: stage.piece.reads for name, stage in self.stages.items()})

    @cached_property
    def visit_counts(self) -> dict[str, dict[str, int]]:
        """Function → how often a task visits each stage; in a step, of a rollout."""
        return {own: visit_counts(own, self.stages, self.alone) for own in self.functions}

    def route(self, function: str) -> dict[StageVisit, tuple[StageVisit, ...]]:
        """Visit → where the task goes from there; without a stage `trig`, no visit to it."""
        return self._routes[function]

    @cached_property
    def _routes(self) -> dict[str, dict[StageVisit, tuple[StageVisit, ...]]]:
        whole = {own: route(own, self.stages, self.alone) for own in self.functions}
        return {
            own: {visit: to for visit, to in leads.items() if visit.stage in self.stages}
            for own, leads in whole.items()
        }

    @cached_property
    def waits(self) -> dict[str, tuple[str, ...]]:
        """Stage → the stages that a task must have left besides the one that it comes from."""
        return waits(self.stages, self.alone)

    def entries(self, function: str) -> tuple[StageVisit, ...]:
        """The visits that a task begins with."""
        trig = StageVisit("trig")
        if trig.stage not in self.stages:
            return route(function, self.stages, self.alone)[trig]
        return tuple(first(trig, self.stages))

    def last(self, function: str) -> str:
        """The stage that completes a function."""
        return next(v.stage for v, leads in self.route(function).items() if RESULT in leads)

    def flags_of(self, function: str) -> list[str]:
        """The stages whose flags together tell of all that made a result, the last one first.

        A stage's flag tells of those that it reads; a limb's part may give results that no other
        stage reads.
        """
        senders: dict[str, set[str]] = {}
        for visit in self.route(function):
            sources = self.stages[visit.stage].sources(function, visit).values()
            senders.setdefault(visit.stage, set()).update(source.stage for source in sources)
        givers = [self.giver(function, name).stage for name in self.results[function]]
        found, told = list[str](), set[str]()
        for stage in dict.fromkeys([self.last(function), *reversed(givers)]):
            if stage not in told:
                found.append(stage)
            pending = [stage]
            while pending:
                if (one := pending.pop()) not in told:
                    told.add(one)
                    pending += senders.get(one, ())
        return found

    @property
    def multipliers(self) -> int:
        """Hardware multipliers of all stages."""
        return sum(stage.multipliers for stage in self.stages.values())

    def interval(self, function: str) -> int:
        """Cycles from task to task of ``function`` alone, that the busiest stage needs."""
        counts = self.visit_counts[function]
        return max(count * self.stages[s].interval for s, count in counts.items())

    def before(self, function: str, visit: StageVisit) -> tuple[list[StageVisit], list[StageVisit]]:
        """The visits that send a task to a visit, and those that it only waits for."""
        waited = [parse(stage) for stage in self.waits.get(visit.stage, ())]
        senders = [v for v, leads in self.route(function).items() if visit in leads]
        return senders, [replace(v, again=visit.again and v.step == visit.step) for v in waited]

    def ordered(self, function: str) -> list[StageVisit]:
        """The visits of a function, each after those that it reads of; a rollout's first turn."""
        visits = list(map(parse, self.stages))
        late = [visit for visit in visits if visit.step in ("gradient", "product")]
        again = [replace(visit, again=True) for visit in visits if visit.step == "rnea"]
        order = [*(visit for visit in visits if visit not in late), *again, *late]
        return sorted((v for v in self.route(function) if v in order), key=order.index)

    def turn(self, function: str, number: int) -> list[StageVisit]:
        """The visits of a turn of a rollout, each after those that it reads of."""
        first = [visit for visit in self.ordered(function) if not visit.again]
        if not number:
            return first
        later, there = [replace(visit, again=True) for visit in first], self.route(function)
        return [new if new in there else own for own, new in zip(first, later, strict=True)]


def one_stage(plan: Plan, results: Mapping[str, tuple[str, ...]]) -> Accelerator:
    """A core, whose ``plan`` computes all functions; ``results``: function → its outputs."""
    fixed = plan.whole
    stage = Stage(CORE.stage, Piece(fixed, {}), plan)
    return Accelerator(tuple(results), {stage.name: stage}, results, fixed.inputs, 0, True)


def _position(item: tuple[str, int]) -> tuple[int, tuple[int, ...], str]:
    name, _ = item
    return ORDER.index(kind_of(name)), indices(name), name
