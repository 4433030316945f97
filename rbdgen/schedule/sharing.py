"""Parts of a robot that are time-multiplexed in one datapath."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..graph.graph import Graph
from ..words.instances import FixedProgram


@dataclass(frozen=True)
class Sharing:
    """``count`` turns of a task, each ``latency`` cycles long; ``program``: who reads what.

    Of limbs, a turn is a visit to the program's one template. Of joints, it is a round, in which
    each datapath serves some joint.
    """

    what: Literal["limbs", "joints"]
    count: int
    latency: int
    program: FixedProgram

    @property
    def graph(self) -> Graph:
        """The graph of a limb, over real numbers."""
        (graph,) = self.program.real.templates.values()
        return graph
