"""An order of a program's visits in which those that are alike follow each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from .graph import Graph
from .node import Builder, Node, Op
from .visits import Program, Source, Visit, VisitResult, factored, scaled

Group = tuple[str, tuple[int, ...]]
MOVE = 2  # instructions that a number takes from one visit to another's lane
LANES = 8


def grouped(program: Program) -> Program:
    """The same visits, and those of a group side by side: to one template, with keys that differ in
    their first number. What comes between two groups is one visit to a template of its own.

    A group is one where its lanes save more operations than moving what they read takes, and no
    visit of it waits for another.
    """
    waits = {visit: _before(program, visit) for visit in program.reads}
    groups = _groups(program, waits)
    several = Counter(template for template, _ in groups)
    left, done, made = dict.fromkeys(program.reads), set[Visit](), _Renamed(program)
    while left:
        beside = {visit for own in groups.values() for visit in own}
        alone: list[Visit] = []
        for visit in list(left):  # operands come first
            if visit not in beside and waits[visit] <= done:
                alone.append(visit)
                done.add(visit)
                del left[visit]
        if alone:
            made.one(f"between_{len(done)}", alone)
        ready = [g for g, own in groups.items() if all(waits[v] <= done for v in own)]
        if left and not ready and not alone:  # groups that wait for each other
            del groups[min(groups, key=lambda group: (len(groups[group]), group))]
        for group in ready:
            visits = groups.pop(group)
            made.beside(visits, several[group[0]] > 1)
            done.update(visits)
            for visit in visits:
                del left[visit]
    return made.program()


def _before(program: Program, visit: Visit) -> set[Visit]:
    words = (factored(source)[0] for source in program.reads[visit].values())
    return {word.visit for word in words if isinstance(word, VisitResult)}


def _groups(program: Program, waits: dict[Visit, set[Visit]]) -> dict[Group, list[Visit]]:
    """The groups that are worth it, each in the order of its keys."""
    found: dict[Group, list[Visit]] = defaultdict(list)
    for visit in program.reads:
        found[visit.template, visit.key[1:]].append(visit)
    behind: dict[Visit, set[Visit]] = {}
    for visit in program.reads:  # operands come first
        behind[visit] = set(waits[visit]).union(*(behind[v] for v in waits[visit]))
    apart = {
        group: sorted(own)
        for group, own in found.items()
        if len(own) > 1 and all(behind[visit].isdisjoint(own) for visit in own)
    }
    kept = dict(apart)
    for group, own in apart.items():
        template = program.templates[group[0]]
        operations = sum(1 for n in template.nodes if n.op not in (Op.INPUT, Op.CONST))
        saved = operations * (len(own) - -(-len(own) // LANES))
        moved = sum(
            len({*sources}) > 1 and not _in_place(sources, kept)
            for port in template.inputs
            for sources in [[program.reads[visit][port] for visit in own]]
        )
        if saved <= MOVE * len(own) * moved:
            del kept[group]
    return kept


def _in_place(sources: Sequence[Source], groups: dict[Group, list[Visit]]) -> bool:
    """Whether the sources are constants, or lanes of one group."""
    if all(isinstance(source, float) for source in sources):
        return True
    if not all(isinstance(source, VisitResult) for source in sources):
        return False
    visits = [s.visit for s in sources if isinstance(s, VisitResult)]
    own = {(visit.template, visit.key[1:]) for visit in visits}
    return len(own) == 1 and own <= groups.keys()


class _Renamed:
    """Visits as they become those of another program."""

    def __init__(self, program: Program) -> None:
        self._of = program
        self._templates: dict[str, Graph] = {}
        self._reads: dict[Visit, dict[str, Source]] = {}
        self._now: dict[VisitResult, VisitResult] = {}

    def program(self) -> Program:
        """All of them."""
        outputs = {name: self._source(own) for name, own in self._of.outputs.items()}
        return Program(self._templates, self._reads, outputs)

    def _source(self, source: Source) -> Source:
        word, by = factored(source)
        if not isinstance(word, VisitResult):
            return source
        return scaled(self._now[word], by)

    def beside(self, visits: Sequence[Visit], several: bool) -> None:
        """Visits that stand side by side; ``several``: so do others to the same template."""
        template = visits[0].template
        name = "_".join([template, *(str(k) for k in visits[0].key[1:])]) if several else template
        self._templates[name] = self._of.templates[template]
        for visit in visits:
            own = Visit(name, visit.key[:1])
            reads = self._of.reads[visit]
            self._reads[own] = {port: self._source(source) for port, source in reads.items()}
            for result in self._templates[name].outputs:
                self._now[VisitResult(visit, result)] = VisitResult(own, result)

    def one(self, name: str, visits: Sequence[Visit]) -> None:
        """Visits that become one."""
        builder, own = Builder(), Visit(name, ())
        made: dict[VisitResult, Node] = {}
        reads: dict[str, Source] = {}

        def node(source: Source) -> Node:
            word, by = factored(source)
            if isinstance(word, float):
                return builder.const(word * by)
            if isinstance(word, VisitResult) and word in made:
                return builder.mul(by, made[word])
            read = self._now[word] if isinstance(word, VisitResult) else word
            called = f"{read.visit.name} {read.name}" if isinstance(read, VisitResult) else read
            reads[called] = read
            return builder.mul(by, builder.input(called))

        for visit in visits:
            template, new = self._of.templates[visit.template], dict[Node, Node]()
            for each in template.nodes:
                if each.op is Op.INPUT:
                    new[each] = node(self._of.reads[visit][each.name])
                else:
                    new[each] = builder.same(each, [new[arg] for arg in each.args])
            for called, each in template.outputs.items():
                made[VisitResult(visit, called)] = new[each]
        outputs = {}
        for result, value in made.items():
            called = f"{result.visit.name} {result.name}"
            outputs[called] = value
            self._now[result] = VisitResult(own, called)
        self._templates[name] = Graph(tuple(reads), outputs)
        self._reads[own] = reads
