"""Gradient ascent on |signal|: where in a domain each signal of a graph is largest.

A signal of rigid-body dynamics is a trigonometric polynomial in the angles, linear in
accelerations and forces, and at most quadratic in velocities. From each of ``WAYS`` states the
angles climb along conjugate gradients (Polak and Ribière's, of which at most all of the direction
before is kept), by a step that grows where it succeeds, shrinks where it fails, and starts anew,
along the gradient, when it has shrunk to nothing. Everything else goes, two times in three,
straight to the limits that the gradient points to.

``ascent.cpp`` makes the same steps bit for bit, and is what runs where there is a C++ compiler:
both use IEEE's basic operations only, for sines too, so all machines find the same states.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.derivative import DERIVATIVE
from ..graph.evaluate import FLOAT, Array
from ..graph.graph import Graph
from ..graph.node import Node, Op
from .arrays import Int32, arrays_of
from .domain import Domain
from .extents import Extents, extents
from .native import library

WAYS = 8
LEAST_STEP, FIRST_STEP = 1e-5, 0.3
GAIN = 0.002  # by which a climb gets higher in ``patience`` steps, or ends
LARGEST_ARRAYS = 1 << 25  # numbers in memory at a time where NumPy does the work
MEASURED = 32
TOGETHER = 16  # times WAYS states in one call: between calls there is Ctrl-C
UInt64 = NDArray[np.uint64]
Progress = Callable[[str], None]


class Kind(IntEnum):
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
        kind = np.full(len(coordinate), Kind.LINEAR, np.int32)
        vector = np.full(len(coordinate), -1, np.int32)
        for name, j in coordinate.items():
            if name in domain.turns:
                kind[j] = Kind.TURN
            elif name in domain.angles:
                kind[j] = Kind.CLIPPED
        for k, names in enumerate(domain.vectors):
            for name in names:
                kind[coordinate[name]], vector[coordinate[name]] = Kind.UNIT, k
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
    progress: Progress = lambda _: None,
) -> dict[str, Array]:
    """States in which the magnitude of each of the ``targets`` is largest, and those in which the
    value of each node of ``lowest`` is smallest: coordinates of the domain, (N,) each.

    ``graph`` is one over the coordinates (``Domain.over``). The best of ``domain.samples`` is
    where the climb starts, beside states at random: ``ways`` in all, a divisor of ``WAYS``, of
    which two start from the sample. So many signals as make ``WAYS`` climb together, and those
    that depend on the same nodes best follow each other. ``best``: the samples' extents. A climb
    ends after ``steps``, or, if there is ``patience``, when that many have brought next to
    nothing. With ``gain``, states are left out in which a target is not larger than in the samples
    by such a share.
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
    compiled = library(Path(__file__).with_name("ascent.cpp"))
    if compiled is None:
        progress("no C++ compiler (g++, clang++, $CXX): NumPy searches, many times slower")
        most = max(1, LARGEST_ARRAYS // (ways * len(place)))
        parts = [in_numpy(climb, part) for part in job.parts(most)]
    else:
        run = _compiled(compiled, climb)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            parts = list(pool.map(run, job.parts(TOGETHER * WAYS // ways)))
    states = np.concatenate([states for _, states in parts]) if parts else samples[:0]
    if gain:
        heights = np.concatenate([heights for heights, _ in parts]) if parts else np.zeros(0)
        least = [(1 + gain) * best.largest[node] for node in targets] + [-np.inf] * len(lowest)
        states = states[heights > least]
    return {name: states[:, j].copy() for j, name in enumerate(domain.names)}


def cones(graph: Graph, targets: Sequence[Node]) -> float:
    """How many nodes all targets depend on, one by one; estimated from some of them."""
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


def in_numpy(climb: Climb, job: Job) -> tuple[Array, Array]:
    """The results of ``ascent.cpp``: the best value (n,), and its state (n, inputs)."""
    n, inputs = len(job.targets), climb.inputs
    shape = n, job.ways
    number = 2 * job.targets.astype(np.uint64) + job.downward.astype(np.uint64)
    with np.errstate(over="ignore"):
        own = np.uint64(job.seed) + number * np.uint64(0xD1B54A32D192ED03)
    key = np.broadcast_to(own[:, None], shape)
    ways, half = np.arange(job.ways), job.ways // 2
    downward = job.downward[:, None] == 1
    y = []
    for j in range(inputs):
        u = _chance(key, ways * inputs + j)
        if climb.kind[j] == Kind.LINEAR:
            u = np.where(ways < half, np.where(u < 0.5, 0.0, 1.0), u)
        at = climb.low[j] + (climb.high[j] - climb.low[j]) * u
        at[:, [0, half]] = job.starts[:, j : j + 1]
        y.append(at)
    _normalise(climb, y)
    x, to, along = ([np.zeros(shape) for _ in y] for _ in range(3))
    found, step = np.full(shape, -np.inf), np.full(shape, FIRST_STEP)
    before, climbing = np.full(n, -np.inf), np.ones((n, 1), bool)
    for it in range(job.steps):
        if it > 0 and it % job.patience == 0:
            now = found.max(axis=1)
            with np.errstate(invalid="ignore"):
                climbing &= ~(now - before <= GAIN * np.abs(now))[:, None]
            before = now
            if not climbing.any():
                break
        reached, by = _values_and_slopes(climb, job, y)
        height = np.where(downward, -reached, np.abs(reached))
        better = (height > found) & climbing
        found = np.where(better, height, found)
        step = step * np.where(better, 1.6, 0.45)
        kept = _kept(climb.kind, to, by)
        along = [
            np.where(better, new + kept * old, old) for new, old in zip(by, along, strict=True)
        ]
        x = [np.where(better, new, old) for new, old in zip(y, x, strict=True)]
        to = [np.where(better, new, old) for new, old in zip(by, to, strict=True)]
        anew = FIRST_STEP * _chance(key ^ np.uint64(0xA5A5A5A5A5A5A5A5), it * job.ways + ways)
        again = step < LEAST_STEP
        step = np.where(again, anew, step)
        along = [np.where(again, new, old) for new, old in zip(to, along, strict=True)]
        square, steepest = np.full(shape, 1e-300), np.full(shape, 1e-300)
        for j, (d, c) in enumerate(zip(to, along, strict=True)):
            if climb.kind[j] == Kind.LINEAR:
                steepest = np.maximum(steepest, np.abs(d))
            else:
                square = square + c * c
        length = np.sqrt(square)
        y = [
            _moved(climb, j, at, d, step, length, steepest, (it + ways) % 3 != 0)
            for j, (at, d) in enumerate(zip(x, _directions(climb, to, along), strict=True))
        ]
        _normalise(climb, y)
    highest = found.argmax(axis=1)
    each = np.arange(n)
    return found[each, highest], np.stack([at[each, highest] for at in x], axis=1)


def _kept(kinds: Int32, before: list[Array], now: list[Array]) -> Array:
    """How much of its direction a climb keeps in the angles, from its gradients before and now."""
    was, turned = np.full(now[0].shape, 1e-300), np.zeros(now[0].shape)
    for kind, old, new in zip(kinds, before, now, strict=True):
        if kind != Kind.LINEAR:
            was = was + old * old
            turned = turned + new * (new - old)
    with np.errstate(over="ignore"):  # where it stood still before: all of it
        return np.asarray(np.clip(turned / was, 0.0, 1.0))


def _directions(climb: Climb, to: list[Array], along: list[Array]) -> list[Array]:
    """Each coordinate's: the gradient, of angles the conjugate one."""
    pairs = zip(climb.kind, to, along, strict=True)
    return [d if kind == Kind.LINEAR else c for kind, d, c in pairs]


def _moved(
    climb: Climb,
    j: int,
    x: Array,
    d: Array,
    step: Array,
    length: Array,
    steepest: Array,
    corner: NDArray[np.bool_],
) -> Array:
    """Coordinate ``j`` one step on."""
    low, high = climb.low[j], climb.high[j]
    if climb.kind[j] == Kind.LINEAR:
        slow = np.clip(x + step * 1.5 * (high - low) * d / steepest, low, high)
        return np.where(d == 0, x, np.where(corner, np.where(d > 0, high, low), slow))
    u = x + step * d / length
    if climb.kind[j] == Kind.TURN:
        u = np.where(u > high, u - (high - low), u)
        u = np.where(u < low, u + (high - low), u)
    return u if climb.kind[j] == Kind.UNIT else np.clip(u, low, high)


def _values_and_slopes(climb: Climb, job: Job, y: list[Array]) -> tuple[Array, list[Array]]:
    """Each target's value (n, WAYS), and the slope of its magnitude by every coordinate."""
    shape = len(job.targets), job.ways
    values: list[Any] = []
    for i, node in enumerate(climb.graph.nodes):
        if node.op is Op.INPUT:
            values.append(y[climb.args[0, i]])
        else:
            own = (values[climb.args[k, i]] for k in range(len(node.args)))
            values.append(VALUE[node.op](node, *own))
    back: list[Any] = [np.zeros(shape) for _ in values]
    reached = np.zeros(shape)
    for row, i in enumerate(job.targets):
        reached[row] = np.broadcast_to(values[i], shape)[row]
        back[i][row] = 1.0
    sign = np.where((job.downward[:, None] == 1) | (reached < 0), -1.0, 1.0)
    by = [np.zeros(shape) for _ in y]
    for row, i in enumerate(job.targets):
        back[i][row] *= sign[row]
    for i in range(len(values) - 1, -1, -1):
        node = climb.graph.nodes[i]
        if node.op is Op.INPUT:
            by[climb.args[0, i]] = by[climb.args[0, i]] + back[i]
            continue
        places = [climb.args[k, i] for k in range(len(node.args))]
        slopes = SLOPE[node.op](node, values[i], *(values[p] for p in places))
        for place, slope in zip(places, slopes, strict=True):
            back[place] = back[place] + back[i] * slope
    return reached, by


def _normalise(climb: Climb, x: list[Array]) -> None:
    """Bring every unit vector back to length one."""
    for k in range(climb.vector.max(initial=-1) + 1):
        entries = [int(j) for j in np.flatnonzero(climb.vector == k)]
        square = np.zeros_like(x[entries[0]])
        for j in entries:
            square = square + x[j] * x[j]
        length = np.sqrt(square)
        none = ~(length > 1e-9)
        x[entries[0]] = np.where(none, 1.0, x[entries[0]])
        length = np.where(none, 1.0, length)
        for j in entries:
            x[j] = x[j] / length


def _chance(key: UInt64, counter: NDArray[Any] | int) -> Array:
    """A number in [0, 1) for each counter: splitmix64."""
    with np.errstate(over="ignore"):
        z = key + (np.asarray(counter).astype(np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


BIG = 1.5 * 2.0**52  # adding it rounds to a whole number


def turned(x: Array) -> tuple[Array, Array]:
    """Sine and cosine of so many turns, to about 1e-13."""
    r = x - ((x + BIG) - BIG)
    quarters = (4.0 * r + BIG) - BIG
    y = (r - 0.25 * quarters) * math.tau
    z = y * y
    s = y * _series(z, [1.0, -6.0, 120.0, -5040.0, 362880.0, -39916800.0, 6227020800.0])
    c = _series(z, [1.0, -2.0, 24.0, -720.0, 40320.0, -3628800.0, 479001600.0, -87178291200.0])
    odd = np.abs(quarters) == 1.0
    sine, cosine = np.where(odd, c, s), np.where(odd, s, c)
    half = np.abs(quarters) == 2.0
    return (
        np.where((quarters == -1.0) | half, -1.0, 1.0) * sine,
        np.where((quarters == 1.0) | half, -1.0, 1.0) * cosine,
    )


def _series(z: Array, divisors: list[float]) -> Array:
    """Σ z^k / divisor_k."""
    total: Any = 1.0 / divisors[-1]
    for divisor in reversed(divisors[:-1]):
        total = 1.0 / divisor + z * total
    return np.asarray(total)


def _power(k: Array) -> Array:
    return np.ldexp(1.0, np.asarray(k).astype(np.int32))


# As FLOAT and DERIVATIVE, but with sines and powers that are the same on every machine.
VALUE: dict[Op, Callable[..., Any]] = FLOAT | {
    Op.SIN: lambda node, a: turned(a * (1.0 / node.value))[0],
    Op.COS: lambda node, a: turned(a * (1.0 / node.value))[1],
    Op.SCALE: lambda node, x, k: x * _power(-k),
}
SLOPE: dict[Op, Callable[..., tuple[Any, ...]]] = DERIVATIVE | {
    Op.SIN: lambda node, v, a: (turned(a * (1.0 / node.value))[1] * (math.tau / node.value),),
    Op.COS: lambda node, v, a: (-turned(a * (1.0 / node.value))[0] * (math.tau / node.value),),
    Op.SCALE: lambda node, v, x, k: (_power(-k), 0.0),
}
