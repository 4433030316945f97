"""The dataflow graph: interned scalar operations and the constructor that simplifies them.

A ``Builder`` makes nodes; asking it twice for the same operation on the same operands gives the
same node, and what needs no hardware (x·0, x·1, x+0, constants) never becomes one. Nodes carry
Python's operators, so an algorithm written over numbers traces itself when it is given nodes.
Multiplication by a power of two is a ``MULC`` too, but free: it only moves the binary point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

Region = tuple[str, int]  # (kind, joint index): the hardware module that a node belongs to


class Op(Enum):
    """The operations, each with its ``arity``: operands. Back ends are tables keyed by them."""

    INPUT = "input", 0
    CONST = "const", 0
    ADD = "add", 2
    SUB = "sub", 2
    NEG = "neg", 1
    MUL = "mul", 2  # both operands vary
    MULC = "mulc", 1  # by the constant `value`, positive
    SIN = "sin", 1
    COS = "cos", 1
    RECIP = "recip", 1  # of a positive operand a = f · 2^k with f in [½, 1), as the next two:
    MANTISSA = "mantissa", 1  # 1/f, in (1, 2]
    EXPONENT = "exponent", 1  # k, a whole number
    SCALE = "scale", 2  # args: x, k; x · 2^-k
    SELECT = "select", 3  # args: condition, if negative, otherwise
    SATURATE = "saturate", 1  # the nearest number within ±`value`, positive
    PARAMETER = "parameter", 0  # the same for many tasks, in a register: `value` until written

    _value_: str
    arity: int

    def __new__(cls, name: str, arity: int) -> Op:
        op = object.__new__(cls)
        op._value_, op.arity = name, arity
        return op

    __hash__ = object.__hash__  # of the one object that there is; Enum's is ten times as slow


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """One scalar operation. ``index`` grows from operands to users: a topological order."""

    builder: Builder = field(repr=False)
    index: int
    op: Op
    args: tuple[Node, ...] = field(repr=False)
    value: float = (
        0.0  # of CONST, PARAMETER; factor of MULC; SIN, COS: a full turn, 2π or 1; SATURATE: limit;
        # INPUT: what it is modulo of, 0 unless it is an angle of which that is known
    )
    name: str = ""  # of INPUT and PARAMETER
    region: Region | None = None

    def __add__(self, other: Scalar) -> Node:
        return self.builder.add(self, other)

    def __radd__(self, other: Scalar) -> Node:
        return self.builder.add(other, self)

    def __sub__(self, other: Scalar) -> Node:
        return self.builder.sub(self, other)

    def __rsub__(self, other: Scalar) -> Node:
        return self.builder.sub(other, self)

    def __mul__(self, other: Scalar) -> Node:
        return self.builder.mul(self, other)

    def __rmul__(self, other: Scalar) -> Node:
        return self.builder.mul(other, self)

    def __neg__(self) -> Node:
        return self.builder.neg(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Builder.made, (self.builder, self.index)

    @property
    def is_shift(self) -> bool:
        """Whether this multiplies by a power of two, which hardware does by renaming bits."""
        return self.op is Op.MULC and math.frexp(self.value)[0] == 0.5


Scalar = Node | float
STILL = (Op.CONST, Op.PARAMETER)  # wires, whatever the task
UNCOMPUTED = (Op.INPUT, *STILL)
ANY: Region = ("backward", 0)  # of what is computed where nothing else is


class Builder:
    """Makes interned nodes. ``region`` labels what is made inside its ``with`` block."""

    def __init__(self) -> None:
        self._table: dict[tuple[Op, tuple[Node, ...], object], Node] = {}
        self._nodes: list[Node] = []
        self._region: Region | None = None
        self._suffix = ""

    def __reduce__(self) -> tuple[Any, ...]:
        # flat: a node in a node in a node is deeper than Python packs
        rows = [(n.op, *(a.index for a in n.args), n.value, n.name, n.region) for n in self._nodes]
        table = [
            (op, tuple(a.index for a in args), last, node.index)
            for (op, args, last), node in self._table.items()
        ]
        return type(self)._of_rows, (rows, table)

    @classmethod
    def _of_rows(cls, rows: Sequence[tuple[Any, ...]], table: Sequence[tuple[Any, ...]]) -> Builder:
        """A builder with these nodes: operation, indices of operands, value, name, region."""
        builder = cls()
        for op, *args, value, name, region in rows:
            builder._new(op, tuple(map(builder.made, args)), value, name, region)
        builder._table = {
            (op, tuple(map(builder.made, args)), last): builder.made(k)
            for op, args, last, k in table
        }
        return builder

    def made(self, index: int) -> Node:
        """The node of this index."""
        return self._nodes[index]

    def _new(
        self,
        op: Op,
        args: tuple[Node, ...],
        value: float,
        name: str,
        region: Region | None,
    ) -> Node:
        node = Node(self, len(self._nodes), op, args, value, name, region)
        self._nodes.append(node)
        return node

    @contextmanager
    def region(self, kind: str, joint: int) -> Iterator[None]:
        before, self._region = self._region, (kind + self._suffix, joint)
        try:
            yield
        finally:
            self._region = before

    @contextmanager
    def regions(self, suffix: str) -> Iterator[None]:
        """Regions of its own for what is traced once more: ``forward_2``, of a ``suffix`` "_2"."""
        before, self._suffix = self._suffix, suffix
        try:
            yield
        finally:
            self._suffix = before

    @contextmanager
    def in_region(self, region: Region | None) -> Iterator[None]:
        """Label as an existing node is labelled: what a pass makes stays in its module."""
        before, self._region = self._region, region
        try:
            yield
        finally:
            self._region = before

    def beside(self, *scalars: Scalar) -> AbstractContextManager[None]:
        """Label as the last one of what is computed; where nothing is, as the last node before."""
        nodes = [x for x in scalars if isinstance(x, Node) and x.op not in UNCOMPUTED]
        last = max(nodes, key=lambda node: node.index, default=None)
        if last is None:
            last = next((node for node in reversed(self._nodes) if node.region), None)
        return self.in_region(last.region if last else ANY)

    def _find(self, op: Op, args: tuple[Node, ...], value: float = 0.0) -> Node | None:
        return self._table.get((op, args, value))

    def node(self, op: Op, *args: Node, value: float = 0.0, name: str = "") -> Node:
        """The interned node just as given: the operations below simplify, and then come here."""
        key = (op, args, name or value)
        node = self._table.get(key)
        if node is None:
            node = self._table[key] = self._new(op, args, value, name, self._region)
        return node

    def lift(self, x: Scalar) -> Node:
        return x if isinstance(x, Node) else self.const(float(x))

    def const(self, value: float) -> Node:
        # + 0.0: minus zero is zero
        return self.node(Op.CONST, value=value + 0.0)

    def input(self, name: str, turn: float = 0.0) -> Node:
        """An input; of real numbers the nearest to zero modulo ``turn``, unless that is 0."""
        return self.node(Op.INPUT, value=turn, name=name)

    def parameter(self, name: str, value: float) -> Node:
        """The parameter register ``name``, with the initial value ``value``."""
        return self.node(Op.PARAMETER, value=value, name=name)

    def add(self, a: Scalar, b: Scalar) -> Node:
        a, b = self.lift(a), self.lift(b)
        if a.op is Op.CONST:
            if b.op is Op.CONST:
                return self.const(a.value + b.value)
            if a.value == 0:  # 0 + b -> b
                return b
        elif _is(b, 0):  # a + 0 -> a
            return a
        if a is b:  # a + a -> 2 a
            return self.mul(2.0, a)
        if a.op is Op.NEG and b.op is Op.NEG:  # -a + -b -> -(a + b)
            return self.neg(self.add(a.args[0], b.args[0]))
        if b.op is Op.NEG:  # a + -b -> a - b
            return self.sub(a, b.args[0])
        if a.op is Op.NEG:  # -a + b -> b - a
            return self.sub(b, a.args[0])
        if a.index > b.index:
            a, b = b, a
        return self.node(Op.ADD, a, b)

    def sub(self, a: Scalar, b: Scalar) -> Node:
        a, b = self.lift(a), self.lift(b)
        if a.op is Op.CONST:
            if b.op is Op.CONST:
                return self.const(a.value - b.value)
            if a.value == 0:  # 0 - b -> -b
                return self.neg(b)
        elif _is(b, 0):  # a - 0 -> a
            return a
        if a is b:  # a - a -> 0
            return self.const(0.0)
        if b.op is Op.NEG:  # a - -b -> a + b
            return self.add(a, b.args[0])
        if a.op is Op.NEG:  # -a - b -> -(a + b)
            return self.neg(self.add(a.args[0], b))
        if b.op is Op.CONST and b.value < 0:  # a - -c -> a + c
            return self.add(a, -b.value)
        reverse = self._find(Op.SUB, (b, a))
        if reverse is not None:  # b - a exists: share it
            return self.neg(reverse)
        return self.node(Op.SUB, a, b)

    def neg(self, a: Scalar) -> Node:
        a = self.lift(a)
        if a.op is Op.CONST:
            return self.const(-a.value)
        if a.op is Op.NEG:  # --a -> a
            return a.args[0]
        return self.node(Op.NEG, a)

    def mul(self, a: Scalar, b: Scalar) -> Node:
        a, b = self.lift(a), self.lift(b)
        if b.op is Op.CONST:
            a, b = b, a
        if a.op is Op.CONST:
            if b.op is Op.CONST:
                return self.const(a.value * b.value)
            if a.value == 0:  # 0 b -> 0
                return self.const(0.0)
            if a.value == 1:  # 1 b -> b
                return b
            if a.value == -1:  # -1 b -> -b
                return self.neg(b)
        if a.op is Op.NEG:  # -a b -> -(a b)
            return self.neg(self.mul(a.args[0], b))
        if b.op is Op.NEG:  # a -b -> -(a b)
            return self.neg(self.mul(a, b.args[0]))
        if a.op is Op.CONST:
            if a.value < 0:  # -c b -> -(c b), so that both signs share one node
                return self.neg(self.mul(-a.value, b))
            if b.op is Op.MULC:  # c (d x) -> (c d) x
                return self.mul(a.value * b.value, b.args[0])
            return self.node(Op.MULC, b, value=a.value)
        if a.op is Op.MULC and a.is_shift:  # (2^k x) y -> 2^k (x y): the product is shared
            return self.mul(a.value, self.mul(a.args[0], b))
        if b.op is Op.MULC and b.is_shift:
            return self.mul(b.value, self.mul(a, b.args[0]))
        if a.index > b.index:
            a, b = b, a
        return self.node(Op.MUL, a, b)

    def sin(self, a: Scalar, turn: float = math.tau) -> Node:
        a, quarters = self._whole_quarters(self.lift(a), turn)
        if quarters:  # sin (x + 90°) -> cos x, and so on round
            return (self.cos, lambda x, t: -self.sin(x, t), lambda x, t: -self.cos(x, t))[
                quarters - 1
            ](a, turn)
        if a.op is Op.CONST:
            return self.const(math.sin(a.value * (math.tau / turn)))
        if a.op is Op.NEG:  # sin -a -> -sin a
            return self.neg(self.sin(a.args[0], turn))
        return self.node(Op.SIN, a, value=turn)

    def cos(self, a: Scalar, turn: float = math.tau) -> Node:
        a, quarters = self._whole_quarters(self.lift(a), turn)
        if quarters:  # cos (x + 90°) -> -sin x, and so on round
            return (lambda x, t: -self.sin(x, t), lambda x, t: -self.cos(x, t), self.sin)[
                quarters - 1
            ](a, turn)
        if a.op is Op.CONST:
            return self.const(math.cos(a.value * (math.tau / turn)))
        if a.op is Op.NEG:  # cos -a -> cos a
            return self.cos(a.args[0], turn)
        return self.node(Op.COS, a, value=turn)

    def _whole_quarters(self, a: Node, turn: float) -> tuple[Node, int]:
        """(x, k) where a = x + k quarter turns: such an offset needs no addition."""
        if a.op is Op.ADD and any(t.op is Op.CONST for t in a.args):
            x, c = sorted(a.args, key=lambda t: t.op is Op.CONST)
            quarters = c.value / (turn / 4)
            if abs(quarters - round(quarters)) < 1e-12:
                return x, round(quarters) % 4
        return a, 0

    def recip(self, a: Scalar) -> Node:
        """1 / a; hardware needs a > 0, so that the sign of a stays where it is: a may be -x."""
        a = self.lift(a)
        if a.op is Op.CONST:
            return self.const(1.0 / a.value)
        if a.is_shift:  # 1 / (2^k a) -> 2^-k (1 / a): the reciprocal is shared
            return self.mul(1.0 / a.value, self.recip(a.args[0]))
        return self.node(Op.RECIP, a)

    def mantissa(self, a: Scalar) -> Node:
        """1 / f, in (1, 2], of a = f · 2^k > 0 with f in [½, 1)."""
        a = self.lift(a)
        if a.op is Op.CONST:
            return self.const(1.0 / math.frexp(a.value)[0])
        return self.node(Op.MANTISSA, a)

    def exponent(self, a: Scalar) -> Node:
        """k of a = f · 2^k > 0 with f in [½, 1)."""
        a = self.lift(a)
        if a.op is Op.CONST:
            return self.const(float(math.frexp(a.value)[1]))
        return self.node(Op.EXPONENT, a)

    def scale(self, x: Scalar, k: Scalar) -> Node:
        """x · 2^-k for a whole number k."""
        x, k = self.lift(x), self.lift(k)
        if k.op is Op.CONST:
            return self.mul(2.0**-k.value, x)
        if _is(x, 0):  # 0 · 2^-k -> 0
            return x
        if x.op is Op.NEG:  # -x · 2^-k -> -(x · 2^-k)
            return self.neg(self.scale(x.args[0], k))
        if x.is_shift:  # (2^j x) · 2^-k -> 2^j (x · 2^-k)
            return self.mul(x.value, self.scale(x.args[0], k))
        return self.node(Op.SCALE, x, k)

    def select(self, condition: Scalar, negative: Scalar, otherwise: Scalar) -> Node:
        """``negative`` where ``condition`` < 0, else ``otherwise``."""
        condition, negative, otherwise = map(self.lift, (condition, negative, otherwise))
        if negative is otherwise:
            return negative
        if condition.op is Op.CONST:
            return negative if condition.value < 0 else otherwise
        return self.node(Op.SELECT, condition, negative, otherwise)

    def saturate(self, a: Scalar, limit: float) -> Node:
        """The nearest number within ±``limit``."""
        a = self.lift(a)
        if a.op is Op.CONST:
            return self.const(min(max(a.value, -limit), limit))
        if a.op is Op.NEG:  # clip -x -> -(clip x)
            return self.neg(self.saturate(a.args[0], limit))
        if a.is_shift:  # clip 2^k x -> 2^k (clip x)
            return self.mul(a.value, self.saturate(a.args[0], limit / a.value))
        return self.node(Op.SATURATE, a, value=limit)

    def same(self, node: Node, args: Sequence[Scalar]) -> Node:
        """``node``'s operation on other operands, simplified anew: the step of every pass."""
        match node.op:
            case Op.INPUT:
                return self.input(node.name, node.value)
            case Op.CONST:
                return self.const(node.value)
            case Op.PARAMETER:
                return self.parameter(node.name, node.value)
            case Op.MULC:
                return self.mul(node.value, *args)
            case Op.SIN | Op.COS | Op.SATURATE:
                args = [*args, node.value]
        made: Node = getattr(self, node.op.value)(*args)
        return made


def _is(node: Node, value: float) -> bool:
    return node.op is Op.CONST and node.value == value
