"""The inputs and outputs of a graph while it is traced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..graph.graph import Graph, multiple
from ..graph.node import Builder
from ..graph.word import spell
from .factorisation import Entries
from .scalars import Scalar, Vector
from .spatial import is_zero


@dataclass
class GraphPorts:
    """Inputs in the order in which they are asked for, outputs without structural zeros, and the
    signals between that are ``known``, by name."""

    builder: Builder
    inputs: list[str] = field(default_factory=list)
    outputs: dict[str, Scalar] = field(default_factory=dict)
    known: dict[str, Scalar] = field(default_factory=dict)

    def given(self, name: str) -> Scalar:
        self.inputs.append(name)
        return self.builder.input(name)

    def vector(self, name: str, size: int, wanted: Iterable[int]) -> Vector:
        """Entries of an input vector; the others are zero."""
        asked = set(wanted)
        return [self.given(spell(name, k)) if k in asked else 0.0 for k in range(size)]

    def gives(self, name: str, value: Scalar) -> None:
        if not is_zero([value]):
            self.outputs[name] = value

    def gives_vector(self, name: str, values: dict[int, Scalar]) -> None:
        for k, value in sorted(values.items()):
            self.gives(spell(name, k), value)

    def gives_lower(self, name: str, entries: Entries) -> None:
        for (i, j), value in sorted(entries.items()):
            if j <= i:
                self.gives(spell(name, i, j), value)

    def gives_columns(self, name: str, order: Iterable[int], columns: list[dict]) -> None:
        for i in order:
            for j, column in zip(order, columns, strict=True):
                self.gives(spell(name, i, j), column.get(i, 0.0))

    def graph(self) -> Graph:
        lifted = {name: self.builder.lift(value) for name, value in self.outputs.items()}
        known = {name: multiple(self.builder.lift(value)) for name, value in self.known.items()}
        return Graph(tuple(self.inputs), lifted, known=known)
