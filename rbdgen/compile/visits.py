"""Visits that compute a design's graph: all of it in loops, or what can be lanes of one state."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ..design.design import formulation_of, is_looped
from ..design.effects import refuse_design
from ..design.rules import LOOPS
from ..dynamics.interface import random_inputs
from ..dynamics.program import program
from ..dynamics.recursions import AGAIN
from ..dynamics.side_by_side import COLUMN, FACTORS, side_by_side
from ..graph.graph import Graph, Multiple, cone, extracted, multiple
from ..graph.node import Builder, Node, Op
from ..graph.verify import verify
from ..graph.visit_order import grouped
from ..graph.visits import Program, Source, Visit, VisitResult, inlined, once, scaled, then
from ..graph.word import PARAMETER, Word, indices, kind_of, not_registers, parse, spell
from ..robot.limbs import limbs_of
from ..robot.model import Robot
from ..robot.model_parameters import ModelParameters
from .front import Front, frame_index
from .parameters import Parameters, symbolic
from .words import LIMB_SAMPLES, LIMB_SEED


def with_visits(front: Front) -> tuple[Front, Program | None]:
    """The visits that compute the front's graph, where its design asks for loops.

    With registers the front comes with other ones: the numbers that visits read, and the graph that
    visits make of these. RobotError for what there are no visits of.
    """
    if front.parameters is None:
        return front, visits_of(front)
    if not is_looped(front.design):
        return front, None
    return _with_registers(front, front.parameters.numbers)


def visits_of(front: Front) -> Program | None:
    """The same of a design without registers."""
    if not is_looped(front.design):
        return None
    return _visits(front, front.canonical, {})


def _with_registers(front: Front, numbers: ModelParameters) -> tuple[Front, Program]:
    held: dict[Node, str] = {}
    found = _visits(front, symbolic(numbers, Builder()), held)
    sources = {source for reads in found.reads.values() for source in reads.values()}
    read = [
        (node, name) for node, name in held.items() if name in sources | {*found.outputs.values()}
    ]
    names = {name: spell(PARAMETER, k) for k, (_, name) in enumerate(read)}

    def named(source: Source) -> Source:
        return names.get(source, source) if isinstance(source, str) else source

    found = Program(
        found.templates,
        {v: {port: named(own) for port, own in reads.items()} for v, reads in found.reads.items()},
        {name: named(own) for name, own in found.outputs.items()},
    )
    makes = {names[name]: node for node, name in read}
    own = dict.fromkeys(n.name for n in Graph((), makes).nodes if n.op is Op.INPUT)
    graph = inlined(found, [*not_registers(front.graph.inputs), *makes])
    parameters = Parameters(numbers, Graph(tuple(own), makes))
    return replace(front, graph=verify(graph), parameters=parameters), found


def _visits(front: Front, robot: Robot, held: dict[Node, str]) -> Program:
    """The program of the front's canonical robot, or of one with nodes for numbers.

    ``held``: of `program`.
    """
    design = front.design
    formulation = formulation_of(design)
    refuse_design(design, f"{front.robot.name}: code: loops", LOOPS, formulation=formulation)
    return program(
        robot,
        front.graph,
        design.rotation,
        design.payload,
        formulation=formulation,
        step=design.step,
        network=design.network,
        frame=frame_index(design, front.canonical),
        held=held,
    )


FEW = 4  # columns that are worth lanes


def alike(front: Front) -> list[Program]:
    """Programs of the front's graph whose visits to one template can be lanes of one state.

    Visits to columns that are solved for, to limbs that are alike, and to joints in one frame.
    """
    graph, robot = front.graph, front.canonical
    if front.parameters is not None or is_looped(front.design):
        return []
    columns = solving(graph)
    found = [columns.program(once(FACTORS, Graph(graph.inputs, columns.before)))] if columns else []
    if limbs_of(robot).turning:
        from .limbs.names import LimbError

        with suppress(LimbError):  # limbs that share nothing
            found += _on_limbs(graph, robot, columns)
    if joints := side_by_side(robot, graph, front.design.rotation):
        found.append(grouped(joints))
    return found


def _on_limbs(graph: Graph, robot: Robot, columns: Columns | None) -> list[Program]:
    """The graph on limbs; of one that solves for columns what comes before them.

    There limbs are visited twice: up to q̈, which depends on all of them, and at that q̈.
    """
    if columns is None:  # what is known to be a limb's beside outputs, which depend on all limbs
        inner = {
            name: own.of
            for name, own in graph.known.items()
            if kind_of(name) in ("L", "H") and own.of and own.of.args
        }
        whole = extracted({**graph.outputs, **inner}, graph.inputs, {}) if inner else graph
        return [_split(whole, robot)]
    if columns.qdd.keys() & {*graph.inputs} or not columns.sides:
        return []
    first = {n: node for n, node in columns.before.items() if n not in columns.sides}
    known = {node: (name, 1.0) for name, node in columns.qdd.items()}
    at_qdd = {name: columns.before[name] for name in columns.sides}
    found = _split(extracted({**first, **columns.qdd}, graph.inputs, {}), robot)
    again = _split(extracted(at_qdd, graph.inputs, known), robot)
    return [columns.program(then(found, again.called(AGAIN), graph.inputs))]


def _split(graph: Graph, robot: Robot) -> Program:
    """The graph as visits to its limbs; LimbError."""
    from .limbs.split import split

    anything = random_inputs(robot, graph.inputs, LIMB_SAMPLES, LIMB_SEED)
    limbs = split(graph, robot, anything, dict.fromkeys(graph.nodes, ""), (), ("",))
    return limbs.program(graph.inputs)


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns x of M x = b that are solved for, each a visit to one template.

    ``visits`` read words of the task and of ``before``, which has all other outputs too: name →
    node. ``sides``: in their order, those that are entries of b alone, named as those of x are;
    none where x has no such names. ``qdd``: what was solved for before.
    """

    task: Collection[str]
    visits: Program
    before: dict[str, Node]
    sides: Sequence[str]
    qdd: Mapping[str, Node]

    def program(self, before: Program) -> Program:
        """All visits, from those that give the words of before."""
        return then(before, self.visits, self.task)


