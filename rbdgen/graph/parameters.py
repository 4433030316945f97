"""Registers for many tasks, of a design of one graph or of several, in the order of their chain."""

from __future__ import annotations

from collections.abc import Mapping

from .fixed import FixedGraph, Format, Integers
from .node import Node

Held = Mapping[str, Integers]  # register → its word


def parameter_nodes(graphs: Mapping[str, FixedGraph]) -> dict[str, tuple[FixedGraph, Node]]:
    """Register → its graph and node: ``parameter[3]``, ``rnea.parameter[3]`` of a named graph."""
    return {
        f"{of}.{name}" if of else name: (fixed, node)
        for of, fixed in graphs.items()
        for name, node in fixed.parameters.items()
    }


def parameter_formats(graphs: Mapping[str, FixedGraph]) -> dict[str, Format]:
    """The format of each register."""
    return {name: fixed.formats[node] for name, (fixed, node) in parameter_nodes(graphs).items()}


def parameter_words(
    graphs: Mapping[str, FixedGraph], values: Mapping[str, float] | None = None
) -> dict[str, Integers]:
    """The word of each register; ``values``: of ``parameter[k]``, the graphs' own unless given."""
    return {
        name: fixed.formats[node].quantize(node.value if values is None else values[node.name])
        for name, (fixed, node) in parameter_nodes(graphs).items()
    }


def parameters_of(words: Held, graph: str) -> dict[str, Integers]:
    """The register words of one graph, by their names within it."""
    own = f"{graph}." if graph else ""
    return {name.removeprefix(own): word for name, word in words.items() if name.startswith(own)}
