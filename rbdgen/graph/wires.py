"""The nodes whose bits reach a unit: those of a product by a power of two are another node's."""

from __future__ import annotations

from .node import STILL, Node, Op


def source(node: Node) -> Node:
    """The node whose bits these are: multiplication by a power of two only renames them."""
    while node.op is Op.MULC:
        node = node.args[0]
    return node


def operands(node: Node) -> list[Node]:
    """The nodes whose bits a unit reads; what stands still is wired in."""
    return [s for s in (source(a) for a in node.args) if s.op not in STILL]
