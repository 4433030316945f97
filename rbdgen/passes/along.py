"""Visits to one graph, one after the other: values and words along them.

A task may use a graph several times, and read in one visit what another gave: forward dynamics
reads the bias that inverse dynamics makes. It is a `Program`, whose template may be any graph that
computes the same. What a visit gives comes as a word, whose error goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..graph.evaluate import Array, evaluate
from ..graph.fixed import FixedGraph, Integers, convert, evaluate_fixed
from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.visits import Program, Result, Source, Visit, once

WHOLE = "whole"  # the template
Watch = Callable[[Visit, Node, Array], None]


def tasks_over(graph: Graph, tasks: Iterable[Program]) -> Sequence[Program]:
    """The tasks; where there are none, the one that visits the graph once."""
    return [*tasks] or [once(WHOLE, graph)]


def parts(task: Program, graph: Graph) -> dict[Visit, Graph]:
    """What each visit computes of the graph, in their order: what the task or a visit reads."""
    wanted: dict[Visit, dict[str, Node]] = {visit: {} for visit in task.reads}

    def want(source: Source) -> None:
        if isinstance(source, Result):
            wanted[source.visit][source.name] = graph.outputs[source.name]

    for source in task.outputs.values():
        want(source)
    found = {}
    for visit in reversed([*task.reads]):
        found[visit] = Graph(graph.inputs, wanted[visit])
        for port in ports(found[visit]):
            want(task.reads[visit][port])
    return {visit: found[visit] for visit in task.reads if wanted[visit]}


def ports(graph: Graph) -> list[str]:
    """The inputs that some node reads."""
    return [node.name for node in graph.nodes if node.name]


def evaluate_along(
    task: Program, graph: Graph, inputs: Mapping[str, Array], watch: Watch | None = None
) -> dict[str, Array]:
    """The task's outputs, each (N,), for its words, each (N,); ``watch`` sees every node's."""
    n = len(next(iter(inputs.values())))
    given: dict[Source, Array] = {}
    for visit, part in parts(task, graph).items():
        own = {name: np.zeros(n) for name in part.inputs}
        for port in ports(part):
            source = task.reads[visit][port]
            if isinstance(source, float):
                own[port] = np.full(n, source)
            else:
                own[port] = inputs[source] if isinstance(source, str) else given[source]
        found = evaluate(part, own, watch and _at(visit, watch))
        given |= {Result(visit, name): values for name, values in found.items()}
    return {name: given[source] for name, source in task.outputs.items()}


def words_along(task: Program, fixed: FixedGraph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The same in fixed point: what the outputs' words stand for."""
    n = len(next(iter(inputs.values())))
    given: dict[Source, tuple[Integers, Node]] = {}
    for visit, part in parts(task, fixed.graph).items():
        own = {name: np.zeros(n, np.int64) for name in part.inputs}
        for port in ports(part):
            source, word = task.reads[visit][port], fixed.inputs[port]
            if isinstance(source, float):
                own[port] = word.quantize(np.full(n, source))
            elif isinstance(source, str):
                own[port] = word.quantize(inputs[source])
            else:
                words, node = given[source]
                own[port], _ = convert(words, fixed.formats[node], word)
        found = evaluate_fixed(replace(fixed, graph=part), own).outputs
        given |= {Result(visit, name): (found[name], part.outputs[name]) for name in found}
    outputs = {name: given[source] for name, source in task.outputs.items()}
    return {name: fixed.formats[node].real(words) for name, (words, node) in outputs.items()}


def _at(visit: Visit, watch: Watch) -> Callable[[Node, Array], None]:
    return lambda node, values: watch(visit, node, values)
