"""Which visits share a datapath: those that need the same, and read of the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product

from ..graph.node import Op
from ..graph.visits import Source, Visit, VisitResult, factored
from ..words.instances import FixedProgram
from .liveness import Live, needs_of

SEARCHED = 16  # visits to a template, beyond which their order has to do
PRODUCT = 2  # sums that a product counts as
SENDER = 2  # and a place from which a port reads: a memory, and a choice


def grouped(program: FixedProgram, rounds: int) -> dict[str, list[list[Visit]]]:
    """Template → its visits in groups of ``rounds``; the last has what is left."""
    return _Groups(program, rounds).found


@dataclass(frozen=True, eq=False)
class _Visits:
    """The needs of each visit.

    Products and sums, as sets of ``bits``, and their ``sizes``; the ports where it ``reads``
    results, with their factors; whether ``others`` read a word of the task's; and its ``readers``.
    """

    bits: Mapping[Visit, tuple[int, int]]
    sizes: Mapping[Visit, int]
    reads: Mapping[Visit, list[tuple[str, VisitResult, float]]]
    others: Mapping[Visit, frozenset[tuple[str, bool]]]
    readers: Mapping[Visit, set[Visit]]


@lru_cache(maxsize=1)
def _visits(program: FixedProgram) -> _Visits:
    """The same for any number of rounds."""
    needs = needs_of(program)
    sources: dict[Visit, dict[str, Source]] = {
        visit: {port: needs[visit].read(port, source) for port, source in own.items()}
        for visit, own in program.real.reads.items()
    }
    reads = {
        visit: [
            (port, word, by)
            for port, (word, by) in ((port, factored(source)) for port, source in own.items())
            if isinstance(word, VisitResult)
        ]
        for visit, own in sources.items()
    }
    others = {
        visit: frozenset(
            (port, not isinstance(source, float))
            for port, source in own.items()
            if not isinstance(factored(source)[0], VisitResult)
        )
        for visit, own in sources.items()
    }
    readers: dict[Visit, set[Visit]] = {visit: set() for visit in needs}
    for visit, results in reads.items():
        for _, source, _ in results:
            readers[source.visit].add(visit)
    bits = _bits(program, needs)
    sizes = {visit: _size([own]) for visit, own in bits.items()}
    return _Visits(bits, sizes, reads, others, readers)


class _Groups:
    """First in the order of what they need. Then two change places as long as that makes less."""

    def __init__(self, program: FixedProgram, rounds: int) -> None:
        made = _visits(program)
        self._made, self._bits = made, made.bits
        self._costs: dict[int, int] = {}  # of groups as they are, by their ids
        self._of: dict[Visit, list[Visit]] = {}
        self.found: dict[str, list[list[Visit]]] = {}
        for name in program.templates:
            visits = sorted(program.real.of(name), key=lambda v: (made.sizes[v], v.key[::-1]))
            self.found[name] = [visits[k : k + rounds] for k in range(0, len(visits), rounds)]
            self._of |= {visit: group for group in self.found[name] for visit in group}
        few = [name for name in self.found if len(program.real.of(name)) <= SEARCHED]
        better = True
        while better:
            better = sum(self._improve(self.found[name]) for name in few) > 0

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
        readers = self._made.readers
        visits = {one, other} | readers[one] | readers[other]
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
        others = frozenset[tuple[str, bool]]().union(*map(self._made.others.__getitem__, group))
        places = {
            (port, id(self._of[source.visit]), source.name, by)
            for visit in group
            for port, source, by in self._made.reads[visit]
        }
        size = _size(map(self._bits.__getitem__, group))
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
