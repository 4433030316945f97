"""One state alone: parts of its graph that are alike, side by side in a register.

Visits to one template that follow each other (``graph.visits``) are lanes: limbs that compute the
same, or columns that are solved for with the same factors. What else a program visits is computed
for one number at a time, as ``real`` has it.

All that passes between visits is in one array of words. A template's results are rows of it, a
number for each visit; so are its inputs that differ between its visits, unless they lie side by
side in other visits' results already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op
from ..graph.visits import (
    Program,
    Source,
    Visit,
    VisitResult,
    factored,
    scaled,
)
from .interface import ArrayInterface
from .lane_stages import Lanes, Stage
from .real import Place, in_parts, literal
from .statement_order import chunks_of, computed

WIDEST = 8  # lanes: the doubles of a register of AVX-512
SAVES = 0.8  # of a graph's operations, at most, are a program's of lanes
SINE, COSINE = "sine of ", "cosine of "  # and an input


def lanes(
    programs: Iterable[Program], graph: Graph, interface: ArrayInterface, ahead: Sequence[int]
) -> Lanes | None:
    """The stages of that one of programs that takes the fewest operations, moves and words.

    Each computes ``graph``. None where none saves enough. ``ahead``: the inputs whose sines and
    cosines are there.
    """
    most = SAVES * len(computed(graph))
    made = (_Writer(program, graph, interface, ahead).lanes() for program in programs)
    enough = [own for own in made if own.facts.cost <= most]
    return min(enough, key=lambda own: own.facts.cost + own.words, default=None)


class _Writer:
    """Assigns words to what passes between visits, and writes their statements."""

    def __init__(
        self, program: Program, graph: Graph, interface: ArrayInterface, ahead: Sequence[int]
    ) -> None:
        self.program, self.interface, self.ahead = program, interface, ahead
        self.inputs = {name: k for k, name in enumerate(graph.inputs)}
        self.outputs = {name: k for k, name in enumerate(graph.outputs)}
        self.given = {name: program.outputs[name] for name in graph.outputs}
        self.words = 0
        self.written: set[int] = set()  # words of rows that are there, all lanes of them
        self.runs = [list(own) for _, own in groupby(program.reads, lambda visit: visit.template)]
        self.at: dict[VisitResult, int] = {}  # results of lanes, which lie in rows
        self.places: dict[Source, dict[int, None]] = {}  # all words of rows where a source is
        # results of one visit alone → the words that they go to, and times what
        self.goes: dict[VisitResult, list[tuple[int, float]]] = {}

    def lanes(self) -> Lanes:
        """The stages."""
        rows = [self._rows(own) if len(own) > 1 else None for own in self.runs]
        stages = []
        for visits, own in zip(self.runs, rows, strict=True):
            stages.append(self._alike(visits, own) if own else self._alone(visits[0]))
        rest = {name: s for name, s in self.given.items() if not _of_visit(s)}
        if rest:
            lines = [self._stored(name, source) for name, source in rest.items()]
            stages.append(Stage("given", 0, (), 0, 0, last=tuple(lines)))
        zeros = [(at, own.lanes) for own in rows if own for at in own.zeros]
        beyond = {at for own in rows if own for at in own.unwritten}
        zeros += [(at, 1) for at in sorted(beyond)]
        return Lanes(tuple(stages), self.words + WIDEST, tuple(zeros))  # what lanes read beyond

    def _room(self, size: int) -> int:
        """The first of so many new words; rows begin where a register does."""
        if size > 1:
            self.words += -self.words % WIDEST
        self.words += size
        return self.words - size

    def _rows(self, visits: list[Visit]) -> _Rows:
        """The rows of visits to a template, with what fills them."""
        template, reads = _without_sines(self.program, visits, self.inputs, self.ahead)
        count = len(visits)
        own = _Rows(template, lanes=min(WIDEST, 1 << (count - 1).bit_length()))
        own.groups = -(-count // own.lanes)
        names: list[str] = []
        for port in template.inputs:
            sources = [reads[visit][port] for visit in visits]
            if all(isinstance(source, float) for source in sources):
                own.places[port] = f"row{{{len(own.constants)}}}"
                own.constants.append([x for x in sources if isinstance(x, float)])
            elif len(set(sources)) == 1:
                own.places[port] = f"word{{{self._word(sources[0], own)}}}"
            elif (side := self._beside(sources)) is not None:
                own.places[port] = f"side{{{side}}}"
                beyond = range(side + count, side + own.lanes * own.groups)
                own.unwritten += [at for at in beyond if at not in self.written]
            else:
                own.places[port] = len(names)
                names.append(port)
        row = own.lanes * own.groups
        own.read = self._room(row * len(names))
        for k, port in enumerate(names):
            at = own.read + row * k
            self._fill_row(at, [reads[visit][port] for visit in visits], own)
            for group in range(own.groups):  # which have lanes without a number
                some = visits[group * own.lanes : (group + 1) * own.lanes]
                if len(some) < own.lanes or any(reads[v][port] == 0.0 for v in some):
                    own.zeros.append(at + own.lanes * group)
        own.given = self._room(row * len(template.outputs))
        self.written.update(range(own.read, own.read + row * len(names)))
        self.written.update(range(own.given, own.given + row * len(template.outputs)))
        for n, visit in enumerate(visits):
            for k, name in enumerate(template.outputs):
                at = own.given + row * k + n
                self.at[VisitResult(visit, name)] = at
                self._place(VisitResult(visit, name), at)
        return own

    def _beside(self, sources: Sequence[Source]) -> int | None:
        """The first of the words in which sources lie side by side, if they do."""
        first, *others = sources
        for at in self.places.get(first, ()):
            if all(at + n in self.places.get(own, ()) for n, own in enumerate(others, 1)):
                return at
        return None

    def _fill_row(self, at: int, sources: Sequence[Source], own: _Rows) -> None:
        """Note what brings sources' numbers to a row: those that lie side by side, together."""
        n = 0
        while n < len(sources):
            size = WIDEST
            while size > 1 and (
                n + size > len(sources) or self._beside(sources[n : n + size]) is None
            ):
                size //= 2
            if size > 1:
                first = self._beside(sources[n : n + size])
                own.first.append(f"io.template move<{size}>({at + n}, {first});")
            else:
                self._fill(at + n, sources[n], own)
            n += size
        for n, source in enumerate(sources):
            self._place(source, at + n)

    def _place(self, source: Source, at: int) -> None:
        self.places.setdefault(source, {})[at] = None

    def _word(self, source: Source, own: _Rows) -> int:
        """A word with what all of several visits read."""
        word, by = factored(source)
        if isinstance(word, VisitResult) and by == 1:
            if word in self.at:
                return self.at[word]
            alone = [at for at, factor in self.goes.get(word, ()) if factor == 1]
            if alone:
                return alone[0]
        at = self._room(1)
        self._fill(at, source, own)
        return at

    def _fill(self, at: int, source: Source, own: _Rows) -> None:
        """Note what brings a source's number to a word."""
        word, by = factored(source)
        if isinstance(word, VisitResult) and word not in self.at:
            self.goes.setdefault(word, []).append((at, by))
        elif source != 0.0:
            own.first.append(f"io.store(word{{{at}}}, {self._value(source)});")

    def _value(self, source: Source) -> str:
        """An expression that reads a source: of the task, of lanes, or a constant."""
        word, by = factored(source)
        sign = "-" if by == -1 else f"{literal(by)} * " if by != 1 else ""
        if isinstance(word, float):
            return literal(word * by)
        if isinstance(word, VisitResult):
            return f"{sign}io.load(word{{{self._read(word)}}})"
        name = word.removeprefix(SINE).removeprefix(COSINE)
        if name != word:
            kind = "sine" if word.startswith(SINE) else "cosine"
            return f"{sign}io.{kind}s[{self.ahead.index(self.inputs[name])}]"
        return f"{sign}io.load({self.inputs[word]})"

    def _read(self, word: VisitResult) -> int:
        """The word where a result is; of one visit alone it goes to a new one if to none."""
        if word in self.at:
            return self.at[word]
        goes = self.goes.setdefault(word, [])
        if not any(by == 1 for _, by in goes):
            goes.append((self._room(1), 1.0))
        return next(at for at, by in goes if by == 1)

    def _stored(self, name: str, source: Source) -> str:
        return f"io.store({self.outputs[name]}, {self._value(source)}); // {name}"

    def _alone(self, visit: Visit) -> Stage:
        template, reads = self.program.templates[visit.template], self.program.reads[visit]
        builder, new = Builder(), dict[Node, Node]()
        inputs: dict[str, Place] = dict(self.inputs)
        for node in template.nodes:
            new[node] = self._copied(builder, node, new, reads, inputs)
        outputs: dict[str, Node] = {}
        places: dict[str, Place] = {}
        for name, source in self.given.items():
            word, by = factored(source)
            if isinstance(word, VisitResult) and word.visit == visit:
                outputs[name] = builder.mul(by, new[template.outputs[word.name]])
                places[name] = self.outputs[name]
        later = self.runs[next(k for k, own in enumerate(self.runs) if visit in own) + 1 :]
        for other in (v for own in later if len(own) == 1 for v in own):
            for source in self.program.reads[other].values():
                word, _ = factored(source)
                if isinstance(word, VisitResult) and word.visit == visit:
                    self._read(word)
        for name, node in template.outputs.items():
            for at, by in self.goes.get(VisitResult(visit, name), ()):
                outputs[f"word {at}"] = builder.mul(by, new[node])
                places[f"word {at}"] = f"word{{{at}}}"
        own = Graph(tuple(inputs), outputs)
        nodes = computed(own)
        made = in_parts(own, chunks_of(nodes), self.ahead, inputs=inputs, outputs=places)
        return Stage(visit.template, 1, made.parts, made.slots, len(nodes), divides=made.divides)

    def _copied(
        self,
        builder: Builder,
        node: Node,
        new: Mapping[Node, Node],
        reads: Mapping[str, Source],
        inputs: dict[str, Place],
    ) -> Node:
        """A visit's node with what it reads in the place of an input."""
        if node.op is not Op.INPUT:
            return builder.same(node, [new[arg] for arg in node.args])
        word, by = factored(reads[node.name])
        if isinstance(word, float):
            return builder.const(word * by)
        if isinstance(word, VisitResult):
            at = self._read(word)
            word = f"word {at}"
            inputs[word] = f"word{{{at}}}"
        return builder.mul(by, builder.input(word))

    def _alike(self, visits: list[Visit], own: _Rows) -> Stage:
        nodes = computed(own.template)
        results: dict[str, Place] = {name: k for k, name in enumerate(own.template.outputs)}
        made = in_parts(own.template, chunks_of(nodes), inputs=own.places, outputs=results)
        taken = {v: k for k, v in enumerate(visits)}
        given = [
            (self.outputs[name], name, source)
            for name, source in self.given.items()
            if _of_visit(source) in taken
        ]
        more = [0.0] * (own.lanes * own.groups - len(visits))
        constants = [tuple(repr(x) for x in [*numbers, *more]) for numbers in own.constants]
        return Stage(
            visits[0].template,
            len(visits),
            made.parts,
            made.slots,
            len(nodes),
            own.lanes,
            own.groups,
            tuple(own.first),
            tuple(self._copies(given)),
            own.read,
            own.given,
            tuple(constants),
            made.divides,
        )

    def _copies(self, given: Iterable[tuple[int, str, Source]]) -> list[str]:
        """Statements that give outputs: those that follow each other in words and in an array,
        with one sign, together."""
        arrays = {array.name: k for k, array in enumerate(self.interface.gives)}
        lines, rows = [], []
        for _, name, source in given:
            word, by = factored(source)
            entries = self.interface.outputs[name]
            if len(entries) > 1 or abs(by) != 1 or not isinstance(word, VisitResult):
                lines.append(self._stored(name, source))
            else:
                entry = entries[0]
                rows.append((arrays[entry.array], entry.at, self.at[word], by, name))
        rows.sort()
        while rows:
            array, at, place, by, name = rows[0]
            alike = 1
            for other in rows[1:WIDEST]:
                if other[:4] != (array, at + alike, place + alike, by):
                    break
                alike += 1
            size = 1 << (alike.bit_length() - 1)
            if size > 1:
                lines.append(f"io.template copy<{size}, {by:.0f}>({array}, {at}, {place});")
            else:
                lines.append(self._stored(name, self.given[name]))
            rows = rows[size:]
        return lines


