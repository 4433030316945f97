"""Allocation of visits to datapaths: those that need the same, and read of the same ones.

Liveness says what a visit needs: no operation on zeros, or without readers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product

from ..graph.fixed import FixedGraph, Format
from ..graph.graph import cone
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


def _gather(nodes: set[Node], targets: Iterable[Node], zeros: Collection[Node]) -> None:
    """Add the targets, and all that they are computed from, but for zeros."""
    found = cone(targets, lambda node: node in nodes or node in zeros)
    nodes.update(node for node in found if node not in zeros)


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


SEARCHED = 16  # visits to a template, beyond which their order has to do
PRODUCT = 2  # sums that a product counts as
SENDER = 2  # and a place from which a port reads: a memory, and a choice


def grouped(program: FixedProgram, rounds: int) -> dict[str, list[list[Visit]]]:
    """Template → its visits in groups of ``rounds``; the last has what is left."""
    return _allocation(program).grouped(rounds)


@lru_cache(maxsize=1)
def _allocation(program: FixedProgram) -> _Allocation:
    """The visits to be grouped: the same for any number of rounds."""
    return _Allocation(program)


class _Allocation:
    """Visits in the order of what they need; two change places as long as that makes less.

    ``bits``: products and sums that each needs, as sets; ``reads``: the ports where it reads
    results, and their factors; ``others``: those where it reads anything else, and whether that is
    a word of the task; ``readers``: the visits that read its results.
    """

    def __init__(self, program: FixedProgram) -> None:
        self.program = program
        needs = needs_of(program)
        self.bits = _bits(program, needs)
        self.reads: dict[Visit, list[tuple[str, VisitResult, float]]] = {}
        self.others: dict[Visit, frozenset[tuple[str, bool]]] = {}
        self.readers: dict[Visit, set[Visit]] = {visit: set() for visit in needs}
        for visit, sources in program.real.reads.items():
            live = {port: needs[visit].read(port, own) for port, own in sources.items()}
            read = [(port, *factored(source)) for port, source in live.items()]
            self.reads[visit] = [
                (port, word, by) for port, word, by in read if isinstance(word, VisitResult)
            ]
            self.others[visit] = frozenset(
                (port, not isinstance(live[port], float))
                for port, word, _ in read
                if not isinstance(word, VisitResult)
            )
            for _, result, _ in self.reads[visit]:
                self.readers[result.visit].add(visit)

    def grouped(self, rounds: int) -> dict[str, list[list[Visit]]]:
        """Template → its visits in groups of ``rounds``."""
        self._costs: dict[int, int] = {}  # of groups as they are, by their ids
        self._of: dict[Visit, list[Visit]] = {}
        found: dict[str, list[list[Visit]]] = {}
        for name in self.program.templates:
            visits = sorted(
                self.program.real.of(name), key=lambda v: (_size([self.bits[v]]), v.key[::-1])
            )
            found[name] = [visits[k : k + rounds] for k in range(0, len(visits), rounds)]
            self._of |= {visit: group for group in found[name] for visit in group}
        few = [own for name, own in found.items() if len(self.program.real.of(name)) <= SEARCHED]
        better = True
        while better:
            better = sum(map(self._improve, few)) > 0
        return found

    def _improve(self, groups: list[list[Visit]]) -> int:
        """Exchanges that made less, of all that there could be among the groups of a template."""
        made = 0
        for one, other in combinations(groups, 2):
            for a, b in product(range(len(one)), range(len(other))):
                near = self._near(one[a], other[b])
                before = sum(map(self._known_cost, near))
                self._exchange(one, a, other, b)
                costs = {id(group): self._cost(group) for group in near}
                if sum(costs.values()) < before:
                    self._costs |= costs
                    made += 1
                else:
                    self._exchange(one, a, other, b)
        return made

    def _near(self, one: Visit, other: Visit) -> list[list[Visit]]:
        """The groups whose cost depends on where these visits are."""
        visits = {one, other} | self.readers[one] | self.readers[other]
        return list({id(group): group for group in map(self._of.__getitem__, visits)}.values())

    def _exchange(self, one: list[Visit], a: int, other: list[Visit], b: int) -> None:
        one[a], other[b] = other[b], one[a]
        self._of[one[a]], self._of[other[b]] = one, other

    def _known_cost(self, group: list[Visit]) -> int:
        if id(group) not in self._costs:
            self._costs[id(group)] = self._cost(group)
        return self._costs[id(group)]

    def _cost(self, group: list[Visit]) -> int:
        """The group's operations, and the sources of its ports."""
        others = frozenset[tuple[str, bool]]().union(*map(self.others.__getitem__, group))
        places = {
            (port, id(self._of[source.visit]), source.name, by)
            for visit in group
            for port, source, by in self.reads[visit]
        }
        size = _size(map(self.bits.__getitem__, group))
        return size + SENDER * (len(places) + len(others))


def _size(group: Iterable[tuple[int, int]]) -> int:
    """Arithmetic of a group's bits, in sums."""
    products = sums = 0
    for own in group:
        products, sums = products | own[0], sums | own[1]
    return PRODUCT * products.bit_count() + sums.bit_count()


def _bits(program: FixedProgram, needs: Mapping[Visit, Live]) -> dict[Visit, tuple[int, int]]:
    """The products and the sums that each visit needs, as sets of bits."""
    bit = {
        node: 1 << k
        for template in program.templates.values()
        for k, node in enumerate(template.graph.nodes)
    }
    return {
        visit: (
            sum(bit[node] for node in need.nodes if node.op is Op.MUL),
            sum(bit[node] for node in need.nodes if node.op in (Op.ADD, Op.SUB)),
        )
        for visit, need in needs.items()
    }
