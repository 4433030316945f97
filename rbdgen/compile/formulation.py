"""Which formulation takes the fewest cycles: what style latency is made in where nobody says.

Every formulation is traced, which takes a small part of the time that its words take, and its
cycles are estimated. Only the one that wins goes on.

A robot's functions as visits over real numbers, for programs in loops.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..design.design import Design, formulation_of
from ..design.effects import refuse_design
from ..design.functions import FACTORING
from ..design.nested import Formulated
from ..design.rules import LOOPS
from ..dynamics.program import program
from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op
from ..graph.verify import verify
from ..graph.visits import Program, Source, inlined
from ..graph.word import spell
from ..passes.registers import PARAMETER
from ..robot.model import Robot, RobotError
from ..robot.model_parameters import ModelParameters
from ..system.messages import Progress
from .accelerator_area import about, too_many
from .front import Front, Rows, Watch, frame_index, in_reals
from .parameters import Parameters, not_registers, symbolic

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


def counting(rows: list[tuple[str, dict[str, int]]], name: str) -> Watch:
    """Adds the operations of each graph to ``rows``, as it was traced called ``name``."""
    return lambda step, graph: rows.append((step or name, graph.operations()))


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
    design = replace(front.design, formulated=Formulated(own.formulation, note))
    return replace(
        front, design=design, graph=own.graph, counts=own.counts, parameters=own.parameters
    )


def with_visits(front: Front) -> tuple[Front, Program | None]:
    """The visits that compute the front's graph, where its design asks for loops.

    With registers the front comes with other ones: the numbers that visits read, and the graph that
    visits make of these. RobotError for what there are no visits of.
    """
    if front.parameters is None:
        return front, visits_of(front)
    if front.design.code != "loops":
        return front, None
    return _with_registers(front, front.parameters.numbers)


def visits_of(front: Front) -> Program | None:
    """The same of a design without registers."""
    if front.design.code != "loops":
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
