"""A graph in fixed point as C++ for high-level synthesis: every bit and flag the hardware's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..graph.algorithm import Algorithm
from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op
from ..graph.wires import source
from .ap import Body, Term, compared, constant, word_range
from .hls_units import MadeOf
from .units import Units

Resources = Mapping[tuple[str, Node], str]  # (mul, sincos or recip, whose): dsp or fabric


def _aligned(own: Statements, of: Node, x: Term, fraction: int, to: int) -> Term:
    """``x`` with at most ``fraction`` of its last bits, then with ``to`` of them."""
    there = own.fixed.formats[of].fraction
    return own.left(own.right(x, max(there - fraction, 0)), to - min(there, fraction))


def _sum(sign: int) -> Callable[..., Term]:
    def compute(own: Statements, node: Node, a: Term, b: Term) -> Term:
        formats = own.fixed.formats
        f = formats[node].fraction
        grid = max(min(formats[x].fraction, f + 1) for x in node.args)
        a, b = (_aligned(own, of, x, f + 1, grid) for of, x in zip(node.args, (a, b), strict=True))
        total = own.plus(a, b) if sign > 0 else own.minus(a, b)
        if grid == f + 1:
            return own.right(own.plus(total, constant(1)) if sign > 0 else total, 1)
        return own.left(total, f - grid)

    return compute


def _negate(own: Statements, node: Node, a: Term) -> Term:
    f = own.fixed.formats[node].fraction
    return own.negative(_aligned(own, node.args[0], a, f, f))


def _product(own: Statements, node: Node, a: Term, b: Term) -> Term:
    formats = own.fixed.formats
    product = own.times(a, b, own.resources.get(("mul", node), ""))
    shift = sum(formats[x].fraction for x in node.args) - formats[node].fraction
    if formats[node].rounded and shift > 0:
        product = own.plus(product, constant(1 << (shift - 1)))
    return own.right(product, shift) if shift > 0 else own.left(product, -shift)


def _sine(output: str) -> Callable[..., Term]:
    return lambda own, node, a: own.unit(
        "sincos", own.fixed.sincos(node).algorithm, node, (a,), output
    )


def _mantissa(own: Statements, node: Node, a: Term, output: str = "mantissa") -> Term:
    return own.unit("recip", own.fixed.reciprocal(node).algorithm, node, (a,), output)


def _exponent(own: Statements, node: Node, a: Term) -> Term:
    outside = _mantissa(own, node, a, "outside")
    return own.plus(
        _mantissa(own, node, a, "exponent"), own.left(outside, own.fixed.formats[node].width)
    )


def _scale(own: Statements, node: Node, x: Term, k: Term) -> Term:
    return own.unit("scale", own.fixed.scale(node).algorithm, node, (x, k), "scaled")


def _select(own: Statements, node: Node, c: Term, a: Term, b: Term) -> Term:
    f = own.fixed.formats[node].fraction
    a, b = (_aligned(own, of, x, f, f) for of, x in zip(node.args[1:], (a, b), strict=True))
    return own.chosen(f"{c.text} < 0", a, b)


def _none(own: Statements, node: Node, *args: Term) -> Term:
    raise TypeError(f"{node.op.value} is no statement")


# Operation → statements, before the result is wrapped to its width, as `graph.fixed.INTEGER`
# computes it.
HLS: dict[Op, Callable[..., Term]] = {
    Op.INPUT: _none,  # comes in
    Op.CONST: _none,  # stands where it is read
    Op.HELD: _none,  # comes in, too
    Op.MULC: _none,  # by a power of two: the same bits
    Op.RECIP: _none,  # has become a mantissa, an exponent and scalings
    Op.ADD: _sum(1),
    Op.SUB: _sum(-1),
    Op.NEG: _negate,
    Op.MUL: _product,
    Op.SIN: _sine("sin"),
    Op.COS: _sine("cos"),
    Op.MANTISSA: _mantissa,
    Op.EXPONENT: _exponent,
    Op.SCALE: _scale,
    Op.SELECT: _select,
}
MADE = frozenset(op for op, made in HLS.items() if made is not _none)


@dataclass
class Statements(Body):
    """Statements of one function. ``reads``: what others declare, by name, since several nodes may
    be one word; ``raised``: names of the overflows of each flag."""

    fixed: FixedGraph = field(kw_only=True)
    units: Units[MadeOf] = field(kw_only=True)
    resources: Resources = field(kw_only=True)
    flags: Mapping[Node, int] = field(kw_only=True)
    words: dict[Node, Term] = field(kw_only=True)  # of all functions so far
    names: Mapping[Node, str] = field(kw_only=True)
    reads: dict[str, Term] = field(default_factory=dict)
    raised: dict[int, list[str]] = field(default_factory=dict)
    _called: dict[tuple[str, str], dict[str, Term]] = field(default_factory=dict)

    def compute(self, node: Node) -> None:
        """The node's word, and whether it overflows."""
        out, name = self.fixed.formats[node], self.names[node]
        exact = HLS[node.op](self, node, *map(self.value, node.args))
        low, high = word_range(out.width)
        if exact.within(low, high):
            word = exact
        elif out.saturates:
            word = self.least(self.largest(exact, low), high)
        else:
            kind = f"ap_int<{out.width}>"
            word = self.let(f"{kind}({exact.text})", low, high, name, kind)
            if not out.wraps and node in self.flags:
                bit = self.let(compared(word, "!=", exact), 0, 1, f"{name}_over")
                self.raised.setdefault(self.flags[node], []).append(bit.text)
        self.words[node] = word

    def value(self, node: Node) -> Term:
        """The bits of a node."""
        node = source(node)
        if node.op is Op.CONST:
            return constant(int(self.fixed.formats[node].quantize(node.value)))
        word = self.words[node]
        if word.is_name and word.text not in self.declared:
            self.reads[word.text] = word
        return word

    def unit(
        self, kind: str, algorithm: Algorithm, node: Node, args: Sequence[Term], output: str
    ) -> Term:
        """An output of a unit, which is called once for all that read one of them."""
        made_of = self.resources.get((kind, node.args[0]), "")
        widths = [self.fixed.formats[a].width for a in node.args]
        function = self.units.function(kind, MadeOf(algorithm, made_of), widths)
        taken = self.pieces(args)
        key = function.name, taken
        if key not in self._called:
            found = {}
            for own, (low, high) in function.outputs.items():
                found[own] = self.declare(f"{self.names[node]}_{own}", low, high)
                self.lines.append(f"{found[own].type} {found[own].text};")
            given = self.pieces(list(found.values()))
            self.lines.append(f"{function.name}({taken}, {given});")
            self._called[key] = found
        return self._called[key][output]
