"""Gradient ascent on |signal|: where in a domain of states each signal of a graph is largest.

A signal of rigid-body dynamics is a trigonometric polynomial in the angles, linear in
accelerations and forces, and at most quadratic in velocities. From each of ``WAYS`` states the
angles climb along conjugate gradients (Polak and Ribière's, of which at most all of the direction
before is kept), by a step that grows where it succeeds, shrinks where it fails, and starts anew,
along the gradient, when it has shrunk to nothing. Everything else goes, two times in three,
straight to the limits that the gradient points to.

``ascent.cpp`` makes these steps. It uses IEEE's basic operations only, for sines too, so that all
machines find the same states.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.evaluate import Array, Interval, evaluate
from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op
from .value_range import Extents, GraphArrays, Int32, arrays_of, extents, library


@dataclass(frozen=True, eq=False)
class Domain:
    """The domain of a graph's inputs: the values that they may have.

    ``limits``: name → interval [SI units] of each coordinate of the states. ``turns``: coordinates
    whose interval is a whole turn, joined at its ends. ``angles``: further coordinates in which
    signals are no polynomials. ``vectors``: coordinates that are unit vectors together, names in a
    row of ``limits``. ``derived``: a graph over the coordinates, whose outputs are the inputs that
    follow from them: the effort of an acceleration, the inverse of the mass matrix, sines.
    ``samples``: states at random, coordinates (N,).
    """

    limits: Mapping[str, Interval]
    turns: frozenset[str] = frozenset()
    angles: frozenset[str] = frozenset()
    vectors: tuple[tuple[str, ...], ...] = ()
    derived: Graph = field(default_factory=lambda: Graph((), {}))
    samples: Mapping[str, Array] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.limits)

    def columns(self, states: Mapping[str, Array], inputs: Iterable[str]) -> dict[str, Array]:
        """The ``inputs`` of a graph, (N,) each, in ``states``, coordinates (N,) each."""
        made = evaluate(self.derived, states) if self.derived.outputs else {}
        n = len(next(iter(states.values()))) if states else 1
        return {k: np.broadcast_to(made[k] if k in made else states[k], n) for k in inputs}

    def over(self, graph: Graph) -> tuple[Graph, dict[Node, Node]]:
        """The graph as one of coordinates; and its nodes there."""
        builder = Builder()
        made = copied(builder, self.derived, {})
        given = {name: made[node] for name, node in self.derived.outputs.items()}
        copies = copied(builder, graph, given)
        outputs = {name: copies[node] for name, node in graph.outputs.items()}
        return Graph(self.names, outputs, tuple(copies.values())), copies

    def angles_read(self, graph: Graph) -> dict[Node, int]:
        """How many coordinates in which it may be no polynomial each node of a graph over
        coordinates depends on."""
        turning = [*self.turns, *self.angles, *(name for own in self.vectors for name in own)]
        place = {name: 1 << k for k, name in enumerate(sorted(turning))}
        reads: dict[Node, int] = {}
        for node in graph.nodes:
            reads[node] = place.get(node.name, 0) if node.op is Op.INPUT else 0
            for arg in node.args:
                reads[node] |= reads[arg]
        return {node: bits.bit_count() for node, bits in reads.items()}


def copied(builder: Builder, graph: Graph, given: Mapping[str, Node]) -> dict[Node, Node]:
    """Node → its copy, which reads ``given`` in place of the inputs and registers that it names."""
    copies: dict[Node, Node] = {}
    for node in graph.nodes:
        if node.op in (Op.INPUT, Op.PARAMETER) and node.name in given:
            copies[node] = given[node.name]
        else:
            args = [copies[a] for a in node.args]
            copies[node] = builder.node(node.op, *args, value=node.value, name=node.name)
    return copies


WAYS = 8


class CoordinateKind(IntEnum):
    """The kind of motion of a coordinate; ``ascent.cpp`` has the same numbers."""

    TURN = 0  # an angle whose interval is a whole turn
    CLIPPED = 1  # an angle within less
    LINEAR = 2  # signals are linear or quadratic in it
    UNIT = 3  # an entry of a unit vector


@dataclass(frozen=True, eq=False)
class Climb(GraphArrays):
    """A graph over coordinates, and its domain, as arrays of numbers."""

    graph: Graph
    kind: Int32  # of each coordinate
    vector: Int32
    low: Array
    high: Array

    @classmethod
    def of(cls, graph: Graph, domain: Domain) -> Climb:
        coordinate = {name: j for j, name in enumerate(domain.names)}
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
            **vars(arrays_of(graph, coordinate)),
            graph=graph,
            kind=kind,
            vector=vector,
            low=np.ascontiguousarray(limits[:, 0]),
            high=np.ascontiguousarray(limits[:, 1]),
        )

    @property
    def inputs(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, eq=False)
class Job:
    """Targets of the ascent: their indices in the graph, and a state (n, inputs) to start from."""

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
            few, downward, starts = self.targets[own], self.downward[own], self.starts[own]
            yield replace(self, targets=few, downward=downward, starts=starts)


MEASURED = 32
TOGETHER = 16  # times WAYS states in one call: between calls there is Ctrl-C


def ascend(
    graph: Graph,
    domain: Domain,
    targets: Sequence[Node],
    lowest: Sequence[Node] = (),
    *,
    steps: int,
    patience: int = 0,
    seed: int,
    ways: int = WAYS,
    best: Extents | None = None,
    gain: float = 0.0,
) -> dict[str, Array]:
    """States in which the magnitude of each of the ``targets`` is largest, and those in which the
    value of each node of ``lowest`` is smallest: coordinates of the domain, (N,) each.

    ``graph`` is one over the coordinates (``Domain.over``). The best of ``domain.samples`` is
    where the ascent starts, beside states at random: ``ways`` in all, a divisor of ``WAYS``, of
    which two start from the sample. As many signals as fill ``WAYS`` ascend together, and those
    that depend on the same nodes best follow each other. ``best``: the samples' extents. A climb
    ends after ``steps``, or, if there is ``patience``, when that many have brought next to
    nothing. With ``gain``, states are left out in which a target is not larger than in the samples
    by such a share. NoCompiler, CompilerError.
    """
    climb = Climb.of(graph, domain)
    best = best or extents(graph, domain.samples, {*lowest})
    place = {node: i for i, node in enumerate(graph.nodes)}
    rows = [best.largest_at[node] for node in targets]
    rows += [best.smallest_at[node] for node in lowest]
    samples = np.stack([domain.samples[name] for name in domain.names], axis=1)
    job = Job(
        np.array([place[node] for node in (*targets, *lowest)], np.int32),
        np.array([0] * len(targets) + [1] * len(lowest), np.int32),
        np.ascontiguousarray(samples[rows], dtype=np.float64).reshape(-1, climb.inputs),
        steps,
        patience or steps,
        seed,
        ways,
    )
    run = _compiled(library("ascent.cpp"), climb)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        parts = list(pool.map(run, job.parts(TOGETHER * WAYS // ways)))
    states = np.concatenate([states for _, states in parts]) if parts else samples[:0]
    if gain:
        heights = np.concatenate([heights for heights, _ in parts]) if parts else np.zeros(0)
        least = [(1 + gain) * best.largest[node] for node in targets] + [-np.inf] * len(lowest)
        states = states[heights > least]
    return {name: states[:, j].copy() for j, name in enumerate(domain.names)}


def cones(graph: Graph, targets: Sequence[Node]) -> float:
    """The number of nodes that each target depends on, summed; estimated from some targets."""
    some = targets[:: max(1, len(targets) // MEASURED)]
    total = 0
    for target in some:
        stack, seen = [target], {target}
        while stack:
            new = [a for a in stack.pop().args if a not in seen]
            seen.update(new)
            stack += new
        total += len(seen)
    return total * len(targets) / max(len(some), 1)


def _compiled(compiled: ctypes.CDLL, climb: Climb) -> Callable[[Job], tuple[Array, Array]]:
    def pointer(array: NDArray[Any]) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    nodes, graph = ctypes.c_int32(len(climb.op)), [climb.op, *climb.args]
    order = np.empty(len(climb.op), np.int32)
    compiled.arrange(nodes, *(pointer(own) for own in (*graph, order)))

    def run(job: Job) -> tuple[Array, Array]:
        n = len(job.targets)
        best, states = np.zeros(n), np.zeros((n, climb.inputs))
        compiled.ascend(
            nodes,
            *(pointer(own) for own in (order, *graph, climb.value)),
            ctypes.c_int32(climb.inputs),
            *(pointer(a) for a in (climb.kind, climb.vector, climb.low, climb.high)),
            ctypes.c_int32(job.ways),
            ctypes.c_int32(n),
            *(pointer(a) for a in (job.targets, job.downward, job.starts)),
            ctypes.c_int32(job.steps),
            ctypes.c_int32(job.patience),
            ctypes.c_uint64(job.seed),
            pointer(best),
            pointer(states),
        )
        return best, states

    return run
