"""Room for what rounding makes of values: sums that cancel are as large as their errors."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from ..graph.graph import Graph
from ..graph.node import Node, Op
from .ascent_schedule import SEARCHED_MANY
from .input_domain import InputDomain
from .ranges import CARRIED, DEVIATIONS, MOST, Ranges
from .wordlength import integer_bits

MARGIN = 1 + SEARCHED_MANY  # beyond the largest value, as in ``given``
DIVIDING = (Op.RECIP, Op.MANTISSA, Op.SCALE)


@dataclass(frozen=True, eq=False)
class Noisy(InputDomain):
    """Ranges with room for what rounding makes of a visit's values, zeros among them.

    ``off``: the largest standard deviation of what each input reads, over all visits.
    """

    off: Mapping[str, float] = field(default_factory=dict)
    width: int = 0

    def ranges(self, graph: Graph) -> Ranges:
        found = super().ranges(graph)
        ulps = {  # an input's word has room for whatever is joined to it
            node: ulp(self.limits[node.name][1] if node.op is Op.INPUT else size, self.width)
            for node, size in found.bound.items()
        }
        return replace(found, bound=with_noise(graph, found, self.off, ulps)[0])


def with_noise(
    graph: Graph, ranges: Ranges, off: Mapping[str, float], ulps: Mapping[Node, float]
) -> tuple[dict[Node, float], dict[Node, float]]:
    """Bounds with room for the errors of words, and the errors' standard deviations.

    A sum that cancels, or a product with a factor that is zero but for its rounding, is as large as
    its error. ``off``: the deviation of each input; ``ulps``: the last bit of each node's word.
    """
    room, deviations, raised = dict(ranges.bound), dict[Node, float](), set[Node]()
    so_far = replace(ranges, bound=room)
    for node in graph.nodes:
        if node.op is Op.INPUT:
            deviations[node] = off[node.name]
        elif node.op in (Op.CONST, Op.MULC):
            deviations[node] = node.value * deviations[node.args[0]] if node.args else 0.0
        elif node.op in DIVIDING:  # of the smallest operand it is largest
            deviations[node] = MOST * ranges.bound[node]
        else:
            brought = CARRIED[node.op](node, so_far, *(deviations[a] for a in node.args))
            error = DEVIATIONS * math.hypot(brought, ulps[node] / math.sqrt(12))
            most = max(_errors_at_most(node, room, ulps, raised), DEVIATIONS * ulps[node])
            deviations[node] = min(error, most) / DEVIATIONS
        error = DEVIATIONS * deviations[node]
        if error > room[node]:
            raised.add(node)
        room[node] = max(room[node], room[node] / MARGIN + error)
    return room, deviations


def _errors_at_most(
    node: Node, room: Mapping[Node, float], ulps: Mapping[Node, float], raised: Collection[Node]
) -> float:
    """Bounds on the effect of operands' errors.

    A small share of what the errors make possible, since slopes are not all largest at once; more
    for an operand whose last bit is a larger share of it; and all for one that is ``raised``,
    mostly error.
    """
    shares = [
        1.0 if a in raised else max(MOST, min(1.0, _share(DEVIATIONS * ulps[a], room[a])))
        for a in node.args
    ]
    match node.op:
        case Op.MUL:
            return max(shares) * room[node.args[0]] * room[node.args[1]]
        case Op.ADD | Op.SUB:
            return sum(share * room[a] for share, a in zip(shares, node.args, strict=True))
        case _:
            return math.inf


def _share(error: float, room: float) -> float:
    return error / room if room else 1.0


def ulp(size: float, width: int) -> float:
    """The last bit of a word of ``width`` bits for values up to ``size``."""
    return float(2.0 ** (integer_bits(size) - width + 1))
