"""Steps kept as visits to templates: a recursion, recorded.

Whatever goes into a step or comes out of it is a structure of scalars: lists, tuples and
dataclasses of them. Each scalar that goes in is a port of the visit's template, called after its
place in the structure, each that comes out a result. Steps of one visit make up one template and
hand on to each other inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from graphlib import TopologicalSorter
from typing import Any, TypeVar

from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op, Region
from ..graph.visits import Program, Scaled, Source, Visit, VisitResult, settle
from ..graph.word import PARAMETER, spell
from ..robot.angles import NOISE
from ..robot.model import Array
from .repeated import reading_once
from .scalars import Arithmetic, Scalar
from .spatial import Rotation, Turn, TurnX, TurnZX, differs
from .steps import HERE, Here, Kept, Leaf, Place, TaskInput, input_name, mapped, name_of, source_of

T = TypeVar("T")


@dataclass
class Recorder:
    """Keeps each step of each visit.

    ``firsts``: each visit of a pass that repeats another → the visit that it repeats. ``held``: of
    a robot whose numbers are nodes: those nodes → the words of the task that they come in as.
    """

    steps: dict[Visit, list[Kept]] = field(default_factory=dict)
    firsts: dict[Visit, Visit] = field(default_factory=dict)
    held: dict[Node, str] = field(default_factory=dict)
    shares: bool = True

    @property
    def arithmetic(self) -> Arithmetic:
        return HERE

    def __call__(self, visit: Visit, region: Region, step: Callable[..., T], *args: Any) -> T:
        kept = self.steps.setdefault(visit, [])
        number, nodes, builder = len(kept), dict[str, Node](), Builder()
        args = mapped(args, self._told)

        def anything(path: str, leaf: Leaf) -> Any:
            if isinstance(leaf, Here):
                return builder
            return builder.input(input_name(path, leaf))

        def result(path: str, leaf: Leaf) -> VisitResult:
            assert not isinstance(leaf, TaskInput | VisitResult | Scaled | Here)
            nodes[path] = builder.lift(leaf)
            # a symmetric tensor holds the same result twice
            parts = path.split(".")
            mirrored = ".".join([*parts[:-2], *reversed(parts[-2:])])
            first = mirrored if nodes.get(mirrored) is nodes[path] else path
            return VisitResult(visit, name_of(number, step, first))

        found = mapped(step(*mapped(args, anything)), result)
        kept.append(Kept(step, args, {name_of(number, step, p): x for p, x in nodes.items()}))
        return found

    def rotation(self, R: Array) -> TurnZX | Rotation:
        if differs(R[2, 0], 0.0, NOISE):
            return Rotation(R.tolist())
        # Rz(γ) Rx(α): the first column is (cos γ, sin γ, 0), the last row (0, sin α, cos α)
        (c, _, _), (s, _, _), (_, sa, ca) = R.tolist()
        return TurnZX(Turn(c, s), TurnX(ca, sa))

    def again(self, suffix: str) -> Repeating:
        return Repeating(self, suffix)

    def together(self, trees: Mapping[int, int]) -> Recorder:
        return self

    def beside(self, value: Scalar) -> Recorder:
        return self

    def program(self, outputs: Mapping[str, Any]) -> Program:
        """The visits that ``outputs`` need: name → `VisitResult`, `TaskInput` or constant."""
        once = reading_once(self.steps, self.firsts)
        steps = {
            visit: [replace(kept, args=mapped(kept.args, once)) for kept in own]
            for visit, own in self.steps.items()
        }
        order = TopologicalSorter({visit: _before(visit, own) for visit, own in steps.items()})
        visits = list(order.static_order())
        templates: dict[str, _Template] = {}
        for name in dict.fromkeys(visit.template for visit in steps):
            own = {visit: kept for visit, kept in steps.items() if visit.template == name}
            templates[name] = _template(own)
        reads = {visit: templates[visit.template].reads(visit) for visit in visits}
        outputs = {name: self._told("", leaf) for name, leaf in outputs.items()}
        wanted = {name: source_of(once("", leaf)) for name, leaf in outputs.items()}
        return settle(lambda name, known: templates[name].trace(name, known), reads, wanted)

    def _told(self, _: str, leaf: Leaf) -> Leaf:
        """A constant of the robot as a number, and any other node as a word of the task."""
        if not isinstance(leaf, Node):
            return leaf
        if leaf.op is Op.CONST:
            return leaf.value
        return TaskInput(self.held.setdefault(leaf, spell(PARAMETER, len(self.held))))


@dataclass(frozen=True)
class Repeating:
    """Runs a recursion that ``run`` has recorded once more, as visits of other templates.

    Those are called after the first ones', with ``suffix``. What they would give that depends on
    nothing that is another now is read from the first visits.
    """

    run: Recorder
    suffix: str
    shares: bool = True

    @property
    def arithmetic(self) -> Arithmetic:
        return self.run.arithmetic

    def __call__(self, visit: Visit, region: Region, step: Callable[..., T], *args: Any) -> T:
        own = Visit(visit.template + self.suffix, visit.key)
        self.run.firsts[own] = visit
        return self.run(own, region, step, *args)

    def rotation(self, R: Array) -> TurnZX | Rotation:
        return self.run.rotation(R)

    def again(self, suffix: str) -> Repeating:
        return Repeating(self.run, suffix)

    def together(self, trees: Mapping[int, int]) -> Repeating:
        return self

    def beside(self, value: Scalar) -> Repeating:
        return self


def _before(visit: Visit, steps: Iterable[Kept]) -> set[Visit]:
    """The visits whose results a visit takes."""
    found: set[Visit] = set()

    def note(_: str, leaf: Leaf) -> Leaf:
        word = leaf.of if isinstance(leaf, Scaled) else leaf
        if isinstance(word, VisitResult):
            found.add(word.visit)
        return leaf

    for kept in steps:
        mapped(kept.args, note)
    return found - {visit}


class _Settling(Builder):
    """Where results are still taken for zero, so are their reciprocals."""

    def recip(self, a: Node | float) -> Node:
        node = self.lift(a)
        return node if node.op is Op.CONST and node.value == 0 else super().recip(node)


@dataclass(frozen=True, eq=False)
class _Template:
    """The steps of all visits to a template; ``ports``: place → the port that it is."""

    visits: Mapping[Visit, list[Kept]]
    ports: Mapping[Place, str]

    def reads(self, visit: Visit) -> dict[str, Source]:
        found: dict[str, Source] = {}
        for place, leaf in _outside(visit, self.visits[visit]):
            found[self.ports[place]] = source_of(leaf)
        return found

    def trace(self, name: str, known: Mapping[str, float]) -> Graph:
        """Its graph where some ports are known."""
        visit, steps = next(iter(self.visits.items()))
        builder, inputs = _Settling(), dict[str, None]()
        values: dict[str, Any] = {}

        def given(number: int, path: str, leaf: Leaf) -> Any:
            if isinstance(leaf, Here):
                return builder
            if isinstance(leaf, VisitResult) and leaf.visit == visit:
                return values[leaf.name]
            port = self.ports[number, path]
            if port in known:
                return known[port]
            inputs[port] = None
            return builder.input(port)

        def keep(number: int, step: Callable[..., Any], path: str, leaf: Leaf) -> Leaf:
            values[name_of(number, step, path)] = leaf
            return leaf

        with builder.region(name, 0):
            for k, kept in enumerate(steps):
                args = mapped(kept.args, partial(given, k))
                mapped(kept.step(*args), partial(keep, k, kept.step))
        return Graph(tuple(inputs), {key: builder.lift(x) for key, x in values.items()})


def _template(visits: Mapping[Visit, list[Kept]]) -> _Template:
    """Ports that read the same in every visit are one."""
    sources: dict[Place, list[Source]] = {}
    shapes: list[list[Any]] = []
    for visit, steps in visits.items():
        shapes.append([kept.shape(visit) for kept in steps])
        if shapes[-1] != shapes[0]:
            other = next(iter(visits))
            raise ValueError(f"{visit} and {other} are visits to one template, and not alike")
        for place, leaf in _outside(visit, steps):
            sources.setdefault(place, []).append(source_of(leaf))
    first: dict[tuple[Source, ...], str] = {}
    names: set[str] = set()
    ports: dict[Place, str] = {}
    for (number, path), read in sources.items():
        name = f"in{path}" if f"in{path}" not in names else f"in{number}{path}"
        ports[number, path] = first.setdefault(tuple(read), name)
        names.add(ports[number, path])
    return _Template(visits, ports)


def _outside(visit: Visit, steps: Iterable[Kept]) -> list[tuple[Place, Leaf]]:
    """The scalars that a visit takes from elsewhere."""
    found: list[tuple[Place, Leaf]] = []

    def note(number: int, path: str, leaf: Leaf) -> Leaf:
        inside = isinstance(leaf, Here) or (isinstance(leaf, VisitResult) and leaf.visit == visit)
        if not inside:
            found.append(((number, path), leaf))
        return leaf

    for number, kept in enumerate(steps):
        mapped(kept.args, partial(note, number))
    return found
