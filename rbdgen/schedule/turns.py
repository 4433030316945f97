"""Parts of a robot that take turns in one datapath."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..graph.graph import Graph


@dataclass(frozen=True)
class Turns:
    """``count`` turns of a task, each ``latency`` cycles long.

    Of limbs, a turn is a limb's, and ``graph`` what it computes over real numbers. Of joints, it is
    a round, in which each datapath serves some joint: there is no one graph.
    """

    what: Literal["limbs", "joints"]
    count: int
    latency: int
    graph: Graph | None = None