def _of_visit(source: Source) -> Visit | None:
    word, _ = factored(source)
    return word.visit if isinstance(word, VisitResult) else None


@dataclass(eq=False)
class _Rows:
    """Rows that visits to a template read and give side by side; see `Stage`.

    ``places``: of the template's inputs. ``zeros``: rows where a lane has no number; ``unwritten``:
    words that such lanes read elsewhere.
    """

    template: Graph
    lanes: int = 1
    groups: int = 1
    read: int = 0
    given: int = 0
    places: dict[str, Place] = field(default_factory=dict)
    constants: list[list[float]] = field(default_factory=list)
    zeros: list[int] = field(default_factory=list)
    unwritten: list[int] = field(default_factory=list)
    first: list[str] = field(default_factory=list)


def _without_sines(
    program: Program, visits: list[Visit], inputs: Mapping[str, int], ahead: Sequence[int]
) -> tuple[Graph, dict[Visit, dict[str, Source]]]:
    """A template that reads the sines and cosines of inputs that are there, and its sources."""
    template = program.templates[visits[0].template]
    reads = {visit: dict(program.reads[visit]) for visit in visits}
    builder, new = Builder(), dict[Node, Node]()
    for node in template.nodes:
        new[node] = builder.same(node, [new[arg] for arg in node.args])
        if node.op not in (Op.SIN, Op.COS) or node.args[0].op is not Op.INPUT:
            continue
        kind, (arg,) = SINE if node.op is Op.SIN else COSINE, node.args
        sources = [factored(own[arg.name]) for own in reads.values()]
        if all(abs(by) == 1 and inputs.get(str(word)) in ahead for word, by in sources):
            for own, (word, by) in zip(reads.values(), sources, strict=True):
                own[kind + arg.name] = scaled(f"{kind}{word}", by if kind == SINE else 1.0)
            new[node] = builder.input(kind + arg.name)
    outputs = {name: new[node] for name, node in template.outputs.items()}
    names = dict.fromkeys(n.name for n in Graph((), outputs).nodes if n.op is Op.INPUT)
    return Graph(tuple(names), outputs), reads
