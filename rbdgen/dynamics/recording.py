"""Steps kept as visits to templates: a recursion, recorded.

Whatever goes into a step or comes out of it is a structure of scalars: lists, tuples and
dataclasses of them. Each scalar that goes in is a port of the visit's template, called after its
place in the structure, each that comes out a result. Steps of one visit make up one template and
hand on to each other inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import partial
from graphlib import TopologicalSorter
from typing import Any, TypeVar

from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op, Region
from ..graph.visits import Program, Result, Scaled, Source, Visit, scaled, settle
from ..robot.angles import NOISE
from ..robot.model import Array
from .scalars import Arithmetic
from .spatial import Rotation, Turn, TurnX, TurnZX
from .units import Units

T = TypeVar("T")
FIXED = (bool, int, str, Enum, Units, type(None))  # what is the same in all visits to a template


@dataclass(frozen=True)
class Task:
    """An input of the task, by its name."""

    name: str


def times(leaf: Any, by: float) -> Any:
    """A word of the task, or an output, times a power of two."""
    return scaled(_source(leaf), by) if by != 1 else leaf


class _Here:
    """The arithmetic of whichever template a step is traced in."""


HERE: Any = _Here()
Leaf = float | Task | Result | Scaled | Node | _Here
Place = tuple[int, str]  # which of a visit's steps, and where among its arguments


@dataclass(frozen=True, eq=False)
class _Kept:
    """A step of a visit, and what it takes: structures of constants, `Task` and `Result`."""

    step: Callable[..., Any]
    args: tuple[Any, ...]

    def shape(self, own: Visit) -> list[Any]:
        """The same for all visits to a template: functions, structure, what is its own result."""
        found: list[Any] = [self.step]

        def note(path: str, leaf: Leaf) -> Leaf:
            own_result = leaf.name if isinstance(leaf, Result) and leaf.visit == own else ""
            found.append((path, own_result))
            return leaf

        mapped(self.args, note, found.append)
        return found


@dataclass
class Recorder:
    """Keeps each step of each visit."""

    steps: dict[Visit, list[_Kept]] = field(default_factory=dict)
    shares: bool = True

    @property
    def arithmetic(self) -> Arithmetic:
        return HERE

    def __call__(self, visit: Visit, region: Region, step: Callable[..., T], *args: Any) -> T:
        kept = self.steps.setdefault(visit, [])
        number, nodes = len(kept), dict[str, Node]()
        kept.append(_Kept(step, args))
        builder = Builder()

        def anything(path: str, leaf: Leaf) -> Any:
            if isinstance(leaf, _Here):
                return builder
            return builder.input(path if isinstance(leaf, float) else repr(leaf))

        def result(path: str, leaf: Leaf) -> Result:
            assert not isinstance(leaf, Task | Result | Scaled | _Here)
            nodes[path] = builder.lift(leaf)
            # a symmetric tensor holds the same result twice
            parts = path.split(".")
            mirrored = ".".join([*parts[:-2], *reversed(parts[-2:])])
            first = mirrored if nodes.get(mirrored) is nodes[path] else path
            return Result(visit, _name(number, step, first))

        return mapped(step(*mapped(args, anything)), result)

    def rotation(self, R: Array, by: float = 1.0) -> TurnZX | Rotation:
        if abs(R[2, 0]) > NOISE:
            return Rotation((by * R).tolist())
        # Rz(γ) Rx(α): the first column is (cos γ, sin γ, 0), the last row (0, sin α, cos α)
        c, s, sa, ca = map(float, (R[0, 0], R[1, 0], R[2, 1], R[2, 2]))
        return TurnZX(Turn(c, s), TurnX(by * ca, by * sa, by))

    def program(self, outputs: Mapping[str, Any]) -> Program:
        """The visits that ``outputs`` need: name → `Result`, `Task` or constant."""
        order = TopologicalSorter({visit: self._before(visit) for visit in self.steps})
        visits = list(order.static_order())
        templates: dict[str, _Template] = {}
        for name in dict.fromkeys(visit.template for visit in self.steps):
            own = {visit: kept for visit, kept in self.steps.items() if visit.template == name}
            templates[name] = _template(own)
        reads = {visit: templates[visit.template].reads(visit) for visit in visits}
        wanted = {name: _source(leaf) for name, leaf in outputs.items()}
        return settle(lambda name, known: templates[name].trace(name, known), reads, wanted)

    def _before(self, visit: Visit) -> set[Visit]:
        found: set[Visit] = set()

        def note(_: str, leaf: Leaf) -> Leaf:
            if isinstance(leaf, Result):
                found.add(leaf.visit)
            return leaf

        for kept in self.steps[visit]:
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

    visits: Mapping[Visit, list[_Kept]]
    ports: Mapping[Place, str]

    def reads(self, visit: Visit) -> dict[str, Source]:
        found: dict[str, Source] = {}
        for place, leaf in _outside(visit, self.visits[visit]):
            found[self.ports[place]] = _source(leaf)
        return found

    def trace(self, name: str, known: Mapping[str, float]) -> Graph:
        """Its graph where some ports are known."""
        visit, steps = next(iter(self.visits.items()))
        builder, inputs = _Settling(), dict[str, None]()
        values: dict[str, Any] = {}

        def given(number: int, path: str, leaf: Leaf) -> Any:
            if isinstance(leaf, _Here):
                return builder
            if isinstance(leaf, Result) and leaf.visit == visit:
                return values[leaf.name]
            port = self.ports[number, path]
            if port in known:
                return known[port]
            inputs[port] = None
            return builder.input(port)

        def keep(number: int, step: Callable[..., Any], path: str, leaf: Leaf) -> Leaf:
            values[_name(number, step, path)] = leaf
            return leaf

        with builder.region(name, 0):
            for k, kept in enumerate(steps):
                args = mapped(kept.args, partial(given, k))
                mapped(kept.step(*args), partial(keep, k, kept.step))
        return Graph(tuple(inputs), {key: builder.lift(x) for key, x in values.items()})


def _template(visits: Mapping[Visit, list[_Kept]]) -> _Template:
    """Ports that read the same in every visit are one."""
    sources: dict[Place, list[Source]] = {}
    shapes: list[list[Any]] = []
    for visit, steps in visits.items():
        shapes.append([kept.shape(visit) for kept in steps])
        if shapes[-1] != shapes[0]:
            other = next(iter(visits))
            raise ValueError(f"{visit} and {other} are visits to one template, and not alike")
        for place, leaf in _outside(visit, steps):
            sources.setdefault(place, []).append(_source(leaf))
    first: dict[tuple[Source, ...], str] = {}
    names: set[str] = set()
    ports: dict[Place, str] = {}
    for (number, path), read in sources.items():
        name = f"in{path}" if f"in{path}" not in names else f"in{number}{path}"
        ports[number, path] = first.setdefault(tuple(read), name)
        names.add(ports[number, path])
    return _Template(visits, ports)


def _outside(visit: Visit, steps: Iterable[_Kept]) -> list[tuple[Place, Leaf]]:
    """The scalars that a visit takes from elsewhere."""
    found: list[tuple[Place, Leaf]] = []

    def note(number: int, path: str, leaf: Leaf) -> Leaf:
        inside = isinstance(leaf, _Here) or (isinstance(leaf, Result) and leaf.visit == visit)
        if not inside:
            found.append(((number, path), leaf))
        return leaf

    for number, kept in enumerate(steps):
        mapped(kept.args, partial(note, number))
    return found


def _source(leaf: Any) -> Source:
    if isinstance(leaf, Task):
        return leaf.name
    return leaf if isinstance(leaf, Result | Scaled) else float(leaf)


def _name(number: int, step: Callable[..., Any], path: str) -> str:
    return f"{step.__name__.strip('_')}{number}{path}"


def mapped(
    value: Any,
    leaf: Callable[[str, Any], Any],
    fixed: Callable[[Any], Any] = lambda _: None,
    path: str = "",
) -> Any:
    """A structure with ``leaf`` of each scalar's path and the scalar in its place.

    ``fixed`` is shown all that is no scalar.
    """
    if isinstance(value, float | Task | Result | Scaled | Node | _Here):
        return leaf(path, value)
    if isinstance(value, list | tuple):
        fixed((type(value), len(value)))
        found = [mapped(x, leaf, fixed, f"{path}.{k}") for k, x in enumerate(value)]
        return found if isinstance(value, list) else tuple(found)
    if isinstance(value, FIXED):
        fixed(value)
        return value
    if is_dataclass(value) and not isinstance(value, type):
        fixed(type(value))
        own = {
            f.name: mapped(getattr(value, f.name), leaf, fixed, f"{path}.{f.name}")
            for f in fields(value)
        }
        return replace(value, **own)
    raise TypeError(f"no structure of scalars: {type(value).__name__}")
