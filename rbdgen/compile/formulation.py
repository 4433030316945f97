"""Which formulation takes the fewest cycles: what style latency is made in where nobody says.

Every formulation is traced, which takes a small part of the time that its words take, and its
cycles are estimated. Only the one that wins goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from ..design.design import Design, choice_of, formulation_of, with_choice
from ..design.functions import FACTORING, SLOPES
from ..design.nested import FORMULATED, Choice
from ..design.target import Target
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..robot.model import RobotError
from ..system.quoting import Progress
from ..words.order import BALANCE, run
from .fitting import Candidate, Search
from .front import Front, counting, in_reals

# Cycles of an operation, about, whatever the part; sines are there before all else.
TAKES: dict[Op, float] = {Op.MUL: 4, Op.MULC: 3, Op.ADD: 1, Op.SUB: 1, Op.RECIP: 15}
ADDITIONS = 2  # of a product by a constant, about
SINES = 2  # hardware multipliers of a sine and its cosine
LEAST_HEIGHT = 4  # joints from the base to the last one, below which sums gain next to nothing
LARGER = (
    "; at one word length its errors are larger, by about a sixth for an arm of seven joints and "
    "more on longer chains (--width, --error)"
)
BLOCKS = "; --factorisation blocks takes fewer still for M⁻¹, with 2 to 5 times the error"


@dataclass(frozen=True)
class Arithmetic:
    """The cost of a formulation's graph: about so many ``cycles``, and ``products``.

    ``cannot``: these are more than there are multipliers, and cannot share any.
    """

    cycles: float
    products: int
    cannot: bool

    def __str__(self) -> str:
        more = ", more than the part or the budget has multipliers for" if self.cannot else ""
        return f"{self.cycles:.3g} cycles, {self.products} products{more}"


Traced = Candidate[Arithmetic, Front]


def ranked(front: Front, progress: Progress = lambda _: None) -> list[Front]:
    """The same functions in every formulation that has them, the fewest cycles first.

    Of each the design says what was chosen, beside what the others would take.
    """
    found = Search(_candidates(front, progress), _rank).ranked
    return [_noted(front.design, own, found) for own in found]


def _rank(own: Traced) -> tuple[bool, float, int]:
    return own.cost.cannot, round(own.cost.cycles, 1), own.cost.products


def formulations(design: Design) -> tuple[str, ...]:
    """The candidates for the fewest cycles, without Lathrop's, which are there for comparison."""
    if set(design.functions) == {"id"}:
        return "composite", "linear", "logarithmic"
    if set(SLOPES).intersection(design.functions):
        return "composite", "recursive", "logarithmic"
    return "composite", "logarithmic"


def _candidates(front: Front, progress: Progress) -> Iterator[Traced]:
    for name in formulations(front.design):
        design, own = replace(front.design, formulation=name), front
        if name != formulation_of(front.design):
            progress(f"formulation {name}: trace")
            rows, held = list(front.counts[:0]), front.parameters
            watch = counting(rows, front.counts[0][0])
            try:
                numbers = held.numbers if held else None
                graph, held = in_reals(design, front.canonical, numbers, watch)
            except RobotError:  # mminvgen recurses from link to link only
                continue
            own = replace(front, graph=graph, counts=tuple(rows), parameters=held)
        cost = Arithmetic(
            about(own.graph, front.design, front.target),
            own.graph.operations()["mul"],
            too_many(own.graph, front.design, front.target),
        )
        yield Candidate(design, cost, own, f"{name} {cost}")


def _noted(design: Design, own: Traced, found: list[Traced]) -> Front:
    """The front of a formulation, whose design says why it was chosen of those that were found."""
    others = "; ".join(other.note for other in found if other is not own)
    why = "the fewest cycles"
    if own is not found[0]:
        why = f"{found[0].design.formulation} does not fit"
    note = f"formulation: {own.note}, {why}; {others}; cycles are of arithmetic, about"
    if own.design.formulation == "logarithmic":
        note += LARGER
    note += "; --formulation chooses another"
    factors = not set(FACTORING).isdisjoint(design.functions)
    if factors and design.factorisation != "blocks":
        note += BLOCKS
    choice = Choice(FORMULATED, note, {"formulation": own.design.formulation})
    return replace(own.made, design=with_choice(design, choice))


