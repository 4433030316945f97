"""A graph in fixed point as statements of C: integers only, every bit that of the integer model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op
from ..graph.wires import source
from .c_units import Body
from .integers import (
    RANGES,
    Term,
    chosen,
    constant,
    largest,
    least,
    left,
    minus,
    negative,
    plus,
    right,
    times,
    variable,
    wrapped,
)
from .units import Spec, Units


def _aligned(fixed: FixedGraph, of: Node, x: Term, fraction: int, to: int) -> Term:
    """``x`` with at most ``fraction`` of its last bits, then with ``to`` of them."""
    own = fixed.formats[of].fraction
    return left(right(x, max(own - fraction, 0)), to - min(own, fraction))


def _sum(sign: int) -> Callable[..., Term]:
    def compute(body: Statements, node: Node, a: Term, b: Term) -> Term:
        fixed = body.fixed
        f = fixed.formats[node].fraction
        grid = max(min(fixed.formats[x].fraction, f + 1) for x in node.args)
        a, b = (
            _aligned(fixed, of, x, f + 1, grid) for of, x in zip(node.args, (a, b), strict=True)
        )
        total = plus(a, b) if sign > 0 else minus(a, b)
        if grid == f + 1:
            return right(plus(total, constant(1)) if sign > 0 else total, 1)
        return left(total, f - grid)

    return compute


def _negate(body: Statements, node: Node, a: Term) -> Term:
    f = body.fixed.formats[node].fraction
    return negative(_aligned(body.fixed, node.args[0], a, f, f))


def _product(body: Statements, node: Node, a: Term, b: Term) -> Term:
    formats = body.fixed.formats
    out, product = formats[node], times(a, b)
    shift = sum(formats[x].fraction for x in node.args) - out.fraction
    if out.rounded and shift > 0:
        product = plus(product, constant(1 << (shift - 1)))
    return right(product, shift) if shift > 0 else left(product, -shift)


def _exponent(body: Statements, node: Node, a: Term) -> Term:
    places = body.fixed.formats[node].width
    unit = body.fixed.reciprocal(node)
    k, outside = (body.unit("reciprocal", unit, node, (a,), of) for of in ("exponent", "outside"))
    return plus(k, left(outside, places))


def _select(body: Statements, node: Node, c: Term, a: Term, b: Term) -> Term:
    f = body.fixed.formats[node].fraction
    a, b = (_aligned(body.fixed, of, x, f, f) for of, x in zip(node.args[1:], (a, b), strict=True))
    return chosen(c, a, b)


def _none(body: Statements, node: Node, *args: Term) -> Term:
    raise TypeError(f"{node.op.value} is no statement")


# Operation → expression, before it is wrapped to its width, as `graph.fixed.INTEGER` computes it.
C: dict[Op, Callable[..., Term]] = {
    Op.INPUT: _none,  # an entry, by its place in the interface
    Op.CONST: _none,  # stands where it is read
    Op.HELD: _none,  # an entry, too
    Op.MULC: _none,  # by a power of two: the same bits
    Op.RECIP: _none,  # has become a mantissa, an exponent and scalings
    Op.ADD: _sum(1),
    Op.SUB: _sum(-1),
    Op.NEG: _negate,
    Op.MUL: _product,
    Op.SIN: lambda body, node, a: body.unit("sincos", body.fixed.sincos(node), node, (a,), "sin"),
    Op.COS: lambda body, node, a: body.unit("sincos", body.fixed.sincos(node), node, (a,), "cos"),
    Op.MANTISSA: lambda body, node, a: body.unit(
        "reciprocal", body.fixed.reciprocal(node), node, (a,), "mantissa"
    ),
    Op.EXPONENT: _exponent,
    Op.SCALE: lambda body, node, x, k: body.unit(
        "scale", body.fixed.scale(node), node, (x, k), "scaled"
    ),
    Op.SELECT: _select,
}
COMING = (Op.INPUT, Op.HELD)
MADE = frozenset(op for op, made in C.items() if made is not _none)


@dataclass(frozen=True)
class Layout:
    """Where the values of a function's nodes stand, in all its parts.

    ``numbers``: each node's in the text of the graph; ``places``: of inputs; ``results``: the
    outputs that a node is; ``groups``: the flag that an overflow of the node raises; ``slots``: of
    the workspace; ``word``: type of inputs and outputs, a
    name for ``integer``; ``space``: of the workspace.
    """

    numbers: Mapping[Node, int]
    places: Mapping[str, int]
    results: Mapping[Node, Sequence[tuple[int, str]]]
    groups: Mapping[Node, int]
    slots: Mapping[Node, int]
    word: str
    integer: str
    space: str


class Statements(Body):
    """Statements of one part of a function.

    They read ``in``, write ``out``, and keep words between parts in ``w``; an overflow raises
    ``o``. ``ranges``: what each node can be, known from the part that computes it.
    """

    def __init__(
        self,
        units: Units[Spec],
        fixed: FixedGraph,
        layout: Layout,
        ranges: dict[Node, tuple[int, int]],
    ) -> None:
        super().__init__(units.tables)
        self.units, self.fixed, self.layout, self.ranges = units, fixed, layout, ranges
        self.flags: dict[int, None] = {}  # raised here, in order
        self._terms: dict[Node, Term] = {}
        self._calls: dict[tuple[str, ...], str] = {}

    def compute(self, node: Node) -> None:
        """The node's word, and where it goes."""
        layout, out = self.layout, self.fixed.formats[node]
        k, group = layout.numbers[node], layout.groups.get(node)
        exact = C[node.op](self, node, *map(self.value, node.args))
        if exact.within(out.lowest, out.highest):
            word = self.let(f"n{k}", exact)
        elif out.saturates:
            above = self.let(f"l{k}", largest(self.let(f"t{k}", exact), out.lowest))
            word = self.let(f"n{k}", least(above, out.highest))
        elif out.wraps or group is None:
            word = self.let(f"n{k}", wrapped(exact, out.width))
        else:
            exact = self.let(f"t{k}", exact)
            word = self.let(f"n{k}", wrapped(exact, out.width))
            self.statements.append(f"o{group} |= {word} != {exact};")
            self.flags[group] = None
        self._terms[node], self.ranges[node] = word, (word.low, word.high)
        if node in layout.slots:
            self.statements.append(f"w[{layout.slots[node]}] = {word};")
        self.store(node)

    def store(self, node: Node) -> None:
        """The outputs that ``node`` is."""
        for k, name in self.layout.results.get(node, ()):
            self.statements.append(f"out[{k}] = {self.value(node)}; /* {name} */")

    def value(self, node: Node) -> Term:
        """The bits of a node."""
        node = source(node)
        if node.op is Op.CONST:
            return constant(int(self.fixed.formats[node].quantize(node.value)))
        if node not in self._terms:
            self._terms[node] = self._input(node) if node.op in COMING else self._kept(node)
        return self._terms[node]

    def unit(self, kind: str, spec: Spec, node: Node, args: Sequence[Term], output: str) -> Term:
        """An output of a unit, which is called once for all that read one of them."""
        widths = [self.fixed.formats[a].width for a in node.args]
        function = self.units.function(kind, spec, widths)
        key = function.name, *(a.text for a in args)
        if key not in self._calls:
            name = self._calls[key] = f"u{self.layout.numbers[node]}"
            taken = ", ".join(a.text for a in args)
            self.statements.append(
                f"const struct {function.name} {name} = {function.name}({taken});"
            )
        low, high = function.outputs[output]
        return replace(variable(f"{self._calls[key]}.{output}", low, high), whole=False)

    def _input(self, node: Node) -> Term:
        """Bits above those of the word are not read, as no port has them."""
        k, width = self.layout.places[node.name], self.fixed.formats[node].width
        given = variable(f"in[{k}]", *RANGES[self.layout.integer])
        return self.let(f"in{k}", wrapped(given, width))

    def _kept(self, node: Node) -> Term:
        kept = f"w[{self.layout.slots[node]}]"
        return self.let(
            f"n{self.layout.numbers[node]}", Term(kept, *self.ranges[node], self.layout.space)
        )
