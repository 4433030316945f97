"""The steps of ``ascent.cpp`` in NumPy, bit for bit: the oracle of its tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.graph.derivative import DERIVATIVE
from rbdgen.graph.evaluate import FLOAT, Array
from rbdgen.graph.node import Op
from rbdgen.words.ascent import Climb, CoordinateKind, Job
from rbdgen.words.value_range import Int32

LEAST_STEP, FIRST_STEP = 1e-5, 0.3
GAIN = 0.002  # by which a climb gets higher in ``patience`` steps, or ends
UInt64 = NDArray[np.uint64]


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
        if climb.kind[j] == CoordinateKind.LINEAR:
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
            if climb.kind[j] == CoordinateKind.LINEAR:
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
        if kind != CoordinateKind.LINEAR:
            was = was + old * old
            turned = turned + new * (new - old)
    with np.errstate(over="ignore"):  # where it stood still before: all of it
        return np.asarray(np.clip(turned / was, 0.0, 1.0))


def _directions(climb: Climb, to: list[Array], along: list[Array]) -> list[Array]:
    """Each coordinate's: the gradient, of angles the conjugate one."""
    pairs = zip(climb.kind, to, along, strict=True)
    return [d if kind == CoordinateKind.LINEAR else c for kind, d, c in pairs]


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
    if climb.kind[j] == CoordinateKind.LINEAR:
        slow = np.clip(x + step * 1.5 * (high - low) * d / steepest, low, high)
        return np.where(d == 0, x, np.where(corner, np.where(d > 0, high, low), slow))
    u = x + step * d / length
    if climb.kind[j] == CoordinateKind.TURN:
        u = np.where(u > high, u - (high - low), u)
        u = np.where(u < low, u + (high - low), u)
    return u if climb.kind[j] == CoordinateKind.UNIT else np.clip(u, low, high)


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
SLOPE: dict[Op, Callable[..., tuple[Any, ...]]] = {
    op: own.slopes for op, own in DERIVATIVE.items()
} | {
    Op.SIN: lambda node, v, a: (turned(a * (1.0 / node.value))[1] * (math.tau / node.value),),
    Op.COS: lambda node, v, a: (-turned(a * (1.0 / node.value))[0] * (math.tau / node.value),),
    Op.SCALE: lambda node, v, x, k: (_power(-k), 0.0),
}
