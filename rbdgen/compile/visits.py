"""A robot's functions as visits over real numbers, for programs in loops."""

from __future__ import annotations

from dataclasses import replace

from ..design.design import formulation_of, is_looped
from ..design.effects import refuse_design
from ..design.rules import LOOPS
from ..dynamics.program import program
from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op
from ..graph.verify import verify
from ..graph.visits import Program, Source, inlined
from ..graph.word import PARAMETER, not_registers, spell
from ..robot.model import Robot
from ..robot.model_parameters import ModelParameters
from .front import Front, frame_index
from .parameters import Parameters, symbolic


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
