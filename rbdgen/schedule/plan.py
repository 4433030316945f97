"""The protocol of all plans (pipeline, fold, shared limbs, shared joints), flags and channels.

Flags say which results an overflow spoils. A channel says what crosses between two regions, when.

A new way of sharing is one more class with these properties, and one more row in each table by kind
of plan: ``rtl.cores.CORES``, ``schedule.features.FEATURES``, and both of ``draw.picture``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ..graph.fixed import FixedGraph
from ..graph.graph import Graph
from ..graph.node import Node, Region
from ..words.instances import FixedProgram
from .units import Binding

TOGETHER = 1024  # nodes that are asked for at once


def flagged_outputs(plan: Plan) -> dict[Node, frozenset[int]]:
    """Node that can overflow → the outputs of the whole task, by number, that it flags.

    Flags are ors of overflows: what a plan says of each node alone says all.
    """
    fixed = plan.whole
    nodes = [node for node in fixed.graph.nodes if fixed.overflowing(node)]
    found, sets = {}, dict[bytes, frozenset[int]]()  # which are few
    for start in range(0, len(nodes), TOGETHER):
        some = nodes[start : start + TOGETHER]
        alone = dict(zip(some, np.eye(len(some), dtype=np.bool_), strict=True))
        for node, flags in zip(some, plan.flagged(alone, len(some)), strict=True):
            key = flags.tobytes()
            if key not in sets:
                sets[key] = frozenset(np.flatnonzero(flags).tolist())
            found[node] = sets[key]
    return found


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


@dataclass(frozen=True)
class ChannelWord:
    """One value on a channel, ``None`` for the token's overflow flag.

    ``written``: cycles after the sender fired at whose end it is stored; ``read``: cycles after
    the receiver fired in which it is taken.
    """

    node: Node | None
    width: int
    written: int
    read: int


@dataclass(frozen=True)
class Channel:
    """A FIFO of tokens from one region to another."""

    sender: Region
    receiver: Region
    words: tuple[ChannelWord, ...]
    depth: int = 0  # tokens at one task a clock; see this module's docstring

    @property
    def delay(self) -> int:
        """Cycles from the sender's firing until the receiver may fire for the same task."""
        return max(1, *(w.written + 1 - w.read for w in self.words))

    @property
    def hold(self) -> int:
        """Cycles from the receiver's firing until the sender may fire into the same place."""
        return max(0, *(w.read - w.written - 1 for w in self.words))

    @property
    def width(self) -> int:
        return sum(w.width for w in self.words)


class Plan(Protocol):
    """A function's schedule on hardware; cycles count from the one in which a task is taken."""

    @property
    def fixed(self) -> FixedGraph:
        """The graph that is scheduled: the robot's, or that of what is time-multiplexed."""

    @property
    def whole(self) -> FixedGraph:
        """The graph of the whole task: what comes in, what goes out."""

    @property
    def latency(self) -> int:
        """Cycles from the clock edge that takes a task in to the one that can take its result."""

    @property
    def interval(self) -> int:
        """Cycles from one task to the next, at least."""

    @property
    def takes_every(self) -> int:
        """n: tasks are taken, while there is room, in every n-th cycle, counted from reset or from
        the first task after a rest."""

    @property
    def waking(self) -> int:
        """Cycles until a core that rests takes a task; 0 of one that takes it at once."""

    @property
    def waits(self) -> int:
        """Cycles, at most, until a task is taken that comes when there is no other."""

    @property
    def resumes(self) -> int:
        """Cycles, at most, from a result that had to wait to the next."""

    @property
    def turns(self) -> Sharing | None:
        """The time-multiplexed part of the datapath; None for a datapath of the whole robot."""

    @property
    def binding(self) -> Binding:
        """Which products are hardware multipliers."""

    @property
    def multipliers(self) -> int:
        """Hardware multipliers."""

    @property
    def fire(self) -> Mapping[Region, int]:
        """When each region fires for a task that meets no stall, from its turn on."""

    @property
    def channels(self) -> Sequence[Channel]:
        """The FIFOs."""

    def flagged(self, overflowed: Mapping[Node, NDArray[np.bool_]], n: int) -> NDArray[np.bool_]:
        """(n, outputs): the overflow flags that the hardware gives with each of n results.

        ``overflowed``: node of `whole` → in which of n states it overflowed, by the integer model.
        """


class PlanDefaults:
    """Properties of most plans: of one datapath for the whole robot, whose results follow each
    other, and which takes a task once an interval."""

    @property
    def whole(self: Plan) -> FixedGraph:
        """The graph of the whole task, which is the one that is scheduled."""
        return self.fixed

    @property
    def takes_every(self: Plan) -> int:
        """It takes tasks in the first cycle of its interval alone."""
        return self.interval

    @property
    def waking(self: Plan) -> int:
        """It takes tasks at once, and rests without a phase to stop."""
        return 0

    @property
    def waits(self: Plan) -> int:
        """The cycles until its phase, or until it is awake."""
        return max(self.takes_every - 1, self.waking)

    @property
    def resumes(self: Plan) -> int:
        """The next result waits right behind."""
        return 1

    @property
    def turns(self: Plan) -> Sharing | None:
        """No part of the robot is time-multiplexed."""
        return None

    @property
    def multipliers(self: Plan) -> int:
        """Hardware multipliers."""
        return self.binding.multipliers