def solving(graph: Graph) -> Columns | None:
    """The columns of a graph that solves M x = b for many b at once.

    The graph says what is ``known`` in it: entries of b and x by the column's number, those of the
    factors L and D of M. None where there are few columns, or one waits for another.
    """
    known: dict[str, dict[tuple[int, ...], Multiple]] = {kind: {} for kind in "HLbx"}
    for name, own in graph.known.items():
        if kind_of(name) in known and (own.of or own.factor):
            known[kind_of(name)][indices(name)] = own
    factors = {spell("D", *at): own for at, own in _inverses(graph, known["H"]).items()}
    if len(factors) != len({k for k, _ in known["H"]}):
        return None
    factors |= {spell("L", *at): own for at, own in known["L"].items()}
    x = _solved(graph, known, factors)
    columns = sorted({c for c, _ in x.values()})
    if len(columns) < FEW:
        return None
    before = {name: node for name, node in graph.outputs.items() if multiple(node).of not in x}
    named: dict[int, Word] = {}  # column → the first output that it has
    outputs: dict[str, Source] = {}
    for name, node in graph.outputs.items():
        of = multiple(node)
        if of.of in x:
            c, k = x[of.of]
            named.setdefault(c, parse(name))
            solved = VisitResult(Visit(COLUMN, (c,)), spell("x", k))
            outputs[name] = scaled(solved, of.factor / known["x"][c, k].factor)

    def source(own: Multiple, name: str) -> Source:
        if own.of is None:
            return own.factor
        if own.of.op is Op.INPUT:
            return scaled(own.of.name, own.factor)
        before[name] = own.of
        return scaled(name, own.factor)

    shared = {name: source(Multiple(1.0, own.of), name) for name, own in factors.items() if own.of}
    direct = {*before}
    matrices = len(named) == len(columns) and all(len(own.indices) == 2 for own in named.values())

    def side(c: int, k: int) -> str:
        return spell(f"b_{named[c].kind}", k, named[c].indices[1]) if matrices else spell("b", c, k)

    template = _column(factors)
    reads: dict[Visit, dict[str, Source]] = {}
    for c in columns:
        b = {spell("b", k): source(own, side(n, k)) for (n, k), own in known["b"].items() if n == c}
        own_reads = shared | b
        reads[Visit(COLUMN, (c,))] = {p: own_reads.get(p, 0.0) for p in template.inputs}
    qdd = {spell("qdd", k): own for (c, k), own in known["x"].items() if c == 0 and own.of}
    apart = matrices and all(x.factor == 1 for x in qdd.values())
    sides = [name for name in before if apart and name not in direct]
    return Columns(
        graph.inputs,
        Program({COLUMN: template}, reads, outputs),
        before,
        sides,
        {name: own.of for name, own in qdd.items() if own.of},
    )


