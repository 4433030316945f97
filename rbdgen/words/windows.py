"""Polynomials in signals, whose coefficients are known on a grid of angles.

A coefficient is a trigonometric polynomial in the angles. On N equal steps of a turn one of degree
d < N/2 comes within cos(π d / N) of its largest magnitude: near that it is no less than the cosine
of the same height and degree (M. Riesz). So its largest value on the grid, over all values of the
signals, bounds the polynomial everywhere: see ``ends``.

Rounding is counted: ``error`` bounds what the coefficients, computed in float64, are off.

Windows: a few joints in a row, within which signals are known exactly.

What is computed at the joints of a window is a polynomial in what comes in from outside it: rates
of its joints, velocities and accelerations of the link before, forces of the link behind. Its
coefficients are trigonometric polynomials in the window's angles, so its largest value is known
from a grid (``polynomial``), whatever the angles are, for all values of what comes in. Within a
window nothing is lost, of a whole leg of three joints nothing at all. Between windows it is
forgotten that what comes in depends on the same state.

Inputs that are a vector of length 1 are functions of angles, too: (cos a, sin a), and a unit
quaternion (cos e cos a, cos e sin a, sin e cos b, sin e sin b), which is any of them (Hopf).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..graph.evaluate import Array, Interval, product, square
from ..graph.graph import Graph
from ..graph.node import Node, Op

Monomial = tuple[Node, ...]  # in the order of their indices, each as often as its power; () is 1
Coefficient = float | Array

STEPS = 24  # of a turn
ROUNDING = 2.0**-50  # relative, of an operation: eight times what float64 has
SINE = 2.0**-47  # absolute, of a sine of a grid's angle


@dataclass(frozen=True, eq=False, slots=True)
class Polynomial:
    """Σ coefficient · monomial, over the signals' values and a grid of angles.

    ``terms``: coefficients are numbers, or arrays that broadcast to the grid, an axis an angle.
    ``degree``: in each angle, at most. ``size``: the largest Σ |coefficient · monomial|, at most.
    ``error``: the largest difference from the polynomial that is meant, at most.
    """

    terms: Mapping[Monomial, Coefficient]
    degree: tuple[int, ...]
    size: float
    error: float = 0.0

    @property
    def power(self) -> int:
        """The largest number of signals in a product."""
        return max(map(len, self.terms), default=0)

    def scaled(self, by: float) -> Polynomial:
        terms = {monomial: by * c for monomial, c in self.terms.items()}
        size = abs(by) * self.size
        return Polynomial(terms, self.degree, size, abs(by) * self.error + ROUNDING * size)

    def plus(self, other: Polynomial, sign: float) -> Polynomial:
        """self + sign · other, for a sign of 1 or -1."""
        terms = dict(self.terms)
        for monomial, c in other.terms.items():
            terms[monomial] = terms[monomial] + sign * c if monomial in terms else sign * c
        degree = tuple(map(max, self.degree, other.degree))
        size = self.size + other.size
        return Polynomial(terms, degree, size, self.error + other.error + ROUNDING * size)

    def times(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, Coefficient] = {}
        for one, c in self.terms.items():
            for two, d in other.terms.items():
                monomial = tuple(sorted(one + two, key=lambda node: node.index))
                terms[monomial] = terms[monomial] + c * d if monomial in terms else c * d
        degree = tuple(a + b for a, b in zip(self.degree, other.degree, strict=True))
        size = self.size * other.size
        summed = len(self.terms) * len(other.terms)
        carried = self.error * other.size + self.size * other.error + self.error * other.error
        return Polynomial(terms, degree, size, carried + summed * ROUNDING * size)

    def ends(self, of: Mapping[Node, Interval]) -> Interval:
        """An interval that holds the polynomial at all angles, for all signals in theirs.

        For given signals the polynomial p is within [low, high] on the grid, so |p - middle| is at
        most half of that there, and in each angle 1 / cos(π d / N) times as much elsewhere.
        """
        most = math.prod(map(beyond_grid, self.degree))
        low: Coefficient = 0.0
        high: Coefficient = 0.0
        for monomial, c in self.terms.items():
            a, b = _values(monomial, of)
            if a == -b:  # most signals can be as large with either sign
                c = np.abs(c) * b
                low, high = low - c, high + c
            else:
                low = low + np.minimum(c * a, c * b)
                high = high + np.maximum(c * a, c * b)
        lowest, highest = float(np.min(low)), float(np.max(high))
        off = self.error + (len(self.terms) + 8) * ROUNDING * self.size
        half = ((highest - lowest) / 2 + off) * most
        middle = (lowest + highest) / 2
        return middle - half, middle + half


def beyond_grid(degree: int) -> float:
    """The largest ratio of a trigonometric polynomial's maximum to its maximum on the grid."""
    if 2 * degree >= STEPS:
        return math.inf
    return (1 + ROUNDING) / math.cos(math.pi * degree / STEPS)


