"""Sums that the adder of a multiplier's cell computes: p = a b ± c, in the cycles of the product.

A truncated product that one sum alone reads may be added to before it is truncated: floor(p) + x is
floor(p + x) wherever x has no bits below those that the product keeps, and so is floor(p) - x, but
not x - floor(p). The cell shows the sum and no product, so nobody sees whether the product
overflows its word. It gets a word that it cannot overflow, which costs nothing there; the sum
overflows its own as before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..design.target import Target
from ..graph.fixed import FixedGraph, Format
from ..graph.graph import source
from ..graph.node import STILL, Node, Op
from .pipelined import constraints, region_of
from .units import Binding

ACCUMULATOR = 48  # bits of the adder in a DSP48E2


@dataclass(frozen=True)
class FusedSum:
    """The sum in a cell, of the product of its words a and b, and of a word c.

    ``addend``: which operand of the sum c is. c, truncated by ``cut`` bits, is added ``left`` bits
    up; with ``minus`` it is subtracted. ``half``: the bit at which a one is added, since the sum
    rounds; None: it does not. The result are the bits from ``shift`` on, ``zeros`` behind them.
    """

    addend: int
    cut: int
    left: int
    minus: bool
    half: int | None
    shift: int
    zeros: int


def with_fused_sums(fixed: FixedGraph, binding: Binding, target: Target) -> FixedGraph:
    """The graph with sums in cells wherever a cell of the part takes one in: ``fused``.

    A sum that goes to another region, or is a result, takes no register of its own there, since a
    FIFO stands in for it; in a cell it has one. So of these only such are in a cell whose product
    comes later than what is added: the latency then stays as it is.
    """
    if not target.fuses_sums:
        return fixed
    fused: dict[Node, Node] = {}
    leaves, soonest = _leaving(fixed), _Soonest(fixed, binding, target)
    for node in fixed.graph.nodes:
        if node.op in (Op.ADD, Op.SUB):
            places = node.args if node.op is Op.ADD else node.args[:1]
            free = [
                product
                for product in map(source, places)
                if _is_free(fixed, binding, target, product, node)
            ]
            if free and (node not in leaves or soonest.product_is_last(node, free[-1])):
                fused[free[-1]] = node
    formats = dict(fixed.formats)
    for product in fused:
        formats[product] = _whole(fixed, product)
    for node in fixed.graph.nodes:
        if node.op is Op.MULC and source(node) in fused:
            formats[node] = replace(formats[node], width=formats[source(node)].width)
    return replace(fixed, formats=formats, fused=fused)


class _Soonest:
    """The soonest cycles of operands, no sum being in a cell."""

    def __init__(self, fixed: FixedGraph, binding: Binding, target: Target) -> None:
        self.fixed = fixed
        self.made = constraints(fixed, binding, target)
        self.at = self.made.program.earliest()

    def product_is_last(self, total: Node, product: Node) -> bool:
        """Whether a product comes later than all else that a sum reads."""
        others = [own for own in self.fixed.reads[total] if own is not product]
        return all(self._there(own, total) < self._there(product, total) for own in others)

    def _there(self, operand: Node, reader: Node) -> int:
        own, number = self.made.own, self.made.program.number
        key = self.made.keys.get((operand, region_of(reader)))
        if key is None:
            return self.at[number[own[operand]]]
        return self.at[number[key]] + 1  # out of a FIFO into a register


def _leaving(fixed: FixedGraph) -> set[Node]:
    """The nodes that another region reads, and those of results."""
    found = {source(node) for node in fixed.graph.outputs.values()}
    for node, read in fixed.reads.items():
        found.update(own for own in read if own.region != node.region)
    return found


def _is_free(
    fixed: FixedGraph, binding: Binding, target: Target, product: Node, total: Node
) -> bool:
    """Whether a node is a product of one cell, of which ``total`` alone reads what is truncated."""
    if product.op is not Op.MUL or fixed.formats[product].rounded:
        return False
    if binding.style[product] != "dsp" or product.region != total.region:
        return False
    widths = [fixed.formats[arg].width for arg in product.args]
    if any(source(arg).op in STILL for arg in product.args) or _dropped(fixed, product) < 0:
        return False
    if target.spent(*widths) != (1, (0, 0)):
        return False
    of, chain = product, {product}
    while of is not total:
        users = fixed.graph.users[of]
        if len(users) != 1 or (users[0] is not total and users[0].op is not Op.MULC):
            return False
        (of,) = users
        chain.add(of)
    if any(node in chain - {total} for node in fixed.graph.outputs.values()):
        return False
    own = fused_sum(fixed, total, product)
    return own is not None and own.left + fixed.formats[total.args[own.addend]].width < ACCUMULATOR


def fused_sum(fixed: FixedGraph, total: Node, product: Node) -> FusedSum | None:
    """The sum ``total`` as the cell of ``product`` computes it; None: it would give other bits.

    As `graph.fixed` has sums: both operands with at most one bit below the result's last; where
    one has it, the sum is rounded half up, the difference truncated.
    """
    (k,) = (k for k, arg in enumerate(total.args) if source(arg) is product)
    f = fixed.formats[total].fraction
    fp, fc = (fixed.formats[arg].fraction for arg in (total.args[k], total.args[1 - k]))
    # the product's own bits of fraction, by the point that its reader sees
    whole = sum(fixed.formats[arg].fraction for arg in product.args)
    whole += fp - fixed.formats[product].fraction
    kept, kept_of_c = min(fp, f + 1), min(fc, f + 1)
    grid = max(kept, kept_of_c)
    below = whole - grid  # bits of the product below the grid, which the sum drops
    if grid != kept or below < 0:
        return None
    guarded = grid == f + 1
    rounds = guarded and total.op is Op.ADD
    return FusedSum(
        addend=1 - k,
        cut=fc - kept_of_c,
        left=below + grid - kept_of_c,
        minus=total.op is Op.SUB,
        half=below if rounds else None,
        shift=below + guarded,
        zeros=max(f - grid, 0),
    )


def reads_at(fixed: FixedGraph, node: Node, start: int, there: int) -> int:
    """The cycle in which a node that begins in ``start`` reads an operand that is ``there`` from
    that cycle on: of a sum in a cell the one before where it can, for the cell's own register."""
    return start - (node in fixed.in_cell and there < start)


def _whole(fixed: FixedGraph, product: Node) -> Format:
    """The word of a product that has room for each of its words' products."""
    width = sum(fixed.formats[arg].width for arg in product.args) - _dropped(fixed, product)
    return replace(fixed.formats[product], width=max(width, 2))


def _dropped(fixed: FixedGraph, product: Node) -> int:
    """Bits of a product that its word has no more."""
    fraction = sum(fixed.formats[arg].fraction for arg in product.args)
    return fraction - fixed.formats[product].fraction
