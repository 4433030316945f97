"""A finished graph: named inputs and outputs, and the nodes between them in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .node import STILL, Builder, Node, Op
from .word import indices, kind_of


@dataclass(frozen=True, eq=False)
class Multiple:
    """``factor`` times a node, or the constant ``factor``."""

    factor: float
    of: Node | None = None


@dataclass(frozen=True, eq=False)
class Graph:
    """``inputs`` name every input of the interface, used or not; ``outputs`` map name to node.

    ``kept``: nodes that are computed though no output needs them. Hardware that serves several
    places does that, and may overflow there. ``known``: name → what is known to be a multiple of a
    signal, or a constant; proofs make use of it.
    """

    inputs: tuple[str, ...]
    outputs: dict[str, Node]
    kept: tuple[Node, ...] = ()
    known: Mapping[str, Multiple] = field(default_factory=dict)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node that is kept or that an output needs, operands before users."""
        found: dict[int, Node] = {}
        stack = [*self.outputs.values(), *self.kept]
        while stack:
            node = stack.pop()
            if node.index not in found:
                found[node.index] = node
                stack.extend(node.args)
        return tuple(found[i] for i in sorted(found))

    @cached_property
    def number(self) -> dict[Node, int]:
        """Node → its place among `nodes`, which is its number in the graph's text."""
        return {node: k for k, node in enumerate(self.nodes)}

    @cached_property
    def users(self) -> dict[Node, tuple[Node, ...]]:
        """Node → the nodes that read it (once per operand)."""
        users: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node in self.nodes:
            for arg in node.args:
                users[arg].append(node)
        return {node: tuple(found) for node, found in users.items()}

    def made(self, new: Mapping[Node, Node]) -> Graph:
        """The same graph of ``new`` nodes, each for one of its own."""
        known: dict[str, Multiple] = {}
        for name, own in self.known.items():
            if own.of is None:
                known[name] = own
            elif own.of in new:
                known[name] = multiple(new[own.of], own.factor)
        outputs = {name: new[node] for name, node in self.outputs.items()}
        return Graph(self.inputs, outputs, known=known)

    def operations(self) -> dict[str, int]:
        """Arithmetic that costs hardware: mul, mulc (not by powers of two), add, sin/cos, recip.

        ``add`` counts additions and subtractions; a negation is counted with them only where it
        is an operation of its own (an output's sign), not where a subtraction absorbed it.
        ``recip`` counts operands that a reciprocal is taken of, lowered or not.
        """
        count = {"mul": 0, "mulc": 0, "add": 0, "neg": 0, "sincos": 0, "recip": 0}
        angles: set[Node] = set()
        pivots: set[Node] = set()
        for node in self.nodes:
            match node.op:
                case Op.MUL:
                    count["mul"] += 1
                case Op.MULC:
                    count["mulc"] += not node.is_shift
                case Op.ADD | Op.SUB:
                    count["add"] += 1
                case Op.NEG:
                    count["neg"] += 1
                case Op.SIN | Op.COS:
                    angles.add(node.args[0])
                case Op.RECIP | Op.MANTISSA | Op.EXPONENT:
                    pivots.add(node.args[0])
        count["sincos"] = len(angles)
        count["recip"] = len(pivots)
        return count


def multiple(node: Node, by: float = 1.0) -> Multiple:
    """The node scaled by ``by``, as a multiple of a node that is no multiple itself."""
    while node.op is Op.NEG or node.is_shift:
        by *= -1.0 if node.op is Op.NEG else node.value
        (node,) = node.args
    return Multiple(by * node.value) if node.op is Op.CONST else Multiple(by, node)


Rule = Callable[[Builder, Node, list[Node]], Node]


def rebuild(graph: Graph, rule: Rule) -> Graph:
    """The graph with each node replaced by ``rule(builder, node, new operands)``.

    What the rule makes is labelled with the region of the node that it replaces.
    """
    builder = Builder()
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        with builder.in_region(node.region):
            new[node] = rule(builder, node, [new[a] for a in node.args])
    return graph.made(new)


def cone(
    targets: Iterable[Node], ends: Callable[[Node], bool] = lambda node: False
) -> dict[Node, None]:
    """The targets and what they are computed from, as far as nodes where it ``ends``; each once."""
    found: dict[Node, None] = {}
    stack = list(targets)
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack += () if ends(node) else node.args
    return found


def extracted(
    outputs: Mapping[str, Node], inputs: Sequence[str], leaves: Mapping[Node, tuple[str, float]]
) -> Graph:
    """The outputs' graph, in which ``leaves`` are ± the input of a name.

    The ``inputs`` that are read come first, in their order, then the leaves'.
    """
    builder = Builder()
    new: dict[Node, Node] = {}
    for node in sorted(cone(outputs.values(), leaves.__contains__), key=lambda n: n.index):
        with builder.in_region(node.region):
            if node in leaves:
                name, sign = leaves[node]
                word = builder.input(name)
                new[node] = word if sign > 0 else builder.neg(word)
            else:
                new[node] = builder.same(node, [new[a] for a in node.args])
    found = {name: new[node] for name, node in outputs.items()}
    read = {node.name for node in Graph((), found).nodes if node.op is Op.INPUT}
    order = [name for name in inputs if name in read]
    order += sorted(read.difference(order), key=lambda n: (kind_of(n), indices(n), n))
    return Graph(tuple(order), found)


def source(node: Node) -> Node:
    """The node whose bits these are: multiplication by a power of two only renames them."""
    while node.op is Op.MULC:
        node = node.args[0]
    return node


def operands(node: Node) -> list[Node]:
    """The nodes whose bits a unit reads; what stands still is wired in."""
    return [s for s in (source(a) for a in node.args) if s.op not in STILL]


class CopyingBuilder(Builder):
    """Makes every node anew: equal ones of two regions, or of two formats, stay two."""

    def node(self, op: Op, *args: Node, value: float = 0.0, name: str = "") -> Node:
        return self._new(op, args, value, name, self._region)
