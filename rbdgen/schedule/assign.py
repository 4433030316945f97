"""Which unit each job runs on: the one whose operands come from the fewest different places.

Each operand port of a shared unit has a multiplexer with one input for each register that it
reads over an interval. Phase by phase the jobs of a kind are assigned to its units at the least
number of new inputs (a linear assignment problem), multipliers with their operands in either
order; and again for each phase with all others given, until nothing gets better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph.fixed import FixedGraph, Format
from ..graph.node import STILL, Node
from .fold import Place, ends_in_register, job_operands, register_number
from .pipelined import region_of
from .units import Job, Jobs, UnitKind

PASSES = 12
MANY, FEW = 400, 3  # units from which on so many passes do: the others gain 1 % and take minutes
FAR = 0.5  # of a multiplexer input: what it is worth to stay with jobs of the same joint
Source = tuple[Node, int]  # a value, and which of its registers


@dataclass(frozen=True)
class _Ports:
    """``read``: unit, port → how many jobs read each source there; ``where``: port, source → units
    that read it; ``inputs``: of a unit's larger multiplexer; ``homes``: unit, home → its jobs."""

    read: list[list[Counter[Source]]]
    where: list[dict[Source, set[int]]]
    inputs: NDArray[np.float64]
    homes: NDArray[np.int64]

    @classmethod
    def of(cls, units: int, ports: int, homes: int) -> _Ports:
        return cls(
            [[Counter() for _ in range(ports)] for _ in range(units)],
            [{} for _ in range(ports)],
            np.zeros(units),
            np.zeros((units, homes), int),
        )

    def connect(self, sources: list[Source], home: int, place: Place, sign: int) -> None:
        """One job more, or one less."""
        self.homes[place.number, home] += sign
        order = sources[::-1] if place.swapped else sources
        for port, there, source in zip(self.read[place.number], self.where, order, strict=True):
            port[source] += sign
            if port[source]:
                there.setdefault(source, set()).add(place.number)
            else:
                del port[source]
                there[source].discard(place.number)
        self.inputs[place.number] = max(map(len, self.read[place.number]))


def assign(
    fixed: FixedGraph,
    jobs: Jobs,
    units: Mapping[UnitKind, int],
    interval: int,
    time: Mapping[Node, int],
    start: Mapping[Job, int],
    passes: int = PASSES,
) -> dict[Job, Place]:
    """A place for every job, no two on one unit in one phase; ``passes`` over all of them."""
    place: dict[Job, Place] = {}
    for kind, members in jobs.of.items():
        if units[kind] >= len(members):  # to each its own
            for number, own in enumerate(members):
                fits = _fits(job_operands(own), kind, fixed.formats)
                place[own] = Place(kind, number, swapped=not fits)
            continue
        reads: dict[Job, list[Source]] = {}
        for own in members:
            reads[own] = [
                (n, _register(fixed, n, start[own], time, interval)) for n in job_operands(own)
            ]
        place |= _assign_kind(fixed, kind, members, reads, start, interval, units[kind], passes)
    return place


def _register(
    fixed: FixedGraph, node: Node, cycle: int, time: Mapping[Node, int], interval: int
) -> int:
    if node.op in STILL:
        return 0
    return register_number(ends_in_register(fixed, node), cycle - time[node], interval)


def _assign_kind(
    fixed: FixedGraph,
    kind: UnitKind,
    members: list[Job],
    reads: Mapping[Job, list[Source]],
    start: Mapping[Job, int],
    interval: int,
    units: int,
    passes: int,
) -> dict[Job, Place]:
    phases: list[list[Job]] = [[] for _ in range(interval)]
    for own in members:
        phases[start[own] % interval].append(own)
    numbers: dict[int, int] = {}
    homes = {own: numbers.setdefault(_home(own), len(numbers)) for own in members}
    ports = _Ports.of(units, len(kind.widths), len(numbers))
    place: dict[Job, Place] = {}
    best = None
    for _ in range(min(passes, FEW) if units >= MANY else passes):
        for group in phases:
            for own in group:
                if own in place:
                    ports.connect(reads[own], homes[own], place.pop(own), -1)
            rows, columns, swaps = _cheapest(group, reads, ports, homes, kind, fixed.formats)
            for row, column in zip(rows, columns, strict=True):
                own = group[row]
                place[own] = Place(kind, int(column), bool(swaps[row, column]))
                ports.connect(reads[own], homes[own], place[own], 1)
        total = sum(len(port) for unit in ports.read for port in unit)
        if best is not None and total >= best:
            break
        best = total
    return place


def _fits(read: list[Node], kind: UnitKind, formats: Mapping[Node, Format]) -> bool:
    """Whether a unit takes the operands in this order."""
    return all(formats[n].width <= w for n, w in zip(read, kind.widths, strict=True))


def _home(own: Job) -> int:
    """The joint that a job belongs to: what belongs together shall lie together."""
    return region_of(own[1])[1]


def _cheapest(
    group: list[Job],
    reads: Mapping[Job, list[Source]],
    ports: _Ports,
    homes: Mapping[Job, int],
    kind: UnitKind,
    formats: Mapping[Node, Format],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns of the assignment, and whether each pair is swapped."""
    units, width = len(ports.read), len(kind.widths)
    cost = np.full((2, len(group), units), np.inf)
    cost[:width] = width
    for row, own in enumerate(group):
        for swapped in range(width):
            order = reads[own][::-1] if swapped else reads[own]
            if not _fits([n for n, _ in order], kind, formats):
                cost[swapped, row] = np.inf
            for port, source in enumerate(order):
                for number in ports.where[port].get(source, ()):
                    cost[swapped, row, number] -= 1
    # among equals the emptier multiplexers, so that they stay even
    least = cost.min(axis=0) + 1e-3 * ports.inputs
    there = np.maximum(ports.homes.sum(axis=1), 1)
    own_home = ports.homes[:, [homes[own] for own in group]].T
    least += FAR * (1 - own_home / there)
    from scipy.optimize import linear_sum_assignment  # late: half a second

    rows, columns = linear_sum_assignment(least)
    return rows, columns, cost[1] < cost[0]
