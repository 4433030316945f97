"""The specification of hardware: its robot, its stages' integer graphs, words in registers.

It is made when a design is compiled, and read again from the folder that a design was written to.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..design.design import Design
from ..design.target import Target
from ..graph.fixed import FixedGraph, Flagged, Held
from ..robot.model import Robot
from ..tasks.stages import Accelerator


@dataclass(frozen=True, eq=False)
class DesignedRobot:
    """A design, and the robot that it is for."""

    design: Design
    target: Target  # the design's part
    robot: Robot  # as the file says
    canonical: Robot  # rewritten; same τ


@dataclass(frozen=True, eq=False)
class Specification:
    """Functions of a robot in fixed point, as the integer model computes them.

    ``accelerator``: the stages; a core is one stage, each task of which computes all functions.
    ``held``: words in registers in place of their own.
    """

    front: DesignedRobot
    accelerator: Accelerator
    held: Held = field(default_factory=dict, kw_only=True)

    @property
    def design(self) -> Design:
        """The choices, and what was chosen."""
        return self.front.design

    @property
    def is_core(self) -> bool:
        """Whether a task computes all functions."""
        return self.accelerator.is_core

    @property
    def graphs(self) -> dict[str, FixedGraph]:
        """Stage → its graph; a core's needs no name."""
        stages = self.accelerator.stages.items()
        return {"" if self.is_core else name: stage.fixed for name, stage in stages}

    @property
    def fixed(self) -> FixedGraph:
        """The graph of the one stage that there is."""
        (stage,) = self.accelerator.stages.values()
        return stage.fixed

    @property
    def flagged(self) -> Flagged:
        """Node of that graph that can overflow → the outputs, by number, whose flags it raises."""
        (stage,) = self.accelerator.stages.values()
        return stage.flagged
