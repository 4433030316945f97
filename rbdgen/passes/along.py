"""Visits to one graph, one after the other: values and words along them.

A task may use a graph several times, and read in one visit what another gave: forward dynamics
reads the bias that inverse dynamics makes. It is a `Program`, whose template may be any graph that
computes the same. What a visit gives comes as a word, whose error goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..graph.evaluate import Array, evaluate
from ..graph.fixed import FixedGraph, evaluate_fixed
from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.visits import Program, Result, Source, Visit, factored, once

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


def column(source: Source, words: Mapping[Any, Array]) -> Array:
    """(N,) of a source, from ``words``: (N,) of each word of the task, and of each result."""
    word, by = factored(source)
    if isinstance(word, float):
        return np.broadcast_to(word, len(next(iter(words.values()))))
    return words[word] if by == 1 else by * words[word]


def visited(
    program: Program,
    visit: Visit,
    graph: Graph,
    words: Mapping[Any, Array],
    watch: Callable[[Node, Array], None] | None = None,
) -> dict[Result, Array]:
    """What a visit gives of ``graph``, (N,) each; ``words`` as of `column`."""
    own = {port: column(program.reads[visit][port], words) for port in ports(graph)}
    n = len(next(iter(words.values())))
    return {
        Result(visit, name): np.broadcast_to(values, n)
        for name, values in evaluate(graph, own, watch).items()
    }


def visited_in_words(
    program: Program, visit: Visit, fixed: FixedGraph, words: Mapping[Any, Array]
) -> dict[Result, Array]:
    """The same with the errors of words, inputs' too: what the results' words stand for."""
    own, nodes = program.reads[visit], fixed.graph.outputs
    read = {
        port: fixed.inputs[port].quantize(column(own[port], words)) for port in ports(fixed.graph)
    }
    found, n = evaluate_fixed(fixed, read).outputs, len(next(iter(words.values())))
    return {
        Result(visit, name): np.broadcast_to(fixed.formats[node].real(found[name]), n)
        for name, node in nodes.items()
    }


def evaluate_along(
    task: Program, graph: Graph, inputs: Mapping[str, Array], watch: Watch | None = None
) -> dict[str, Array]:
    """The task's outputs, each (N,), for its words, each (N,); ``watch`` sees every node's."""
    words: dict[Any, Array] = dict(inputs)
    for visit, part in parts(task, graph).items():
        words |= visited(task, visit, part, words, watch and partial(watch, visit))
    return {name: column(source, words) for name, source in task.outputs.items()}


def words_along(task: Program, fixed: FixedGraph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The same in fixed point: what the outputs' words stand for."""
    words: dict[Any, Array] = dict(inputs)
    for visit, part in parts(task, fixed.graph).items():
        words |= visited_in_words(task, visit, replace(fixed, graph=part), words)
    return {name: column(source, words) for name, source in task.outputs.items()}