def _solved(
    graph: Graph,
    known: Mapping[str, Mapping[tuple[int, ...], Multiple]],
    factors: Mapping[str, Multiple],
) -> dict[Node | None, tuple[int, ...]]:
    """Node → the column and row of x that it is, where nothing but outputs reads it."""
    x: dict[Node | None, tuple[int, ...]] = {
        own.of: at for at, own in known["x"].items() if at[0] and own.of
    }
    while True:
        columns = {c for c, _ in x.values()}
        read = [own.of for at, own in known["b"].items() if at[0] in columns and own.of]
        read += [own.of for own in factors.values() if own.of]
        read += [node for node in graph.outputs.values() if multiple(node).of not in x]
        others = cone(read)
        if x.keys().isdisjoint(others):
            return x
        x = {node: at for node, at in x.items() if node not in others}


def _inverses(
    graph: Graph, pivots: Mapping[tuple[int, ...], Multiple]
) -> dict[tuple[int, ...], Multiple]:
    """Coordinate (k,) → 1 / H[k,k], where the graph has it or it is a constant."""
    made: dict[Node | None, Multiple] = {}
    for node in graph.nodes:
        if node.op is Op.RECIP:
            own = multiple(node.args[0])
            made[own.of] = Multiple(own.factor, node)
    found: dict[tuple[int, ...], Multiple] = {}
    for (k, i), own in pivots.items():
        if k == i and own.of is None:
            found[k,] = Multiple(1 / own.factor)
        elif k == i and own.of in made:
            inverse = made[own.of]
            found[k,] = Multiple(inverse.factor / own.factor, inverse.of)
    return found


def _column(factors: Mapping[str, Multiple]) -> Graph:
    """x = M⁻¹ b from L[k,i], D[k] = 1 / H[k,k] and b[k]; ``factors``: multiples of these inputs."""
    builder = Builder()
    rows = sorted(indices(name)[0] for name in factors if kind_of(name) == "D")
    above: dict[int, list[int]] = {k: [] for k in rows}
    for k, i in sorted(indices(name) for name in factors if kind_of(name) == "L"):
        above[k].append(i)

    def times(name: str, value: Node) -> Node:
        own = factors[name]
        if own.of is None:
            return builder.mul(own.factor, value)
        return builder.mul(own.factor, builder.mul(builder.input(name), value))

    y = {k: builder.input(spell("b", k)) for k in rows}
    for k in reversed(rows):
        for i in above[k]:
            y[i] = builder.sub(y[i], times(spell("L", k, i), y[k]))
    x: dict[int, Node] = {}
    for k in rows:
        x[k] = times(spell("D", k), y[k])
        for i in above[k]:
            x[k] = builder.sub(x[k], times(spell("L", k, i), x[i]))
    outputs = {spell("x", k): node for k, node in x.items()}
    inputs = [n.name for n in Graph((), outputs).nodes if n.op is Op.INPUT]
    return Graph(tuple(inputs), outputs)
