"""A builder for passes that make new sums: equal ones of two hardware regions stay two."""

from __future__ import annotations

from ..graph.node import Builder, Node, Op
from .sums import SUMS

OWN = (*SUMS, Op.MULC)


class RegionalBuilder(Builder):
    """Interns sums, and words shifted for them, region by region.

    A new sum may equal one that another region forms, and sharing the two could make regions
    wait for each other in a circle. What regions shared before a pass they share after it.
    """

    def node(self, op: Op, *args: Node, value: float = 0.0, name: str = "") -> Node:
        if op not in OWN:
            return super().node(op, *args, value=value, name=name)
        key = (op, args, (self._region, value))
        if key not in self._table:
            self._table[key] = self._new(op, args, value, name, self._region)
        return self._table[key]

    def _find(self, op: Op, args: tuple[Node, ...], value: float = 0.0) -> Node | None:
        if op not in OWN:
            return super()._find(op, args, value)
        return self._table.get((op, args, (self._region, value)))
