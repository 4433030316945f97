"""Limbs that take turns in one pipeline: when a task's result comes, and with which flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph.node import Node
from ..passes.instances import Instances
from ..passes.limbs import Limb, Limbs
from .channels import Plan, flagged

AROUND = 2  # cycles besides the limbs' turns: a result's register before and in its place


@dataclass(frozen=True, eq=False)
class LimbPlan:
    """One limb's plan, and the robot whose limbs go through it one after the other."""

    template: Plan
    found: Limbs
    instances: Instances

    @property
    def limbs(self) -> tuple[Limb, ...]:
        return self.found.limbs

    @property
    def initiation_interval(self) -> int:
        """Cycles from task to task: a limb's turn is one."""
        return len(self.limbs)

    @property
    def latency(self) -> int:
        """Cycles from the clock edge that takes a task in to the one that can take its result."""
        return self.initiation_interval + self.template.latency + AROUND

    def flagged(self, overflowed: Mapping[Node, NDArray[np.bool_]], n: int) -> NDArray[np.bool_]:
        """(n, outputs): the overflow flags of each of n results, as ``channels.flagged``.

        ``overflowed`` is of nodes of the whole robot. A constant output has no flag.
        """
        flags = {name: np.zeros(n, bool) for name in self.instances.whole.graph.outputs}
        for limb, copy in zip(self.limbs, self.instances.copies, strict=True):
            there = {node: overflowed[own] for node, own in copy.items() if own in overflowed}
            of_limb = flagged(self.template, there, n)
            for column, (own, _) in zip(of_limb.T, limb.outputs.values(), strict=True):
                flags[own] = column
        return np.array(list(flags.values())).reshape(len(flags), n).T
