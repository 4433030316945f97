"""An ascent: a graph over a domain as arrays of numbers, and the signals to maximise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ..graph.evaluate import Array
from ..graph.graph import Graph
from .domain import Domain
from .native import Int32, arrays_of

WAYS = 8


class CoordinateKind(IntEnum):
    """How a coordinate moves; ``ascent.cpp`` has the same numbers."""

    TURN = 0  # an angle whose interval is a whole turn
    CLIPPED = 1  # an angle within less
    LINEAR = 2  # signals are linear or quadratic in it
    UNIT = 3  # an entry of a unit vector


@dataclass(frozen=True, eq=False)
class Climb:
    """A graph over coordinates, and its domain, as arrays of numbers."""

    graph: Graph
    op: Int32
    args: Int32  # (3, nodes): of INPUT the coordinate
    value: Array
    kind: Int32  # of each coordinate
    vector: Int32
    low: Array
    high: Array

    @classmethod
    def of(cls, graph: Graph, domain: Domain) -> Climb:
        coordinate = {name: j for j, name in enumerate(domain.names)}
        arrays = arrays_of(graph, coordinate)
        kind = np.full(len(coordinate), CoordinateKind.LINEAR, np.int32)
        vector = np.full(len(coordinate), -1, np.int32)
        for name, j in coordinate.items():
            if name in domain.turns:
                kind[j] = CoordinateKind.TURN
            elif name in domain.angles:
                kind[j] = CoordinateKind.CLIPPED
        for k, names in enumerate(domain.vectors):
            for name in names:
                kind[coordinate[name]], vector[coordinate[name]] = CoordinateKind.UNIT, k
        limits = np.array(list(domain.limits.values()), np.float64).reshape(-1, 2)
        return cls(
            graph,
            arrays.op,
            arrays.args,
            arrays.value,
            kind,
            vector,
            np.ascontiguousarray(limits[:, 0]),
            np.ascontiguousarray(limits[:, 1]),
        )

    @property
    def inputs(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, eq=False)
class Job:
    """Signals to climb on: their places in the graph, and a state (n, inputs) to start from."""

    targets: Int32
    downward: Int32  # 1: the smallest value is looked for, not the largest magnitude
    starts: Array
    steps: int
    patience: int
    seed: int
    ways: int = WAYS  # states that climb towards each signal

    def parts(self, size: int) -> Iterator[Job]:
        for k in range(0, len(self.targets), size):
            own = slice(k, k + size)
            yield Job(
                self.targets[own],
                self.downward[own],
                self.starts[own],
                self.steps,
                self.patience,
                self.seed,
                self.ways,
            )
