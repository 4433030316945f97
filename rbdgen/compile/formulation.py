"""Which formulation takes the fewest cycles: what style latency is made in where nobody says.

Every formulation is traced, which takes a small part of the time that its words take, and its
cycles are estimated. Only the one that wins goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..design.design import Design, formulation_of, with_choice
from ..design.functions import FACTORING
from ..design.nested import FORMULATED, Choice
from ..graph.graph import Graph
from ..robot.model import RobotError
from ..system.messages import Progress
from .estimate import about, too_many
from .front import Front, Rows, counting, in_reals
from .parameters import Parameters

GRADIENTS = ("did", "dfd", "difd", "ddid", "step")
LARGER = (
    "; at one word length its errors are larger, by about a sixth for an arm of seven joints and "
    "more on longer chains (--width, --error)"
)
BLOCKS = "; --factorisation blocks takes fewer still for M⁻¹, with 2 to 5 times the error"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A formulation's graph, and about how many cycles its arithmetic takes."""

    formulation: str
    graph: Graph
    counts: Rows  # of the graph: traced, and after each pass
    parameters: Parameters | None
    cycles: float
    cannot: bool  # it has more products than there are multipliers, and cannot share any

    @property
    def rank(self) -> tuple[bool, float, int]:
        return self.cannot, round(self.cycles, 1), self.graph.operations()["mul"]

    def __str__(self) -> str:
        products = self.graph.operations()["mul"]
        more = ", more than the part or the budget has multipliers for" if self.cannot else ""
        return f"{self.formulation} {self.cycles:.3g} cycles, {products} products{more}"


def ranked(front: Front, progress: Progress = lambda _: None) -> list[Front]:
    """The same functions in every formulation that has them, the fewest cycles first.

    Of each the design says what was chosen, beside what the others would take.
    """
    found = sorted(_candidates(front, progress), key=lambda own: own.rank)
    return [_with(front, own, found) for own in found]


def formulations(design: Design) -> tuple[str, ...]:
    """The candidates for the fewest cycles, without Lathrop's, which are there for comparison."""
    if set(design.functions) == {"id"}:
        return "composite", "linear", "logarithmic"
    if set(GRADIENTS).intersection(design.functions):
        return "composite", "recursive", "logarithmic"
    return "composite", "logarithmic"


def _candidates(front: Front, progress: Progress) -> list[Candidate]:
    found = []
    for name in formulations(front.design):
        graph, counts, held = front.graph, front.counts, front.parameters
        if name != formulation_of(front.design):
            progress(f"formulation {name}: trace")
            design, rows = replace(front.design, formulation=name), list(front.counts[:0])
            numbers = held.numbers if held else None
            try:
                graph, held = in_reals(
                    design, front.canonical, numbers, counting(rows, front.counts[0][0])
                )
            except RobotError:  # mminvgen goes from link to link only
                continue
            counts = tuple(rows)
        cycles = about(graph, front.design, front.target)
        cannot = too_many(graph, front.design, front.target)
        found.append(Candidate(name, graph, counts, held, cycles, cannot))
    return found


def _with(front: Front, own: Candidate, found: list[Candidate]) -> Front:
    others = "; ".join(str(other) for other in found if other is not own)
    why = "the fewest cycles"
    if own is not found[0]:
        why = f"{found[0].formulation} does not fit"
    note = f"formulation: {own}, {why}; {others}; cycles are of arithmetic, about"
    if own.formulation == "logarithmic":
        note += LARGER
    note += "; --formulation chooses another"
    factors = not set(FACTORING).isdisjoint(front.design.functions)
    if factors and front.design.factorisation != "blocks":
        note += BLOCKS
    choice = Choice(FORMULATED, note, {"formulation": own.formulation})
    design = with_choice(front.design, choice)
    return replace(
        front, design=design, graph=own.graph, counts=own.counts, parameters=own.parameters
    )
