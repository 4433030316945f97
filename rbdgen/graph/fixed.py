"""Fixed point: what every operation does to integers. This is what the hardware must equal.

A word of ``Format(width, fraction)`` is a signed two's-complement integer n that stands for
n / 2^fraction; every signal has its own. The rules, chosen so that each addition is a single
carry chain as wide as its result, plus one bit:

* sum: operands keep at most one bit below the result's last (further bits are truncated); then
  (A + B + 1) >> 1, or (A - B) >> 1, where there is such a bit. That is rounding half up of a sum.
* product: exact, then truncated; or rounded half up where another product reads it.
* reciprocal: a mantissa and an exponent, see ``reciprocal``. An operand out of range (not
  positive, or too small) *overflows* the exponent: it comes out 2^width too large, and wraps.
* selection: both values truncated to the result's last bit.
* saturation: rounded half up, then the nearest word within the limits (`FixedGraph.saturation`).
* a result that has bits below all that its operands make has zeros there.
* everything wraps around at its width. A value that wrapped has *overflowed*, unless its format
  says ``wraps`` (angles do); the flag is part of the specification. A format that ``saturates``
  has its nearest word instead: the lowest word, negated, is the highest, and no overflow.

Registers for many tasks, of a design of one graph or of several, in the order of their chain.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .evaluate import in_order
from .graph import Graph, operands
from .integers import NUMBERS, Algebra, WithUnits
from .node import STILL, Node, Op
from .reciprocal import Reciprocal, ScaleAlgorithm
from .sincos import SinCos
from .word import indices

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
T = TypeVar("T")


@dataclass(frozen=True)
class Format:
    """Signed word: ``width`` bits, the last ``fraction`` of them after the binary point."""

    width: int
    fraction: int
    rounded: bool = False  # product: round half up instead of truncating
    wraps: bool = False  # wrapping around is meant, not an overflow
    saturates: bool = False  # of a mirrored limb's inputs and outputs: negations only

    @property
    def lowest(self) -> int:
        return -(1 << (self.width - 1))

    @property
    def highest(self) -> int:
        return (1 << (self.width - 1)) - 1

    @property
    def limits(self) -> tuple[float, float]:
        """Real numbers that lie between have a word, and so have those of the other sign."""
        largest = 2.0 ** (self.width - 1 - self.fraction)
        return -largest, largest

    @property
    def flags(self) -> bool:
        """Whether a value that does not fit is an overflow."""
        return not (self.wraps or self.saturates)

    def quantize(self, values: NDArray[np.float64] | float) -> Integers:
        """The nearest words, half up, saturated."""
        scaled = np.floor(np.ldexp(np.asarray(values, dtype=np.float64), self.fraction) + 0.5)
        return np.clip(scaled, self.lowest, self.highest).astype(np.int64)

    def real(self, words: Integers) -> NDArray[np.float64]:
        return np.ldexp(words.astype(np.float64), -self.fraction)

    def wrap(self, words: Integers) -> Integers:
        """Two's complement at this width."""
        if self.saturates:
            return np.clip(words, self.lowest, self.highest)
        half = np.int64(1) << (self.width - 1)
        return ((words + half) & ((np.int64(1) << self.width) - 1)) - half


def convert(words: Integers, of: Format, to: Format) -> tuple[Integers, Flags]:
    """Words in another format: the last bits rounded half up, saturated; and where they were."""
    shift = of.fraction - to.fraction
    words = (words + (1 << shift >> 1)) >> shift if shift > 0 else words << -shift
    clipped = np.clip(words, to.lowest, to.highest)
    return clipped, clipped != words


def renamed(word: Format, by: float) -> Format:
    """The format of the same bits when a power of two multiplies them."""
    return replace(word, fraction=word.fraction - int(math.log2(by)))


