"""Which results an overflow spoils, by the flags of a plan."""

from __future__ import annotations

import numpy as np

from ..graph.node import Node
from .plan import Plan

TOGETHER = 1024  # nodes that are asked for at once


def flagged_outputs(plan: Plan) -> dict[Node, frozenset[int]]:
    """Node that can overflow → the outputs of the whole task, by number, that it flags.

    Flags are ors of overflows: what a plan says of each node alone says all.
    """
    fixed = plan.whole
    nodes = [node for node in fixed.graph.nodes if fixed.overflowing(node)]
    found = {}
    for start in range(0, len(nodes), TOGETHER):
        some = nodes[start : start + TOGETHER]
        alone = dict(zip(some, np.eye(len(some), dtype=np.bool_), strict=True))
        for node, flags in zip(some, plan.flagged(alone, len(some)), strict=True):
            found[node] = frozenset(np.flatnonzero(flags).tolist())
    return found
