"""The whole robot in fixed point, from one limb in fixed point that stands for all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op, Region
from ..graph.verify import verify_fixed
from .limbs import ZERO, Limbs
from .wordlength import integer_bits

MIRROR: Region = ("mirror", 0)  # where inputs change their signs


class CopyingBuilder(Builder):
    """Makes every node anew: equal ones of two regions, or of two formats, stay two."""

    def node(self, op: Op, *args: Node, value: float = 0.0, name: str = "") -> Node:
        made = Node(self, self._count, op, args, value, name, self._region)
        self._count += 1
        return made


@dataclass(frozen=True, eq=False)
class Instances:
    """The copies of a ``template``, one for each limb, in the graph of the robot.

    ``template``: the graph of ``limbs`` in fixed point. ``copies``: for each limb, node of the
    template → node of ``whole``.
    """

    template: FixedGraph
    limbs: Limbs
    whole: FixedGraph
    copies: tuple[Mapping[Node, Node], ...]


def instantiate(
    template: FixedGraph,
    limbs: Limbs,
    spare: Mapping[str, Format],
    constants: Mapping[str, float],
) -> Instances:
    """Every limb as the template computes it: inputs and outputs limb by limb, then the others.

    Words that enter or leave a limb with a sign of -1 are negated there; the most negative one
    becomes the most positive one. An input that limbs share has one sign in all. ``spare``: the
    formats of inputs that no limb reads; ``constants``: outputs that no limb gives.
    """
    builder = CopyingBuilder()
    inputs: dict[str, Format] = {}
    given: dict[str, Node] = {}
    formats: dict[Node, Format] = {}
    steps: dict[Node, int] = {}
    mantissas: dict[Node, int] = {}
    outputs: dict[str, Node] = {}
    copies: list[dict[Node, Node]] = []

    def signed(node: Node, word: Format, sign: float, region: Region | None) -> Node:
        """A node of this format, times ±2^k."""
        formats[node] = word
        if abs(sign) != 1:  # the same bits
            with builder.in_region(region or MIRROR):
                node = builder.node(Op.MULC, node, value=abs(sign))
            word = formats[node] = replace(_scaled(word, 1 / abs(sign)), rounded=False)
        if sign > 0:
            return node
        with builder.in_region(region or MIRROR):
            mirrored = builder.node(Op.NEG, node)
        formats[mirrored] = replace(word, rounded=False, saturates=True)
        return mirrored

    for limb in limbs.limbs:
        for name, word in template.inputs.items():  # those too that no node reads
            own, sign = limb.inputs[name]
            if own != ZERO:
                inputs[own] = _scaled(word, abs(sign))
        copy: dict[Node, Node] = {}
        for node in template.graph.nodes:
            word = template.formats[node]
            with builder.in_region(node.region):
                if node.op is Op.INPUT:
                    own, sign = limb.inputs[node.name]
                    if own == ZERO:
                        copy[node] = builder.node(Op.CONST)
                        formats[copy[node]] = word
                        continue
                    if own not in given:
                        given[own] = builder.input(own)
                    copy[node] = signed(given[own], inputs[own], sign, MIRROR)
                else:
                    args = [copy[a] for a in node.args]
                    copy[node] = builder.node(node.op, *args, value=node.value)
                    formats[copy[node]] = word
        for name, node in template.graph.outputs.items():
            own, sign = limb.outputs[name]
            if own == ZERO:  # nobody reads it
                continue
            outputs[own] = signed(copy[node], template.formats[node], sign, node.region)
        steps |= {copy[node]: count for node, count in template.steps.items()}
        mantissas |= {copy[node]: width for node, width in template.mantissas.items()}
        copies.append(copy)
    for name, value in constants.items():
        outputs[name] = builder.node(Op.CONST, value=value)
        fraction = template.width - 1 - integer_bits(abs(value))
        formats[outputs[name]] = Format(template.width, fraction)
    inputs |= spare
    graph = Graph(tuple(inputs), outputs)
    whole = FixedGraph(graph, inputs, formats, template.width, steps, mantissas)
    return Instances(template, limbs, verify_fixed(whole), tuple(copies))


def _scaled(word: Format, by: float) -> Format:
    """The format whose words are those of ``word`` when a power of two multiplies them."""
    return replace(word, fraction=word.fraction + int(math.log2(by)))


def in_order(instances: Instances, graph: Graph) -> Instances:
    """The same with inputs and outputs in the order of ``graph``, which has them all."""
    whole = instances.whole
    outputs = {name: whole.graph.outputs[name] for name in graph.outputs}
    inputs = {name: whole.inputs[name] for name in graph.inputs}
    whole = replace(whole, graph=Graph(graph.inputs, outputs), inputs=inputs)
    return replace(instances, whole=whole)