@dataclass(frozen=True, eq=False)
class FixedGraph:
    """A graph with a format for every node. MULC is by powers of two only, and free.

    ``inputs`` has the format of every input of the interface, read by some node or not.
    ``steps`` of the normalisation, for every operand of MANTISSA and EXPONENT: see ``Reciprocal``;
    ``mantissas``: its width, where that is not ``width``. ``before``: the graphs over real numbers
    that it was made from, in order, and how far constants of their MULC were moved; None of a graph
    that is not made so. ``chain``: bits of every register for many tasks. ``fused``: product → the
    sum that is computed in the product's cell.
    """

    graph: Graph
    inputs: Mapping[str, Format]
    formats: Mapping[Node, Format]
    width: int  # of words that meet a multiplier
    steps: Mapping[Node, int] = field(default_factory=dict)
    mantissas: Mapping[Node, int] = field(default_factory=dict)
    before: tuple[tuple[Graph, Mapping[Node, float]], ...] | None = None
    chain: int = 0
    fused: Mapping[Node, Node] = field(default_factory=dict)

    def sincos(self, node: Node) -> SinCos:
        """The unit that computes this SIN or COS."""
        return SinCos(self.formats[node.args[0]].fraction, self.formats[node].width)

    def reciprocal(self, node: Node) -> Reciprocal:
        """The unit that computes this MANTISSA or EXPONENT."""
        (pivot,) = node.args
        word = self.formats[pivot]
        top = word.width - 1 - word.fraction
        return Reciprocal(word.width, top, self.steps[pivot], self.mantissas.get(pivot, self.width))

    def scale(self, node: Node) -> ScaleAlgorithm:
        """The shifter that computes this SCALE."""
        x, k = node.args
        word, unit = self.formats[x], self.reciprocal(k)
        shift = word.fraction + unit.lowest - self.formats[node].fraction
        return ScaleAlgorithm(word.width, shift, unit.lowest, unit.steps)

    def saturation(self, node: Node) -> tuple[int, int]:
        """The lowest and the highest word of this SATURATE: none is beyond its limit, and a limit
        that is one word above its format is the highest word that there is."""
        word = self.formats[node]
        most = math.floor(math.ldexp(node.value, word.fraction))
        return max(-most, word.lowest), min(most, word.highest)

    def saturates_by_bits(self, node: Node) -> bool:
        """Whether the bits above a certain one tell what is beyond the limits of this SATURATE."""
        low, high = self.saturation(node)
        return high == -low - 1 and not low & high

    @cached_property
    def parameters(self) -> dict[str, Node]:
        """The registers of what is the same for many tasks, in their order."""
        found = {node.name: node for node in self.graph.nodes if node.op is Op.PARAMETER}
        return {name: found[name] for name in sorted(found, key=indices)}

    @cached_property
    def taken(self) -> dict[str, Format]:
        """The inputs of a task, then what registers hold, where no hardware tells them apart."""
        return {
            **self.inputs,
            **{name: self.formats[node] for name, node in self.parameters.items()},
        }

    @property
    def arithmetic(self) -> list[Node]:
        """Sums, differences, negations and products: whose words are counted and averaged."""
        return [n for n in self.graph.nodes if n.op in (Op.ADD, Op.SUB, Op.NEG, Op.MUL)]

    @cached_property
    def reads(self) -> Mapping[Node, list[Node]]:
        """The `operands` of every node, but of a sum no product in whose cell it is computed."""
        found = {node: operands(node) for node in self.graph.nodes}
        for product, total in self.fused.items():
            found[total].remove(product)
        return found

    @cached_property
    def in_cell(self) -> Mapping[Node, Node]:
        """Sum → the product in whose cell it is computed."""
        return {total: product for product, total in self.fused.items()}

    def overflowing(self, node: Node) -> bool:
        """Whether operands exist, within their formats, that overflow this node."""
        if node not in self._overflowing:
            self._overflowing[node] = self._can_overflow(node)
        return self._overflowing[node]

    @cached_property
    def _overflowing(self) -> dict[Node, bool]:
        """A cache of `overflowing`, which plans call again and again."""
        return {}

    def _can_overflow(self, node: Node) -> bool:
        out = self.formats[node]
        never = (Op.INPUT, *STILL, Op.MULC, Op.SIN, Op.COS, Op.MANTISSA, Op.SATURATE)
        if not out.flags or node.op in never:
            return False
        if node.op is Op.EXPONENT:  # of an operand that is not positive
            return True
        ends = [(self.formats[a].lowest, self.formats[a].highest) for a in node.args]
        if node.op is Op.SCALE:  # by the smallest exponent that there is
            ends[1] = (self.scale(node).lowest,) * 2
        reached = _extremes(self, node, ends)
        return min(reached) < out.lowest or max(reached) > out.highest


