"""Liveness of a program's visits: operations on zeros, or without readers, are not needed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..graph.fixed import FixedGraph, Format
from ..graph.node import Node, Op
from ..graph.visits import Source, Visit, VisitResult, factored
from ..words.instances import FixedProgram

SUMS = (Op.ADD, Op.SUB, Op.NEG, Op.MULC)  # zero, where all that they take is


@dataclass(frozen=True, eq=False)
class Live:
    """``nodes`` of the visit's template, and ``results`` that others read.

    ``idle``: the ports that are zero, or that it does not need; zero will do for them.
    """

    nodes: frozenset[Node]
    results: frozenset[str]
    idle: frozenset[str]

    def read(self, port: str, source: Source) -> Source:
        """The source of a port, or zero in its place if the port is idle."""
        return 0.0 if port in self.idle else source


@lru_cache(maxsize=1)
def needs_of(program: FixedProgram) -> dict[Visit, Live]:
    """The needs of every visit, in the order of the visits: the same for any number of rounds."""
    return _needed(program, {})


def needs_beside(
    program: FixedProgram, groups: Iterable[Sequence[Visit]], whole: bool = False
) -> dict[Visit, Live]:
    """The same where those of a group share a datapath, so that each computes what any one needs,
    or the ``whole`` template.

    Ports that a visit does not need read zero. What it computes of zeros and of true values, for
    nobody, may then be larger than its word, as a sum without a term that cancels the others. Such
    nodes it needs, too, so that their operands are true.
    """
    shared = list(groups)
    found = needs_of(program)
    computed: dict[Visit, frozenset[Node]] = {}
    while True:
        before, computed = computed, {}
        for visits in shared:
            own = frozenset[Node]().union(*(found[visit].nodes for visit in visits))
            if whole:
                own = frozenset(program.templates[visits[0].template].graph.nodes)
            own |= before.get(visits[0], frozenset())  # so that it comes to an end
            computed |= dict.fromkeys(visits, own)
        if computed == before:
            return found
        found = _needed(program, computed)


@lru_cache(maxsize=1)
def _zeros_of(program: FixedProgram) -> dict[Visit, set[Node]]:
    """The nodes that are zero in each visit, whatever the state."""
    found: dict[Visit, set[Node]] = {}
    for visit, sources in program.real.reads.items():
        found[visit] = _zeros(program, sources, program.templates[visit.template], found)
    return found


def _needed(program: FixedProgram, computed: Mapping[Visit, frozenset[Node]]) -> dict[Visit, Live]:
    """The needs of every visit, whose datapath computes the nodes ``computed`` anyway."""
    zeros = _zeros_of(program)
    real = program.real
    results: dict[Visit, set[str]] = {visit: set() for visit in real.reads}
    for source, _ in map(factored, real.outputs.values()):
        if isinstance(source, VisitResult):
            results[source.visit].add(source.name)
    found: dict[Visit, Live] = {}
    for visit in reversed(list(real.reads)):
        template = program.templates[visit.template]
        nodes: set[Node] = set()
        _gather(nodes, [template.graph.outputs[name] for name in results[visit]], zeros[visit])
        besides = computed.get(visit, frozenset()) - zeros[visit]
        _complete(template, nodes, besides, zeros[visit])
        ports = {node.name for node in nodes if node.op is Op.INPUT}
        for port in ports:
            read, _ = factored(real.reads[visit][port])
            if isinstance(read, VisitResult):
                results[read.visit].add(read.name)
        idle = frozenset(template.inputs) - ports
        found[visit] = Live(frozenset(nodes), frozenset(results[visit]), idle)
    return {visit: found[visit] for visit in real.reads}


def _complete(
    template: FixedGraph, nodes: set[Node], besides: Collection[Node], zeros: Collection[Node]
) -> None:
    """Add to the needed ``nodes`` those of ``besides`` that zeros for true values may overflow."""
    sizes: dict[Node, float] = {}
    true = nodes | set(zeros)
    for node in template.graph.nodes if besides else ():
        most = _largest(template.formats[node])
        if node.op is not Op.INPUT and (node in besides or node in true):
            if all(a in true for a in node.args):
                true.add(node)
            elif _partly(node, sizes, most) > most:
                _gather(nodes, [node], zeros)
                true |= nodes
        if node in zeros:
            sizes[node] = 0.0
        elif node in true:
            sizes[node] = most
        else:
            sizes[node] = min(_partly(node, sizes, most), most) if node in besides else 0.0


def _largest(word: Format) -> float:
    return float(word.highest * 2.0**-word.fraction)


def _partly(node: Node, sizes: Mapping[Node, float], most: float) -> float:
    """How large a node gets of operands of these ``sizes``, some of which are zero for true ones;
    ``most``: of one that says so by its own word."""
    of = [sizes[a] for a in node.args]
    match node.op:
        case Op.ADD | Op.SUB:
            return sum(of)
        case Op.MUL:
            return of[0] * of[1]
        case Op.MULC:
            return abs(node.value) * of[0]
        case Op.NEG:
            return of[0]
        case Op.SCALE:
            return most if of[0] else 0.0
    return 0.0 if node.op is Op.INPUT else most


def _gather(nodes: set[Node], stack: list[Node], zeros: Collection[Node]) -> None:
    """Add the nodes of the stack, and all that they are computed from, but for zeros."""
    while stack:
        node = stack.pop()
        if node not in nodes and node not in zeros:
            nodes.add(node)
            stack += node.args


def _zeros(
    program: FixedProgram,
    sources: Mapping[str, Source],
    template: FixedGraph,
    before: Mapping[Visit, set[Node]],
) -> set[Node]:
    """The nodes that are zero in a visit, whatever the state."""
    found: set[Node] = set()

    def is_zero(node: Node) -> bool:
        match node.op:
            case Op.INPUT:
                read, _ = factored(sources[node.name])
                if isinstance(read, VisitResult):
                    given = program.templates[read.visit.template].graph.outputs[read.name]
                    return given in before[read.visit]
                return isinstance(read, float) and not int(template.formats[node].quantize(read))
            case Op.CONST:
                return not int(template.formats[node].quantize(node.value))
            case Op.MUL:
                return any(a in found for a in node.args)
            case Op.SCALE:
                return node.args[0] in found
        return node.op in SUMS and all(a in found for a in node.args)

    for node in template.graph.nodes:
        if is_zero(node):
            found.add(node)
    return found