def number(value: float, angles: int) -> Polynomial:
    return Polynomial({(): value}, (0,) * angles, abs(value))


def signal(node: Node, own: Interval, angles: int) -> Polynomial:
    """The node itself, which has values in ``own``."""
    return Polynomial({(node,): 1.0}, (0,) * angles, max(map(abs, own)))


def sine(of: Array, axis: int, angles: int) -> Polynomial:
    """The sine, or cosine, ``of`` (STEPS,) the angle that the axis of the grid is."""
    shape = [1] * angles
    shape[axis] = STEPS
    degree = tuple(int(k == axis) for k in range(angles))
    return Polynomial({(): of.reshape(shape)}, degree, 1.0, SINE)


def _values(monomial: Monomial, of: Mapping[Node, Interval]) -> Interval:
    """The interval of a product of signals; of two equal ones it has no sign."""
    if len(monomial) == 2 and monomial[0] is monomial[1]:
        return square(of[monomial[0]])
    found = 1.0, 1.0
    for node in monomial:
        found = product(found, of[node])
    return found


JOINTS = 3  # of a window, or fewer
LARGE = (40_000, 200_000)  # nodes of a graph: of more each, windows have a joint less
ANGLES = 3  # of a window: the grid has STEPS ** ANGLES points
POWER = 3  # signals in a product
TERMS = 64  # of a polynomial; a node of more is a signal that comes in

Unit = tuple[str, ...]  # inputs whose squares add up to 1: two, or four
Angle = Node | tuple[Unit, int]  # what a sine is of, or one of a unit's


class Window:
    """The polynomials of the nodes of a window, made in the order of the graph.

    ``angles``: what its sines and cosines are of; and those of the ``units`` that it reads, if it
    has room for them. Else their entries are signals like others.
    """

    def __init__(self, members: Sequence[Node], units: Sequence[Unit] = ()) -> None:
        turned = dict.fromkeys(node.args[0] for node in members if node.op in (Op.SIN, Op.COS))
        read = {arg.name for node in members for arg in node.args if arg.op is Op.INPUT}
        own = [unit for unit in units if read.intersection(unit)]
        found: list[Angle] = [*turned, *(angle for unit in own for angle in _angles(unit))]
        if len(found) > ANGLES:
            found, own = [*turned], []
        self.angles = {angle: axis for axis, angle in enumerate(found)}
        self._entries = {name: made for unit in own for name, made in self._of_unit(unit).items()}
        self._made: dict[Node, Polynomial] = {}

    def make(self, node: Node, intervals: Mapping[Node, Interval]) -> Interval | None:
        """The values that a member of the window can have; None where it says nothing new.

        ``intervals``: of each node before, and of this one, what is known without windows.
        """
        made = self._polynomial(node, intervals)
        new = made is not None and node.op in (Op.ADD, Op.SUB, Op.MUL)
        self._made[node] = made or self._given(node, intervals)
        return made.ends(intervals) if made is not None and new else None

    def forget(self, node: Node) -> None:
        """Nobody else reads the node."""
        self._made.pop(node, None)

    def _polynomial(self, node: Node, intervals: Mapping[Node, Interval]) -> Polynomial | None:
        """The node from its operands' polynomials; None where it is none, or one of many terms."""
        if node.op in (Op.SIN, Op.COS):
            return self._sine(node.op, node.args[0])
        if not all(math.isfinite(end) for arg in node.args for end in intervals[arg]):
            return None
        args = [self._made.get(arg) or self._given(arg, intervals) for arg in node.args]
        match node.op, args:
            case Op.ADD, [a, b]:
                made = a.plus(b, 1.0)
            case Op.SUB, [a, b]:
                made = a.plus(b, -1.0)
            case Op.NEG, [a]:
                made = a.scaled(-1.0)
            case Op.MULC, [a]:
                made = a.scaled(node.value)
            case Op.MUL, [a, b] if a.power + b.power <= POWER:
                made = a.times(b)
            case _:
                return None
        return made if len(made.terms) <= TERMS else None

    def _given(self, node: Node, intervals: Mapping[Node, Interval]) -> Polynomial:
        """The polynomial of a constant or an input, or of a signal as a variable."""
        if node.op is Op.CONST:
            return number(node.value, len(self.angles))
        if node.op is Op.INPUT and node.name in self._entries:
            return self._entries[node.name]
        return signal(node, intervals[node], len(self.angles))

    def _sine(self, op: Op, angle: Angle) -> Polynomial:
        turn = math.tau * np.arange(STEPS) / STEPS
        of = np.sin(turn) if op is Op.SIN else np.cos(turn)
        return sine(of, self.angles[angle], len(self.angles))

    def _of_unit(self, unit: Unit) -> dict[str, Polynomial]:
        """The entries of a unit."""
        cosines, sines = (
            [self._sine(op, angle) for angle in _angles(unit)] for op in (Op.COS, Op.SIN)
        )
        if len(unit) == 2:
            return dict(zip(unit, (cosines[0], sines[0]), strict=True))
        (cos_e, cos_a, cos_b), (sin_e, sin_a, sin_b) = cosines, sines
        pairs = (cos_e, cos_a), (cos_e, sin_a), (sin_e, cos_b), (sin_e, sin_b)
        return {name: p.times(q) for name, (p, q) in zip(unit, pairs, strict=True)}