def aligned(own: Algebra[T], x: T, fraction: int, most: int, to: int) -> T:
    """Words with at most ``most`` of their fraction bits, the rest truncated, then with ``to``."""
    return own.left(own.right(x, max(fraction - most, 0)), to - min(fraction, most))


def _sum(sign: int) -> Callable[..., Any]:
    def compute(own: WithUnits[T], fixed: FixedGraph, node: Node, a: T, b: T) -> T:
        f = fixed.formats[node].fraction
        fa, fb = (fixed.formats[x].fraction for x in node.args)
        grid = max(min(fa, f + 1), min(fb, f + 1))
        a, b = aligned(own, a, fa, f + 1, grid), aligned(own, b, fb, f + 1, grid)
        total = own.plus(a, b) if sign > 0 else own.minus(a, b)
        if grid == f + 1:
            return own.right(own.plus(total, own.constant(1)) if sign > 0 else total, 1)
        return own.left(total, f - grid)

    return compute


def _negate(own: WithUnits[T], fixed: FixedGraph, node: Node, a: T) -> T:
    f = fixed.formats[node].fraction
    return own.negative(aligned(own, a, fixed.formats[node.args[0]].fraction, f, f))


def _product(own: WithUnits[T], fixed: FixedGraph, node: Node, a: T, b: T) -> T:
    out, product = fixed.formats[node], own.times(a, b)
    shift = sum(fixed.formats[x].fraction for x in node.args) - out.fraction
    if out.rounded and shift > 0:
        product = own.plus(product, own.constant(1 << (shift - 1)))
    return own.right(product, shift) if shift > 0 else own.left(product, -shift)


def _sine(own: WithUnits[T], fixed: FixedGraph, node: Node, a: T) -> T:
    return own.unit("sincos", fixed.sincos(node), node, a)[node.op.value]


def _mantissa(own: WithUnits[T], fixed: FixedGraph, node: Node, a: T) -> T:
    return own.unit("reciprocal", fixed.reciprocal(node), node, a)["mantissa"]


def _exponent(own: WithUnits[T], fixed: FixedGraph, node: Node, a: T) -> T:
    found = own.unit("reciprocal", fixed.reciprocal(node), node, a)
    return own.plus(found["exponent"], own.left(found["outside"], fixed.formats[node].width))


def _scale(own: WithUnits[T], fixed: FixedGraph, node: Node, x: T, k: T) -> T:
    return own.unit("scale", fixed.scale(node), node, x, k)["scaled"]


def _select(own: WithUnits[T], fixed: FixedGraph, node: Node, c: T, a: T, b: T) -> T:
    f = fixed.formats[node].fraction
    fa, fb = (fixed.formats[x].fraction for x in node.args[1:])
    a, b = aligned(own, a, fa, f, f), aligned(own, b, fb, f, f)
    return own.chosen(own.is_negative(c), a, b)


