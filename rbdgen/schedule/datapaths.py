"""The datapaths of joints in turn, as one graph: they share no multiplier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..design.target import Target
from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.verify import verify_fixed
from ..passes.instances import CopyingBuilder, FixedProgram, copied
from ..passes.specialised import kind_of
from .units import Jobs, shared_jobs

TASK = "task"  # the datapath that gives a task's words to those who read them


@dataclass(frozen=True, order=True)
class Datapath:
    """One datapath of a template; or of ``TASK``, the words of a task that a template reads."""

    template: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.template}_{self.number}"

    @property
    def kind(self) -> str:
        """What all joints of a kind have: ``column`` of the ``column_3`` that some of them have."""
        return kind_of(self.template)


@dataclass(frozen=True, eq=False)
class Datapaths:
    """Datapaths as one graph, in words.

    ``copies``: for each datapath, node of its template → node of ``fixed``. Inputs and outputs are
    called DATAPATH.NAME there.
    """

    fixed: FixedGraph
    copies: Mapping[Datapath, Mapping[Node, Node]]

    def jobs(self, target: Target) -> Jobs:
        """The jobs that take a multiplier: datapaths share none, so each can lie in one place."""
        number = {(own.template, own.number): k for k, own in enumerate(self.copies)}

        def apart(node: Node) -> int:
            assert node.region is not None
            return number[node.region]

        return shared_jobs(self.fixed, target, apart)


def datapaths_of(program: FixedProgram, rounds: int) -> Datapaths:
    """The datapaths that each template's visits need, one visit in a round each."""
    numbers = {name: -(-len(program.real.of(name)) // rounds) for name in program.templates}
    return datapaths_with(program.templates, numbers)


def datapaths_with(templates: Mapping[str, FixedGraph], numbers: Mapping[str, int]) -> Datapaths:
    """So many of each template."""
    builder = CopyingBuilder()
    formats: dict[Node, Format] = {}
    inputs: dict[str, Format] = {}
    outputs: dict[str, Node] = {}
    copies: dict[Datapath, Mapping[Node, Node]] = {}
    steps: dict[Node, int] = {}
    mantissas: dict[Node, int] = {}
    width = 0
    for name, template in templates.items():
        width = template.width
        for number in range(numbers[name]):
            datapath = Datapath(name, number)
            words = {}
            for port, word in template.inputs.items():
                words[port] = builder.input(f"{datapath.name}.{port}")
                inputs[words[port].name] = formats[words[port]] = word
            copies[datapath] = copy = copied(builder, template, words, formats, (name, number))
            steps |= {copy[node]: count for node, count in template.steps.items()}
            mantissas |= {copy[node]: own for node, own in template.mantissas.items()}
            for result, node in template.graph.outputs.items():
                outputs[f"{datapath.name}.{result}"] = copies[datapath][node]
    graph = Graph(tuple(inputs), outputs)
    fixed = FixedGraph(graph, inputs, formats, width, steps, mantissas)
    return Datapaths(verify_fixed(fixed), copies)