def _angles(unit: Unit) -> list[tuple[Unit, int]]:
    return [(unit, k) for k in range(len(unit) - 1)]


def windows(graph: Graph, units: Sequence[Unit] = ()) -> dict[Node, list[Window]]:
    """Node → the windows that it is in.

    A window is of a joint alone, with the one before it, or with two, but in large graphs. In it is
    what is computed at its joints, and what depends on no other angles than theirs. ``units``:
    inputs that are vectors of length 1.
    """
    most = JOINTS - sum(len(graph.nodes) > size for size in LARGE)
    at: dict[int, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        if node.region is not None:
            at[node.region[1]].append(node)
    before = _before(graph)
    paths: set[tuple[int, ...]] = set()
    for joint in at:
        path = [joint]
        while path[-1] in before and len(path) < most:
            paths.add(tuple(path))
            path.append(before[path[-1]])
        paths.add(tuple(path))
    turns = _turns(graph, units)
    found: dict[Node, list[Window]] = defaultdict(list)
    for joints in sorted(paths):
        window = Window([node for joint in joints for node in at[joint]], units)
        if len(window.angles) <= ANGLES:
            for node in graph.nodes:
                if node.region is not None and (
                    node.region[1] in joints
                    or (turns[node] and turns[node] <= window.angles.keys())
                ):
                    found[node].append(window)
    return found


def _turns(graph: Graph, units: Sequence[Unit]) -> dict[Node, frozenset[Angle]]:
    """The angles that each node depends on through a sine or cosine, or as a unit's."""
    of = {name: _angles(unit) for unit in units for name in unit}
    found: dict[Node, frozenset[Angle]] = {}
    for node in graph.nodes:
        own: Sequence[Angle] = node.args if node.op in (Op.SIN, Op.COS) else ()
        if node.op is Op.INPUT:
            own = of.get(node.name, ())
        found[node] = frozenset(own).union(*(found[arg] for arg in node.args))
    return found


def _before(graph: Graph) -> dict[int, int]:
    """Joint → the one before it that it shares most with; none of a first one."""
    shared: Counter[tuple[int, int]] = Counter()
    for node in graph.nodes:
        for arg in node.args:
            if node.region and arg.region and node.region[1] != arg.region[1]:
                first, second = sorted((node.region[1], arg.region[1]))
                shared[second, first] += 1
    best: dict[int, int] = {}
    for joint, other in sorted(shared):
        if joint not in best or shared[joint, other] > shared[joint, best[joint]]:
            best[joint] = other
    return best
