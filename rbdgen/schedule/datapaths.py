"""The datapaths of time-multiplexed joints, as one graph: they share no multiplier."""

from __future__ import annotations

from collections.abc import Mapping

from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..graph.node import Node, Region
from ..graph.visits import Program, Source, Visit, VisitResult
from ..words.instances import FixedProgram, instantiate
from .units import Jobs, shared_jobs

TASK = "task"  # the datapath that gives a task's words to those who read them


# The k-th datapath of a template is the visit with key (k,); of TASK, the k-th memory of words.
Datapath = Visit


def datapaths_of(program: FixedProgram, rounds: int) -> FixedProgram:
    """The datapaths that each template's visits need, one visit in a round each."""
    numbers = {name: -(-len(program.real.of(name)) // rounds) for name in program.templates}
    return datapaths_with(program.templates, numbers)


def datapaths_with(templates: Mapping[str, FixedGraph], numbers: Mapping[str, int]) -> FixedProgram:
    """A number of datapaths of each template, which read no results of each other.

    Inputs and outputs of the whole are called DATAPATH.NAME.
    """
    datapaths = [Datapath(name, (k,)) for name in templates for k in range(numbers[name])]
    reads: dict[Visit, dict[str, Source]] = {
        own: {port: f"{own.name}.{port}" for port in templates[own.template].inputs}
        for own in datapaths
    }
    outputs: dict[str, Source] = {
        f"{own.name}.{result}": VisitResult(own, result)
        for own in datapaths
        for result in templates[own.template].graph.outputs
    }
    graphs = {name: template.graph for name, template in templates.items()}
    return instantiate(Program(graphs, reads, outputs), templates, regions=region_of)


def region_of(datapath: Datapath) -> Region:
    """The region of its operations."""
    (number,) = datapath.key
    return datapath.template, number


def jobs_of(datapaths: FixedProgram, target: Target) -> Jobs:
    """The jobs that take a multiplier: datapaths share none, so each can lie in one place."""
    number = {region_of(own): k for k, own in enumerate(datapaths.copies)}

    def apart(node: Node) -> int:
        assert node.region is not None
        return number[node.region]

    return shared_jobs(datapaths.whole, target, apart)