def _saturate(own: WithUnits[T], fixed: FixedGraph, node: Node, a: T) -> T:
    low, high = fixed.saturation(node)
    shift = fixed.formats[node.args[0]].fraction - fixed.formats[node].fraction
    if shift > 0:
        a = own.right(own.plus(a, own.constant(1 << (shift - 1))), shift)
    a = own.named(own.left(a, max(-shift, 0)))
    below, above = own.minus(a, own.constant(low)), own.minus(own.constant(high), a)
    return own.chosen(
        own.is_negative(below),
        own.constant(low),
        own.chosen(own.is_negative(above), own.constant(high), a),
    )


def _constant(own: Algebra[T], fixed: FixedGraph, node: Node) -> T:
    return own.constant(int(fixed.formats[node].quantize(node.value)))


def _no_unit(why: str) -> Callable[..., Any]:
    def compute(own: Algebra[T], fixed: FixedGraph, node: Node, *args: T) -> T:
        raise TypeError(f"{node.op.value} is no unit: it {why}")

    return compute


# Operation → its result in an algebra, before it is wrapped to its width.
INTEGER: dict[Op, Callable[..., Any]] = {
    Op.INPUT: _no_unit("comes with the task"),
    Op.CONST: _constant,
    Op.PARAMETER: _constant,  # until it is written
    Op.ADD: _sum(1),
    Op.SUB: _sum(-1),
    Op.NEG: _negate,
    Op.MUL: _product,
    Op.MULC: lambda own, fixed, node, a: a,  # a power of two moves the binary point only
    Op.SIN: _sine,
    Op.COS: _sine,
    Op.RECIP: _no_unit("is lowered to a mantissa and an exponent"),
    Op.MANTISSA: _mantissa,
    Op.EXPONENT: _exponent,
    Op.SCALE: _scale,
    Op.SELECT: _select,
    Op.SATURATE: _saturate,
}


def _extremes(fixed: FixedGraph, node: Node, ends: list[tuple[int, int]]) -> list[int]:
    """The results of the node, before wrapping, at the ends of its operands' ranges."""
    compute = INTEGER[node.op]
    corners = itertools.product(*ends)
    # Python integers: a corner of two 32-bit words does not fit int64 after rounding
    return [int(compute(NUMBERS, fixed, node, *corner)) for corner in corners]


@dataclass(frozen=True)
class Evaluation:
    """Words of every output (N,), and which states overflowed in which node's cone."""

    outputs: dict[str, Integers]
    overflowed: dict[Node, NDArray[np.bool_]]  # nodes that can overflow, and did somewhere


def evaluate_fixed(
    fixed: FixedGraph,
    inputs: Mapping[str, Integers],
    watch: Callable[[Node, Integers], None] | None = None,
) -> Evaluation:
    """Integer outputs for integer inputs, each (N,), exactly as the hardware computes them."""
    overflowed: dict[Node, NDArray[np.bool_]] = {}

    def compute(node: Node, *args: Integers) -> Integers:
        if node.op is Op.INPUT or (node.op is Op.PARAMETER and node.name in inputs):
            words = np.asarray(inputs[node.name], dtype=np.int64)
        else:
            words = np.asarray(INTEGER[node.op](NUMBERS, fixed, node, *args))
        out = fixed.formats[node]
        wrapped = words if node.op is Op.MULC else out.wrap(words)  # whose word is its operand's
        if out.flags and wrapped is not words and (wrapped != words).any():
            overflowed[node] = np.atleast_1d(wrapped != words)
        if watch is not None:
            watch(node, wrapped)
        return wrapped

    size = np.broadcast_shapes(*(np.shape(v) for v in inputs.values())) if inputs else ()
    outputs = {
        name: np.broadcast_to(words, size).astype(np.int64)
        for name, words in in_order(fixed.graph, compute).items()
    }
    return Evaluation(outputs, overflowed)


Held = Mapping[str, Integers]  # register → its word
Flagged = Mapping[Node, frozenset[int]]  # node → the flags, by number, that its overflow raises


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
