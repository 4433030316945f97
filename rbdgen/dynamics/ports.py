"""The inputs that an algorithm asks for by name, and the outputs that it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..graph.graph import Graph, multiple
from ..graph.node import Builder
from ..graph.word import spell
from .elimination import Column, Entries
from .scalars import Scalar, Vector
from .spatial import is_zero
from .steps import TaskInput


class Ports(ABC):
    """Named inputs and outputs of an algorithm."""

    @abstractmethod
    def given(self, name: str) -> Scalar:
        """An input; the number 0 where there is none of this name."""

    @abstractmethod
    def gives(self, name: str, value: Scalar) -> None:
        """Make a value an output."""

    def vector(self, name: str, size: int, wanted: Iterable[int]) -> Vector:
        """Entries of an input vector; those that are not wanted are zero."""
        asked = set(wanted)
        return [self.given(spell(name, k)) if k in asked else 0.0 for k in range(size)]

    def gives_vector(self, name: str, values: Mapping[int, Scalar]) -> None:
        """Make a vector's entries outputs."""
        for k, value in sorted(values.items()):
            self.gives(spell(name, k), value)

    def gives_lower(self, name: str, entries: Entries) -> None:
        """Make the lower triangle of a symmetric matrix outputs."""
        for (i, j), value in sorted(entries.items()):
            if j <= i:
                self.gives(spell(name, i, j), value)

    def gives_columns(self, name: str, order: Iterable[int], columns: list[Column]) -> None:
        """Make the entries of a matrix in rows and columns ``order`` outputs."""
        for i in order:
            for j, column in zip(order, columns, strict=True):
                self.gives(spell(name, i, j), column.get(i, 0.0))


@dataclass
class GraphPorts(Ports):
    """Inputs in the order in which they are asked for, outputs without structural zeros, and the
    signals between that are ``known``, by name."""

    builder: Builder
    inputs: list[str] = field(default_factory=list)
    outputs: dict[str, Scalar] = field(default_factory=dict)
    known: dict[str, Scalar] = field(default_factory=dict)

    def given(self, name: str) -> Scalar:
        self.inputs.append(name)
        return self.builder.input(name)

    def gives(self, name: str, value: Scalar) -> None:
        if not is_zero([value]):
            self.outputs[name] = value

    def graph(self) -> Graph:
        """The graph of all outputs so far."""
        lifted = {name: self.builder.lift(value) for name, value in self.outputs.items()}
        known = {name: multiple(self.builder.lift(value)) for name, value in self.known.items()}
        return Graph(tuple(self.inputs), lifted, known=known)


@dataclass(frozen=True)
class ProgramPorts(Ports):
    """Words of the task that are there, and what visits give."""

    inputs: frozenset[str]
    outputs: dict[str, Scalar] = field(default_factory=dict)

    def given(self, name: str) -> Scalar:
        return TaskInput(name) if name in self.inputs else 0.0

    def gives(self, name: str, value: Scalar) -> None:
        self.outputs[name] = value
