"""Regions and channels of a schedule: what crosses, when, and how deep each FIFO must be.

A region is a static pipeline: what it does in cycle ``fire + k`` it does for every task. Between
regions lie channels. A channel moves one token a task; its words are written and read each at
their own offset from the firing of the region at their end, so that no word waits in a register
for another. A token may be taken once every word will have been written when its turn to be read
comes (``delay`` cycles after the sender fired), and its place is free again once every word has
been read (``hold`` cycles after the receiver fired).

With that, tasks follow each other at one a clock if the channel has room for

    depth = (receiver's firing - sender's firing) + hold + 1 + PUSHES_ON_THE_WAY

tokens: a place is counted free ``hold`` + 2 cycles after the receiver fired, and the sender keeps
two places for tokens that are on their way while it counts, which keeps counters off its paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..graph.fixed import FixedGraph
from ..graph.graph import source
from ..graph.node import STILL, Node, Region
from .difference_constraints import ScheduleError
from .pipelined import OUTPUT, Schedule, region_name, region_of
from .plan import Channel, ChannelWord, PlanDefaults
from .units import Binding

FLAG_BITS = 1
PUSHES_ON_THE_WAY = 2  # that a sender may have made since it last heard how much room there is


@dataclass(frozen=True)
class Pipeline(PlanDefaults):
    """Regions in the order in which they fire, and the channels between them.

    ``fire`` is when each region fires for a task that meets no stall; ``flags`` the cycle (from
    its firing) at whose end a region's overflow flag is complete.
    """

    schedule: Schedule
    fire: Mapping[Region, int]
    base: Mapping[Region, int]  # the schedule's own firing times: offsets count from them
    channels: tuple[Channel, ...]
    flags: Mapping[Region, int]

    @property
    def latency(self) -> int:
        """Cycles from the clock edge that takes a task in to the one that can take its result."""
        return self.fire[OUTPUT] + 1

    @property
    def interval(self) -> int:
        """Cycles from one task to the next."""
        return 1

    @property
    def fixed(self) -> FixedGraph:
        """The graph that is scheduled."""
        return self.schedule.fixed

    @property
    def binding(self) -> Binding:
        """Which products are hardware multipliers."""
        return self.schedule.binding

    def into(self, region: Region) -> list[Channel]:
        return [c for c in self.channels if c.receiver == region]

    def out_of(self, region: Region) -> list[Channel]:
        return [c for c in self.channels if c.sender == region]

    def offset(self, node: Node) -> int:
        """The cycle, from its region's firing, in which the node's result can be read."""
        return self.schedule.time[node] - self.base[region_of(node)]

    def flagged(self, overflowed: Mapping[Node, NDArray[np.bool_]], n: int) -> NDArray[np.bool_]:
        """(n, outputs): the overflow flags that the hardware gives with each of n results.

        ``overflowed`` says in which states a node overflowed, from the integer model. An output's
        flag covers every region that its value passed through.
        """
        regions = {region: np.zeros(n, bool) for region in self.fire}
        for node, states in overflowed.items():
            regions[region_of(node)] |= states
        for region in self.fire:  # in firing order: senders first
            for channel in self.into(region):
                regions[region] |= regions[channel.sender]
        outputs = [source(node) for node in self.schedule.fixed.graph.outputs.values()]
        none = np.zeros(n, bool)
        flags = [none if node.op in STILL else regions[region_of(node)] for node in outputs]
        return np.array(flags).reshape(len(outputs), n).T


def plan(schedule: Schedule) -> Pipeline:
    """Channels for every pair of regions that share a value, with flags, delays and depths."""
    base = dict(schedule.fire)
    words: dict[tuple[Region, Region], list[ChannelWord]] = {}
    for (node, receiver), at in schedule.read.items():
        sender = region_of(node)
        written = schedule.written(node) - base[sender]
        read = 0 if receiver == OUTPUT else at - base[receiver]
        width = schedule.fixed.formats[node].width
        words.setdefault((sender, receiver), []).append(ChannelWord(node, width, written, read))
    order = _firing_order(words, base)
    complete = _flag_times(schedule, words, order)
    if OUTPUT in complete:  # the last flags may come after the last result
        base[OUTPUT] = max(base[OUTPUT], complete.pop(OUTPUT))
    for (sender, receiver), there in words.items():
        if sender in complete:
            written = complete[sender] - base[sender]
            read = max(complete[sender] + 1, base[receiver]) - base[receiver]
            there.append(ChannelWord(None, FLAG_BITS, written, read))
    channels = [
        Channel(sender, receiver, tuple(there)) for (sender, receiver), there in words.items()
    ]
    # Without stalls a region fires as soon as the last of its tokens comes.
    fire = dict.fromkeys(order, 0)
    for region in order:
        arrivals = [fire[c.sender] + c.delay for c in channels if c.receiver == region]
        fire[region] = max(arrivals, default=0)
    channels = [
        replace(c, depth=fire[c.receiver] - fire[c.sender] + c.hold + 1 + PUSHES_ON_THE_WAY)
        for c in channels
    ]
    channels.sort(key=lambda c: (order.index(c.sender), order.index(c.receiver)))
    flags = {region: complete[region] - base[region] for region in complete}
    return verify_pipeline(Pipeline(schedule, fire, base, tuple(channels), flags))


def verify_pipeline(plan: Pipeline) -> Pipeline:
    """The pipeline, if it keeps its own rules; its schedule is verified already.

    Raises:
        ScheduleError: a word that crosses on no channel, on two, in another width or at another
            time than in the schedule, a region that fires before its tokens are there, a FIFO with
            too little room, a flag before what it covers; says which.
    """
    s = plan.schedule
    carried: dict[tuple[Node, Region], ChannelWord] = {}
    flags: dict[tuple[Region, Region], ChannelWord] = {}
    for c in plan.channels:
        pair = f"{region_name(c.sender)} to {region_name(c.receiver)}"
        for word in c.words:
            there = (c.sender, c.receiver) in flags
            if word.node is not None:
                there = (word.node, c.receiver) in carried or region_of(word.node) != c.sender
                carried[word.node, c.receiver] = word
            else:
                flags[c.sender, c.receiver] = word
            if there:
                raise ScheduleError(f"{pair}: a word that is not the channel's alone")
        if plan.fire[c.receiver] < plan.fire[c.sender] + c.delay:
            raise ScheduleError(f"{pair}: fires before its token is there")
        if c.depth < plan.fire[c.receiver] - plan.fire[c.sender] + c.hold + 1 + PUSHES_ON_THE_WAY:
            raise ScheduleError(f"{pair}: a FIFO of {c.depth} tokens has too little room")
        if (c.sender in plan.flags) != ((c.sender, c.receiver) in flags):
            raise ScheduleError(f"{pair}: a flag that is not sent, or is no flag")
    if carried.keys() != s.read.keys():
        raise ScheduleError("not every word that crosses has a channel")
    for (node, receiver), word in carried.items():
        what = f"node {node.index} to {region_name(receiver)}"
        read = s.read[node, receiver] - plan.base[receiver]
        if receiver == OUTPUT:  # results leave together, when the last flag is there
            read = max(read, 0)
        if (word.written, word.read) != (s.written(node) - plan.base[region_of(node)], read):
            raise ScheduleError(f"{what}: at another time than in the schedule")
        if word.width != s.fixed.formats[node].width:
            raise ScheduleError(f"{what}: in {word.width} bits")
    for node in s.time:
        if s.fixed.overflowing(node) and plan.flags.get(region_of(node), -1) < plan.offset(node):
            raise ScheduleError(f"overflow of node {node.index} after the flag")
    for (sender, receiver), word in flags.items():
        joins = receiver == OUTPUT or plan.flags.get(receiver, -1) >= word.read
        if word.written != plan.flags[sender] or not joins:
            raise ScheduleError(f"{region_name(receiver)}: flag before that of what it reads")
    return plan


def _firing_order(
    pairs: Iterable[tuple[Region, Region]], base: Mapping[Region, int]
) -> list[Region]:
    """Senders before receivers; by the schedule's firing times where that leaves a choice."""
    waits: dict[Region, set[Region]] = {region: set() for region in base}
    for sender, receiver in pairs:
        waits[receiver].add(sender)
    order: list[Region] = []
    while waits:
        ready = [r for r, senders in waits.items() if not senders - set(order)]
        if not ready:
            raise ScheduleError(f"regions wait for each other: {sorted(waits)}")
        first = min(ready, key=lambda r: (base[r], r))
        order.append(first)
        del waits[first]
    return order


def _flag_times(
    schedule: Schedule, pairs: Iterable[tuple[Region, Region]], order: list[Region]
) -> dict[Region, int]:
    """Region → cycle (of the schedule) at whose end its flag is complete; only where one exists.

    A flag covers the region's own checks and the flags of what it received. For OUTPUT it is the
    cycle in which all flags can be read.
    """
    checks: dict[Region, int] = {}
    for node, time in schedule.time.items():
        if schedule.fixed.overflowing(node):
            region = region_of(node)
            checks[region] = max(checks.get(region, 0), time)
    senders: dict[Region, list[Region]] = {}
    for sender, receiver in pairs:
        senders.setdefault(receiver, []).append(sender)
    complete: dict[Region, int] = {}
    for region in order:
        read = [complete[s] + 1 for s in senders.get(region, []) if s in complete]
        read = [max(r, schedule.fire[region]) for r in read]
        own = [checks[region]] if region in checks else []
        if read or own:
            complete[region] = max(read + own)
    return complete
