"""The whole robot in fixed point, from one limb in fixed point that stands for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op
from ..graph.verify import verify_fixed
from .limbs import Limbs
from .wordlength import integer_bits


class CopyingBuilder(Builder):
    """Makes every node anew: equal ones of two regions, or of two formats, stay two."""

    def node(self, op: Op, *args: Node, value: float = 0.0, name: str = "") -> Node:
        made = Node(self, self._count, op, args, value, name, self._region)
        self._count += 1
        return made


@dataclass(frozen=True, eq=False)
class Instances:
    """What the robot computes, and where each limb's copy of the template is in it.

    ``copies``: for each limb, node of the template → node of ``whole``.
    """

    whole: FixedGraph
    copies: tuple[Mapping[Node, Node], ...]


def instantiate(
    template: FixedGraph, limbs: Limbs, graph: Graph, spare: Mapping[str, Format]
) -> Instances:
    """The ``graph`` that the limbs were found in, every limb as the template computes it.

    Words that enter or leave a limb with a sign of -1 are negated there; the most negative one
    becomes the most positive one. ``spare``: the formats of inputs that no limb reads.
    """
    builder = CopyingBuilder()
    inputs = dict(spare)
    formats: dict[Node, Format] = {}
    steps: dict[Node, int] = {}
    mantissas: dict[Node, int] = {}
    outputs: dict[str, Node] = {}
    copies: list[dict[Node, Node]] = []

    def signed(node: Node, word: Format, sign: int) -> Node:
        formats[node] = word
        if sign > 0:
            return node
        mirrored = builder.node(Op.NEG, node)
        formats[mirrored] = replace(word, rounded=False, saturates=True)
        return mirrored

    for limb in limbs.limbs:
        inputs |= {limb.inputs[name][0]: word for name, word in template.inputs.items()}
        copy: dict[Node, Node] = {}
        for node in template.graph.nodes:
            word = template.formats[node]
            with builder.in_region(node.region):
                if node.op is Op.INPUT:
                    own, sign = limb.inputs[node.name]
                    copy[node] = signed(builder.input(own), word, sign)
                else:
                    args = [copy[a] for a in node.args]
                    copy[node] = builder.node(node.op, *args, value=node.value)
                    formats[copy[node]] = word
        for name, node in template.graph.outputs.items():
            own, sign = limb.outputs[name]
            outputs[own] = signed(copy[node], template.formats[node], sign)
        steps |= {copy[node]: count for node, count in template.steps.items()}
        mantissas |= {copy[node]: width for node, width in template.mantissas.items()}
        copies.append(copy)
    for name, node in graph.outputs.items():
        if name not in outputs:  # a constant
            outputs[name] = builder.node(Op.CONST, value=node.value)
            fraction = template.width - 1 - integer_bits(abs(node.value))
            formats[outputs[name]] = Format(template.width, fraction)
    whole = FixedGraph(
        Graph(graph.inputs, {name: outputs[name] for name in graph.outputs}),
        {name: inputs[name] for name in graph.inputs},
        formats,
        template.width,
        steps,
        mantissas,
    )
    return Instances(verify_fixed(whole), tuple(copies))
