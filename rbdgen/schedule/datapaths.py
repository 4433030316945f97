"""The datapaths of joints in turn, as one graph: they share no multiplier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..design.target import Target
from ..graph.fixed import FixedGraph
from ..graph.node import Node
from ..graph.visits import Program, Result, Source, Visit
from ..words.instances import FixedProgram, instantiate
from .specialise import kind_of
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
        """The kind of its joints: ``column`` of the ``column_3`` that some of them have."""
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
    """A number of datapaths of each template: visits that read no results of each other."""
    visits = {
        Visit(name, (k,)): Datapath(name, k) for name in templates for k in range(numbers[name])
    }
    reads: dict[Visit, dict[str, Source]] = {
        visit: {port: f"{own.name}.{port}" for port in templates[own.template].inputs}
        for visit, own in visits.items()
    }
    outputs: dict[str, Source] = {
        f"{own.name}.{result}": Result(visit, result)
        for visit, own in visits.items()
        for result in templates[own.template].graph.outputs
    }
    graphs = {name: template.graph for name, template in templates.items()}
    made = instantiate(
        Program(graphs, reads, outputs), templates, regions=lambda v: (v.template, v.key[0])
    )
    return Datapaths(made.whole, {own: made.copies[visit] for visit, own in visits.items()})
