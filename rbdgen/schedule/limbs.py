"""Limbs that are time-multiplexed in one datapath: when a task's result comes, and with which
flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph.fixed import FixedGraph
from ..graph.graph import source
from ..graph.node import STILL, Node, Op, Region
from ..graph.visits import Visit, VisitResult, factored
from ..words.instances import FixedProgram
from .channels import Pipeline
from .difference_constraints import ScheduleError
from .fold import Fold
from .plan import Channel, PlanDefaults, Sharing
from .units import Binding

AROUND = 2  # cycles besides the limbs' turns: a result's register before and in its place


@dataclass(frozen=True, eq=False)
class LimbPlan(PlanDefaults):
    """One limb's plan, and the robot whose limbs go through it one after the other."""

    template: Pipeline | Fold
    program: FixedProgram

    @property
    def limbs(self) -> tuple[Visit, ...]:
        """The limbs in their order: visits to the one template of the program."""
        return tuple(self.program.real.reads)

    @property
    def fixed(self) -> FixedGraph:
        """One limb's graph, which is scheduled."""
        return self.template.fixed

    @property
    def whole(self) -> FixedGraph:
        """The graph of all limbs."""
        return self.program.whole

    @property
    def turns(self) -> Sharing:
        """The limbs, one after the other."""
        return Sharing("limbs", len(self.limbs), self.template.latency, self.program)

    @property
    def takes_every(self) -> int:
        """The cycles between those in which it takes what comes: one limb's datapath's."""
        return self.template.takes_every

    @property
    def waking(self) -> int:
        """The cycles until one limb's datapath is awake."""
        return self.template.waking

    @property
    def resumes(self) -> int:
        """The next result waits right behind, if one limb's does."""
        return self.template.resumes

    @property
    def interval(self) -> int:
        """Cycles from task to task: a turn for each limb."""
        return len(self.limbs) * self.template.interval

    @property
    def latency(self) -> int:
        """Cycles from the clock edge that takes a task in to the one that can take its result."""
        return self.interval + self.template.latency + AROUND

    @property
    def binding(self) -> Binding:
        """Which products are hardware multipliers."""
        return self.template.binding

    @property
    def fire(self) -> Mapping[Region, int]:
        """When each region of a limb fires, from when the limb has its turn."""
        return self.template.fire

    @property
    def channels(self) -> tuple[Channel, ...]:
        """A limb's."""
        return self.template.channels

    def flagged(self, overflowed: Mapping[Node, NDArray[np.bool_]], n: int) -> NDArray[np.bool_]:
        """(n, outputs): the overflow flags of each of n results, as of one limb's plan.

        ``overflowed`` is of nodes of the whole robot. A constant output has no flag.
        """
        flags = {name: np.zeros(n, bool) for name in self.whole.graph.outputs}
        results = self.fixed.graph.outputs
        for limb, copy in self.program.copies.items():
            there = {node: overflowed[own] for node, own in copy.items() if own in overflowed}
            of_limb = self.template.flagged(there, n)
            columns = dict(zip(results, of_limb.T, strict=True))
            for result, (own, _) in self.program.real.given(limb).items():
                flags[own] = columns[result]
        return np.array(list(flags.values())).reshape(len(flags), n).T


def in_limbs(template: Pipeline | Fold, program: FixedProgram) -> LimbPlan:
    """The plan of all limbs of a program, by that of its only template."""
    return verify_limbs(LimbPlan(template, program))


def verify_limbs(plan: LimbPlan) -> LimbPlan:
    """The plan, if it keeps its own rules; one limb's plan is verified already.

    Raises:
        ScheduleError: a limb of another template, one that reads another's results, an output that
            no limb gives, a copy with other operations or words than the datapath has; says which.
    """
    real, template = plan.program.real, plan.program.template
    if plan.fixed is not template:
        raise ScheduleError("one limb's plan is of another graph than the limbs'")
    for limb, reads in real.reads.items():
        if any(isinstance(factored(source)[0], VisitResult) for source in reads.values()):
            raise ScheduleError(f"limb {limb.key}: reads another's results")
        if reads.keys() != set(template.inputs):
            raise ScheduleError(f"limb {limb.key}: not every input of the datapath has a source")
        for node, copy in plan.program.copies[limb].items():
            if copy.op in (Op.CONST, Op.MULC) or node.op in (Op.INPUT, Op.MULC):
                continue  # worked out, renamed or read with a sign
            if copy.op is not node.op or plan.whole.formats[copy] != template.formats[node]:
                raise ScheduleError(f"limb {limb.key}: node {node.index} is not the datapath's")
    for name, node in plan.whole.graph.outputs.items():
        word, _ = factored(real.outputs.get(name, 0.0))
        given = isinstance(word, VisitResult) and word.visit in real.reads
        if source(node).op not in STILL and not given:
            raise ScheduleError(f"{name}: no limb gives it")
    return plan
