"""Move the parts that depend on a robot's numbers alone to a graph that fills registers.

Numbers are inputs like the state, until here. A node that reads nothing else never changes while a
robot is at work: the largest such nodes become inputs ``parameter[k]``, and the graph that makes
them of numbers is one of its own. Before, p (r x) becomes (p r) x wherever p and r are known so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op
from ..graph.word import PARAMETER, spell


@dataclass
class _Registers:
    """Nodes of the graph of numbers, and the inputs that they are in the other graph."""

    builder: Builder = field(default_factory=Builder)
    held: dict[Node, str] = field(default_factory=dict)
    makes: dict[str, Node] = field(default_factory=dict)

    def read(self, main: Builder, known: Node) -> Node:
        """A known node as the main graph reads it: signs and powers of two need no register."""
        if known.op is Op.CONST:
            return main.const(known.value)
        if known.op is Op.NEG:
            return main.neg(self.read(main, known.args[0]))
        if known.is_shift:
            return main.mul(known.value, self.read(main, known.args[0]))
        name = self.held.setdefault(known, spell(PARAMETER, len(self.held)))
        self.makes[name] = known
        return main.input(name)


def to_registers(graph: Graph, known: Graph) -> tuple[Graph, Graph]:
    """The graph over a state and registers; and the registers as a graph over numbers.

    ``known``: what makes those inputs of ``graph`` that are known already.
    """
    registers, main = _Registers(), Builder()
    of_numbers: dict[Node, Node] = {}  # nodes of ``known`` and of ``graph`` → in registers.builder
    for node in known.nodes:
        of_numbers[node] = registers.builder.same(node, [of_numbers[a] for a in node.args])
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        if node.op is Op.INPUT and node.name in known.outputs:
            of_numbers[node] = of_numbers[known.outputs[node.name]]
        elif node.op is Op.CONST or (node.args and all(a in of_numbers for a in node.args)):
            own = [of_numbers[a] for a in node.args]
            of_numbers[node] = registers.builder.same(node, own)
        else:
            with main.in_region(node.region):
                args = [
                    registers.read(main, of_numbers[a]) if a in of_numbers else new[a]
                    for a in node.args
                ]
                alone = all(len(graph.users[a]) == 1 for a in node.args)
                new[node] = _regrouped(registers, main, node, args, alone)
    outputs: dict[str, Node] = {}
    for name, node in graph.outputs.items():
        with main.in_region(node.region):
            known_already = node in of_numbers
            outputs[name] = registers.read(main, of_numbers[node]) if known_already else new[node]
    found = Graph((), outputs)
    read = {node.name for node in found.nodes if node.op is Op.INPUT}
    makes = {name: node for name, node in registers.makes.items() if name in read}
    rest = tuple(name for name in graph.inputs if name not in known.outputs)
    numbers = dict.fromkeys(n.name for n in Graph((), makes).nodes if n.op is Op.INPUT)
    return Graph((*rest, *makes), outputs), Graph(tuple(numbers), makes)


def renumbered(graph: Graph, known: Graph) -> tuple[Graph, Graph]:
    """The same with registers counted from 0, in the order in which they are made."""
    names = {name: spell(PARAMETER, k) for k, name in enumerate(known.outputs)}
    builder = Builder()
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        with builder.in_region(node.region):
            if node.op is Op.INPUT:
                new[node] = builder.input(names.get(node.name, node.name))
            else:
                new[node] = builder.node(node.op, *(new[a] for a in node.args), value=node.value)
    outputs = {name: new[node] for name, node in graph.outputs.items()}
    inputs = tuple(names.get(name, name) for name in graph.inputs)
    makes = {names[name]: node for name, node in known.outputs.items()}
    return Graph(inputs, outputs), Graph(known.inputs, makes)


def with_registers(fixed: FixedGraph, nominal: Mapping[str, float]) -> FixedGraph:
    """The graph in words whose inputs ``parameter[k]`` stand in registers and come with no task.

    ``nominal``: what they hold until they are written.
    """
    builder = Builder()
    new: dict[Node, Node] = {}
    for node in fixed.graph.nodes:
        with builder.in_region(node.region):
            if node.op is Op.INPUT and node.name in nominal:
                new[node] = builder.parameter(node.name, nominal[node.name])
            else:
                args = [new[a] for a in node.args]
                new[node] = builder.node(node.op, *args, value=node.value, name=node.name)
    graph = fixed.graph
    own = [word.width for name, word in fixed.inputs.items() if name in nominal]
    return replace(
        fixed,
        chain=max(own, default=0),
        graph=Graph(
            tuple(name for name in graph.inputs if name not in nominal),
            {name: new[node] for name, node in graph.outputs.items()},
            tuple(new[node] for node in graph.kept),
        ),
        inputs={name: word for name, word in fixed.inputs.items() if name not in nominal},
        formats={new[node]: word for node, word in fixed.formats.items() if node in new},
        steps={new[node]: steps for node, steps in fixed.steps.items() if node in new},
        mantissas={new[node]: width for node, width in fixed.mantissas.items() if node in new},
    )


def _regrouped(
    registers: _Registers, main: Builder, node: Node, args: list[Node], alone: bool
) -> Node:
    """The node on new operands; a product of products by what is known is one by the product.

    ``alone``: nobody else reads its operands, of which a product by a constant takes no multiplier.
    """
    if node.op is Op.MULC:
        args = [main.const(node.value), *args]
    if node.op not in (Op.MUL, Op.MULC):
        return main.same(node, args)
    for factor, product in (args, args[::-1]):
        p = _known(registers, factor)
        if p is None or (node.op is Op.MULC and not alone):
            continue
        r, x = _split(registers, product, node)
        if x is not product:
            return main.mul(registers.read(main, registers.builder.mul(p, r)), x)
    return main.mul(*args)


def _known(registers: _Registers, node: Node) -> Node | None:
    """The node in the graph of numbers for a known node; None for others."""
    if node.op is Op.CONST:
        return registers.builder.const(node.value)
    return registers.makes.get(node.name) if node.op is Op.INPUT else None


def _split(registers: _Registers, node: Node, of: Node) -> tuple[Node, Node]:
    """(r, x) of r x, r known and as much as there is in the region of ``of``."""
    r = registers.builder.const(1.0)
    while node.region == of.region:
        if node.op is Op.NEG:
            r, node = registers.builder.neg(r), node.args[0]
        elif node.op is Op.MULC:
            r, node = registers.builder.mul(node.value, r), node.args[0]
        elif node.op is Op.MUL and (own := _factor(registers, node)) is not None:
            r, node = registers.builder.mul(own[0], r), own[1]
        else:
            break
    return r, node


def _factor(registers: _Registers, node: Node) -> tuple[Node, Node] | None:
    for r, x in (node.args, node.args[::-1]):
        if (known := _known(registers, r)) is not None:
            return known, x
    return None
