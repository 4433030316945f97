"""A graph over real numbers as straight-line statements, in what C++ and CUDA have in common.

The statements speak of a scalar type ``S``, a type ``V`` of one or more states' scalars, and an
object ``io`` with ``load(input)``, ``store(output, value)``, ``keep(slot, value)``, ``kept(slot)``
and ``pivot(value)``. What those do, and the functions that are not operators, each language says.

Some nodes may be in double where S is float: of types ``D`` and ``DV``, which are S and V where S
is double. ``as<DV>(value)`` and ``as<V>(value)`` convert; ``keep_double`` and ``kept_double`` have
slots of their own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..graph.graph import Graph
from ..graph.node import Node, Op
from .statement_order import computed, slots_of


def literal(value: float, scalar: str = "S") -> str:
    """A constant that is read back as the same double; ValueError if not finite."""
    if not math.isfinite(value):
        raise ValueError(f"no finite number, which a literal could say: {value}")
    return f"{scalar}({value!r})"


# Operation → expression, as `graph.evaluate.FLOAT` computes it; `Part.load` has inputs. Sine and
# cosine are of `angle`, which `sine_cosine` has been called with.
REAL: dict[Op, Callable[..., str]] = {
    Op.CONST: lambda node: literal(node.value),
    Op.PARAMETER: lambda node: literal(node.value),  # graphs over real numbers have none
    Op.ADD: lambda node, a, b: f"{a} + {b}",
    Op.SUB: lambda node, a, b: f"{a} - {b}",
    Op.NEG: lambda node, a: f"-{a}",
    Op.MUL: lambda node, a, b: f"{a} * {b}",
    Op.MULC: lambda node, a, scalar="S": f"{literal(node.value, scalar)} * {a}",
    Op.SIN: lambda node, a: f"sin_{a}",
    Op.COS: lambda node, a: f"cos_{a}",
    Op.RECIP: lambda node, a: f"reciprocal({a})",
    Op.MANTISSA: lambda node, a: f"mantissa({a})",
    Op.EXPONENT: lambda node, a: f"exponent({a})",
    Op.SCALE: lambda node, x, k: f"scale({x}, {k})",
    Op.SELECT: lambda node, c, a, b: f"select({c}, {a}, {b})",
    Op.SATURATE: lambda node, a, scalar="S": f"saturate({a}, {literal(node.value, scalar)})",
}
# Those whose operands may be constants of type S: all others want V.
MIXED = {Op.ADD, Op.SUB, Op.MUL, Op.MULC}
FLOPS = {Op.ADD, Op.SUB, Op.MUL, Op.MULC, Op.RECIP}
Place = int | str  # of an input or output: its number, or an expression of C++
PIVOTS = {Op.RECIP, Op.MANTISSA}  # whose operand is positive unless a matrix is singular


@dataclass(frozen=True)
class Straight:
    """Statements of functions that are called one after another.

    ``slots``: values between functions, which ``keep`` and ``kept`` number; none of one function.
    ``slots_double``: the same of those in double, of which there are ``in_double`` operations.
    """

    parts: tuple[tuple[str, ...], ...]
    slots: int
    divides: bool
    slots_double: int = 0
    in_double: int = 0


def identifier(name: str) -> str:
    """``name``; ValueError for one that is no identifier in C."""
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise ValueError(f"no name for a function in C: {name!r}; letters, digits and _ make one")
    return name


def flops_of(nodes: Iterable[Node]) -> int:
    """How many of the operations are of floating point."""
    return sum(node.op in FLOPS for node in nodes)


def in_parts(
    graph: Graph,
    chunks: Sequence[Sequence[Node]],
    ahead: Collection[int] = (),
    in_double: Collection[Node] = (),
    inputs: Mapping[str, Place] | None = None,
    outputs: Mapping[str, Place] | None = None,
    part: Callable[..., Part] | None = None,
) -> Straight:
    """A function for each chunk of ``computed``'s nodes, none before its operands.

    A node of several chunks is computed again in all but the first.
    ``inputs`` and ``outputs`` have the places of those that ``graph`` names; without them they are
    numbered as it has them. ``ahead``: inputs, in radians, whose sine and cosine
    ``io.sine_cosine(input, sine, cosine)`` gives. ``in_double``: nodes that are.
    ``part``: what writes a function, unless it is of C++ and CUDA.
    """

    def read(double: bool) -> Callable[[Node], list[Node]]:
        """The operands that a node reads in double, or in float."""
        return lambda node: [
            a for a in node.args if (node in in_double and a in in_double) == double
        ]

    slots, count = slots_of(chunks, read(False))
    slots_double, count_double = slots_of(chunks, read(True))
    inputs = inputs or {name: k for k, name in enumerate(graph.inputs)}
    outputs = outputs or {name: k for k, name in enumerate(graph.outputs)}
    stores: dict[Node, list[tuple[Place, str]]] = {}
    for name, node in graph.outputs.items():
        stores.setdefault(node, []).append((outputs[name], name))
    made = part or Part
    parts = [made(inputs, slots, slots_double, stores, ahead, in_double) for _ in chunks]
    before: set[Node] = set()
    for own, chunk in zip(parts, chunks, strict=True):
        for node in chunk:
            if node in before:
                own.state(node)
            else:
                own.compute(node)
        before.update(chunk)
    for node in stores:
        if node.op in (Op.INPUT, Op.CONST):
            parts[-1].store(node)
    return Straight(
        tuple(tuple(own.lines) for own in parts),
        count,
        any(n.op in PIVOTS for n in computed(graph)),
        count_double,
        len(in_double),
    )


class Part:
    """One function's statements as they grow, in C++ and CUDA; C writes some of them otherwise."""

    def __init__(
        self,
        inputs: Mapping[str, Place],
        slots: Mapping[Node, int],
        slots_double: Mapping[Node, int],
        stores: Mapping[Node, list[tuple[Place, str]]],
        ahead: Collection[int],
        in_double: Collection[Node],
    ) -> None:
        self.lines: list[str] = []
        self._inputs, self._stores = inputs, stores
        self._slots, self._slots_double = slots, slots_double
        self._ahead, self._in_double = ahead, in_double
        self._names: dict[Node, str] = {}
        self._converted: dict[Node, str] = {}
        self._angles: dict[tuple[Node, float], str] = {}

    def compute(self, node: Node) -> None:
        """State ``node``, and where its value goes."""
        self.state(node)
        if node in self._slots:
            self.lines.append(self.keep(self._slots[node], self._operand(node, False)))
        if node in self._slots_double:
            self.lines.append(f"io.keep_double({self._slots_double[node]}, {self._names[node]});")
        self.store(node)

    def state(self, node: Node) -> None:
        """The statement of ``node``'s value."""
        double = node in self._in_double
        if node.op in (Op.SIN, Op.COS):
            # no statement: the pair has both
            self._names[node] = REAL[node.op](node, self._angle(node))
        else:
            operands = [self._operand(arg, node.op in MIXED, double) for arg in node.args]
            if node.op in PIVOTS:
                self.lines.append(self.pivot(self._operand(node.args[0], False)))
            if node.op in (Op.MULC, Op.SATURATE) and double:
                operands.append("D")
            self.let(node, f"n{node.index}", self.value(node, operands))

    def store(self, node: Node) -> None:
        """The outputs that ``node`` is."""
        for k, name in self._stores.get(node, ()):
            self.lines.append(self.put(k, name, self._operand(node, False)))

    def value(self, node: Node, operands: Sequence[str]) -> str:
        """The expression of an operation."""
        return REAL[node.op](node, *operands)

    def constant(self, value: float, mixed: bool = True, double: bool = False) -> str:
        """A constant, as a scalar if ``mixed``."""
        own = literal(value, "D" if double else "S")
        return own if mixed else f"wide<{self._type(double)}>({own})"

    def load(self, place: Place) -> str:
        """The expression of an input."""
        return f"io.load({place})"

    def turned(self, value: str, turn: float) -> str:
        """The expression of the nearest number to zero modulo a ``turn``."""
        return f"turned({value}, {self.constant(turn)})"

    def put(self, place: Place, name: str, value: str) -> str:
        """The statement that stores an output."""
        return f"io.store({place}, {value}); // {name}"

    def keep(self, slot: int, value: str) -> str:
        """The statement that keeps a value for later functions."""
        return f"io.keep({slot}, {value});"

    def kept(self, slot: int) -> str:
        """The expression of such a value."""
        return f"io.kept({slot})"

    def pivot(self, value: str) -> str:
        """The statement that looks at a pivot."""
        return f"io.pivot({value});"

    def angle(self, call: str, name: str, double: bool = False) -> list[str]:
        """The statements that compute sin_NAME and cos_NAME by a ``call``."""
        sine, cosine = f"sin_{name}", f"cos_{name}"
        return [f"{self._type(double)} {sine}, {cosine};", f"{call}, {sine}, {cosine});"]

    def let(self, node: Node, name: str, value: str) -> str:
        """State a value, which has that name from then on."""
        self.declare(node in self._in_double, name, value)
        self._names[node] = name
        return name

    def _type(self, double: bool) -> str:
        return "DV" if double else "V"

    def _operand(self, node: Node, mixed: bool, double: bool = False) -> str:
        """The expression that reads ``node``, a constant as a scalar if ``mixed``."""
        if node.op is Op.CONST:
            return self.constant(node.value, mixed, double)
        if (node in self._in_double) == double:
            return self._names.get(node) or self._read(node)
        if node not in self._converted:
            self._converted[node] = self._convert(node, double)
        return self._converted[node]

    def _convert(self, node: Node, double: bool) -> str:
        """The node's value in the other precision, which an earlier function may have kept."""
        if node in self._in_double and node not in self._names:
            name, value = f"n{node.index}_V", self.kept(self._slots[node])
        else:
            own = self._names.get(node) or self._read(node)
            to = self._type(double)
            name, value = f"{own}_{to}", f"as<{to}>({own})"
        self.declare(double, name, value)
        return name

    def declare(self, double: bool, name: str, value: str) -> None:
        """A declaration. Where DV is a structure g++ keeps what is const in memory, all of it: it
        takes none apart into registers that has been stored to though it is read-only."""
        self.lines.append(f"{'DV' if double else 'const V'} {name} = {value};")

    def _read(self, node: Node) -> str:
        """An input, or what an earlier function has kept."""
        if node.op is Op.INPUT:
            place = self._inputs[node.name]
            if isinstance(place, str):  # an operand in memory wherever it is one: no register waits
                return self.load(place)
            own = self.load(place)
            return self.let(node, f"in{place}", self.turned(own, node.value) if node.value else own)
        if node in self._in_double:
            kept = f"io.kept_double({self._slots_double[node]})"
        else:
            kept = self.kept(self._slots[node])
        return self.let(node, f"n{node.index}", kept)

    def _angle(self, node: Node) -> str:
        """The name behind sin_ and cos_ of the node's operand, once they are computed."""
        (arg,) = node.args
        key = (arg, node.value)
        if key not in self._angles:
            double = node in self._in_double
            place = self._inputs[arg.name] if arg.op is Op.INPUT else None
            if place in self._ahead and node.value == math.tau:
                operand, call = f"in{place}", f"io.sine_cosine({place}"
            else:
                operand = self._operand(arg, False, double)
                if not operand.isidentifier():
                    operand = self.let(arg, f"in_{len(self.lines)}", operand)
                radians = operand
                if node.value != math.tau:
                    factor = self.constant(math.tau / node.value, True, double)
                    radians = f"{factor} * {operand}"
                call = f"sine_cosine({radians}"
            name = self._angles[key] = f"{operand}_{len(self._angles)}"
            self.lines += self.angle(call, name, double)
        return self._angles[key]