def advice(front: Front) -> str | None:
    """Products and cycles of a logarithmic design beside those of composites; None for others."""
    design = front.design
    if formulation_of(design) != "logarithmic" or choice_of(design, FORMULATED):
        return None
    other = replace(
        design,
        formulation="composite",
        network="sklansky",
        products="plain",
        frame=None,
        inverse="computed",
    )
    numbers = front.parameters.numbers if front.parameters else None
    composite, _ = in_reals(other, front.canonical, numbers)
    height = front.canonical.depth
    rows = []
    for name, graph in (("logarithmic", front.graph), ("composite", composite)):
        count = graph.operations()
        rows.append(
            f"{name} {count['mul']} products + {count['mulc']} by constants, about "
            f"{cycles(graph)} cycles of arithmetic"
        )
    advised = (
        f"height {height}: little or nothing gained, --formulation composite takes less"
        if height < LEAST_HEIGHT
        else f"height {height}: worth its multipliers where latency counts"
    )
    return f"formulation: {'; '.join(rows)}; {advised}"


def cycles(graph: Graph) -> int:
    """An estimate of the cycles of the longest path; terms of sums are added as they arrive."""
    return round(_end(run((BALANCE,), graph, None), TAKES, None))


def about(graph: Graph, design: Design, target: Target) -> float:
    """An estimate of a design's cycles, of style latency, from the sines to the last result.

    Products wait for the multipliers that there are; at a given clock operations are chained
    within it.
    """
    takes = TAKES
    if design.clock is not None:
        ns = target.delays
        product = ns.product(target.hardware_multipliers(design.width, design.width))
        addition = ns.sum(design.width + 1)
        ways = {Op.MUL: product, Op.MULC: ADDITIONS * addition, Op.RECIP: 3 * product}
        takes = {op: ways.get(op, addition) / design.clock for op in TAKES}
    return _end(run((BALANCE,), graph, None), takes, units(graph, design, target))


def units(graph: Graph, design: Design, target: Target) -> int | None:
    """Products that can start in one cycle; None where each has a multiplier of its own."""
    count, budget = graph.operations(), design.multipliers or target.multipliers
    each = target.hardware_multipliers(design.width, design.width)
    left = (budget - SINES * each * count["sincos"]) // each
    if count["mul"] <= left:
        return None
    said = design.ii is not None or design.multipliers is not None or design.clock is not None
    if not said and not design.fit:
        return None  # what finds no multiplier is made of logic
    return max(left, 1)


def too_many(graph: Graph, design: Design, target: Target) -> bool:
    """Whether the design cannot be: operations that are chained share no multipliers."""
    return design.clock is not None and units(graph, design, target) is not None


def _end(graph: Graph, takes: dict[Op, float], most: int | None) -> float:
    """When the last result is there; with ``most`` products a cycle, the urgent ones first."""
    readers: dict[Node, list[Node]] = {node: [] for node in graph.nodes}
    missing = {node: len(node.args) for node in graph.nodes}
    for node in graph.nodes:
        for a in node.args:
            readers[a].append(node)
    own = {n: 0.0 if n.is_shift else takes.get(n.op, 0.0) for n in graph.nodes}
    behind: dict[Node, float] = {}  # from a node's operands to the last result
    for node in reversed(graph.nodes):
        behind[node] = own[node] + max((behind[r] for r in readers[node]), default=0.0)
    done: dict[Node, float] = {}
    started: Counter[int] = Counter()  # products in a cycle
    ready = [(0.0, -behind[n], n.index, n) for n in graph.nodes if not n.args]
    heapify(ready)
    while ready:
        at, urgency, index, node = heappop(ready)
        if most is not None and node.op is Op.MUL:
            if started[int(at)] >= most:
                heappush(ready, (int(at) + 1.0, urgency, index, node))
                continue
            started[int(at)] += 1
        done[node] = at + own[node]
        for reader in readers[node]:
            missing[reader] -= 1
            if not missing[reader]:
                begins = max(done[a] for a in reader.args)
                heappush(ready, (begins, -behind[reader], reader.index, reader))
    return max((done[n] for n in graph.outputs.values()), default=0.0)
