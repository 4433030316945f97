"""A program whose visits are shared out among datapaths, each with what its own visits need alone.

A template serves whatever joint visits it, so for most visits much of it is products by zero, or
for nobody: iiwa 14's gradients take 1560 products in visits, and 633 in their graph. A datapath
serves as many visits as there are rounds. Here it becomes a template of its own: what is zero in
all of its visits is a constant there, and what none of them needs is left out. All datapaths
together are one graph, in which they share no multiplier.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache

from ..design.target import Target
from ..graph.fixed import FixedGraph, Format
from ..graph.graph import CopyingBuilder, Graph, cone
from ..graph.node import Node, Op, Region
from ..graph.verify import verify_fixed
from ..graph.visits import Program, Source, Visit, VisitResult, factored, scaled
from ..words.instances import FixedProgram, computing, copied, instantiate
from .allocation import Live, grouped, needs_beside
from .units import Jobs, shared_jobs


def specialised(program: FixedProgram, rounds: int) -> FixedProgram:
    """The same words, of templates that at most ``rounds`` visits share.

    Where they are parts of one, they are numbered: ``column_0``, ``column_1``. What a visit does
    not need it reads as zero.
    """
    needs, shared = _needs(program, rounds), _shared(program, rounds)
    templates, whole = templates_of(program, rounds), program.whole
    of = {visit: Visit(part, visit.key) for part, own in shared.items() for visit in own}
    reads = {
        of[visit]: {
            port: _known(_renamed(needs[visit].read(port, source), of), templates)
            for port, source in sources.items()
            if port in templates[of[visit].template].inputs
        }
        for visit, sources in program.real.reads.items()
    }
    real = {part: program.real.templates[own[0].template] for part, own in shared.items()}
    outputs = {name: _renamed(source, of) for name, source in program.real.outputs.items()}
    made = Program(real, reads, outputs)
    return computing(made, templates, whole.inputs, whole.graph.outputs)


def giving(program: FixedProgram, outputs: Collection[str]) -> FixedProgram:
    """Some of a program's outputs, in the same words: of the visits, those that these need."""
    real, whole = program.real, program.whole
    named = {name: source for name, source in real.outputs.items() if name in outputs}
    asked = replace(program, real=replace(real, outputs=named))
    needs = needs_beside(asked, map(real.of, program.templates), whole=True)
    reads = {
        visit: {port: need.read(port, source) for port, source in real.reads[visit].items()}
        for visit, need in needs.items()
        if need.results
    }
    there = {visit.template for visit in reads}
    read = [factored(source)[0] for sources in reads.values() for source in sources.values()]
    of_task = {word for word in read if isinstance(word, str)}
    graphs = {name: real.templates[name] for name in real.templates if name in there}
    templates = {name: own for name, own in program.templates.items() if name in there}
    inputs = {name: word for name, word in whole.inputs.items() if name in of_task}
    return computing(Program(graphs, reads, named), templates, inputs, named)


@lru_cache(maxsize=8)  # of few rounds, counted first, then made
def templates_of(program: FixedProgram, rounds: int) -> dict[str, FixedGraph]:
    """The same templates alone: one datapath each."""
    needs = _needs(program, rounds)
    found: dict[str, FixedGraph] = {}
    for part, visits in _shared(program, rounds).items():
        own = [needs[visit] for visit in visits]
        idle = frozenset.intersection(*(need.idle for need in own))
        results = frozenset[str]().union(*(need.results for need in own))
        found[part] = _part(program.templates[visits[0].template], part, idle, results)
    return found


@lru_cache(maxsize=8)
def _needs(program: FixedProgram, rounds: int) -> dict[Visit, Live]:
    """The needs of visits that share datapaths over ``rounds``."""
    return needs_beside(program, _shared(program, rounds).values())


@lru_cache(maxsize=8)
def _shared(program: FixedProgram, rounds: int) -> dict[str, list[Visit]]:
    """Part → the visits that share it."""
    return {
        f"{name}_{k}" if len(found) > 1 else name: visits
        for name, found in grouped(program, rounds).items()
        for k, visits in enumerate(found)
    }


def kind_of(name: str) -> str:
    """The template of which the one called so is a part."""
    return re.sub(r"_\d+$", "", name)


def _renamed(source: Source, of: Mapping[Visit, Visit]) -> Source:
    word, by = factored(source)
    return (
        scaled(replace(word, visit=of[word.visit]), by) if isinstance(word, VisitResult) else source
    )


def _known(source: Source, templates: Mapping[str, FixedGraph]) -> Source:
    """The number that a source is, where what its visits do not need leaves one."""
    word, by = factored(source)
    if not isinstance(word, VisitResult):
        return source
    template = templates[word.visit.template]
    node = template.graph.outputs[word.name]
    if node.op is not Op.CONST:
        return source
    own = template.formats[node]
    return by * float(own.real(own.quantize(node.value)))


def _part(
    template: FixedGraph, name: str, idle: Collection[str], results: Collection[str]
) -> FixedGraph:
    """A template reduced to the ``results``, with the ports ``idle`` zero."""
    builder = CopyingBuilder()
    formats: dict[Node, Format] = {}
    words: dict[str, Node] = {}
    for port, word in template.inputs.items():
        words[port] = builder.node(Op.CONST) if port in idle else builder.input(port)
        formats[words[port]] = word
    copy = copied(builder, template, words, formats, (name, 0), zeros=True)
    outputs = {
        result: copy[node] for result, node in template.graph.outputs.items() if result in results
    }
    nodes = Graph(tuple(words), outputs).nodes
    if wired := _ports_of_factors(template, copy, set(nodes)) & set(idle):
        return _part(template, name, set(idle) - wired, results)
    used = {node.name for node in nodes if node.op is Op.INPUT}
    inputs = {port: word for port, word in template.inputs.items() if port in used}
    steps = {copy[node]: count for node, count in template.steps.items()}
    mantissas = {copy[node]: width for node, width in template.mantissas.items()}
    graph = Graph(tuple(inputs), outputs)
    return verify_fixed(FixedGraph(graph, inputs, formats, template.width, steps, mantissas))


def _ports_of_factors(
    template: FixedGraph, copy: Mapping[Node, Node], left: Collection[Node]
) -> set[str]:
    """The ports that constant factors were made of: a shared multiplier takes words alone."""
    products = (n for n in template.graph.nodes if n.op is Op.MUL and copy[n] in left)
    wired = (a for n in products if copy[n].op is Op.MUL for a in n.args if copy[a].op is Op.CONST)
    return {node.name for node in cone(wired) if node.op is Op.INPUT}


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
