"""One channel alone: tokens, their words in their cycles, credits, and how deep it must be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from unittest import mock

import numpy as np
import pytest
from amaranth.sim import Simulator

from rbdgen.rtl.delay_line import LutRam
from rbdgen.rtl.queues import ChannelFifo
from rbdgen.schedule.channels import PUSHES_ON_THE_WAY
from rbdgen.schedule.difference_constraints import BANK, capacity
from rbdgen.schedule.plan import Channel, ChannelWord
from tests.support.cores import memory_of

WIDTH = 12
# (written, read) of each word: late writers, late readers, and two words that share both
SHAPES = [
    ((0, 0),),
    ((3, 0), (5, 1), (0, 0)),
    ((0, 4), (1, 9), (0, 0), (1, 9)),
    ((7, 2), (0, 6), (7, 6), (2, 2)),
]


def channel_of(shape: tuple[tuple[int, int], ...], depth: int = 0) -> Channel:
    words = tuple(ChannelWord(None, WIDTH, written, read) for written, read in shape)
    return Channel(("forward", 0), ("forward", 1), words, depth)


@dataclass
class Trace:
    """What happened, cycle by cycle."""

    room: list[bool] = field(default_factory=list)
    valid: list[bool] = field(default_factory=list)
    stays: list[bool] = field(default_factory=list)
    follows: list[bool] = field(default_factory=list)
    pushes: list[int] = field(default_factory=list)  # cycles
    pops: list[int] = field(default_factory=list)
    sent: list[tuple[int, ...]] = field(default_factory=list)  # words of each token
    received: list[list[int]] = field(default_factory=list)


def run(
    channel: Channel,
    size: int,
    cycles: int,
    may_push: Callable[[Trace, int], bool],
    may_pop: Callable[[Trace, int], bool],
    seed: int = 0,
) -> Trace:
    """Push where there was room and ``may_push``, pop what is valid where ``may_pop``.

    A word is on its input in the one cycle in which it is due, noise in all others.
    """
    fifo = ChannelFifo(channel, size)
    rng = np.random.default_rng(seed)
    half = 1 << (WIDTH - 1)
    trace = Trace()

    async def bench(ctx) -> None:  # type: ignore[no-untyped-def]
        for cycle in range(cycles):
            trace.room.append(bool(ctx.get(fifo.room)))
            trace.valid.append(bool(ctx.get(fifo.valid)))
            push = cycle > 0 and trace.room[-2] and may_push(trace, cycle)
            pop = trace.valid[-1] and may_pop(trace, cycle)
            ctx.set(fifo.push, push)
            ctx.set(fifo.pop, pop)
            trace.stays.append(bool(ctx.get(fifo.stays)))
            trace.follows.append(bool(ctx.get(fifo.follows)))
            if push:
                trace.pushes.append(cycle)
                trace.sent.append(tuple(map(int, rng.integers(-half, half, len(channel.words)))))
            if pop:
                trace.pops.append(cycle)
                trace.received.append([0] * len(channel.words))
            started = {at: n for n, at in enumerate(trace.pushes)}
            taken = {at: n for n, at in enumerate(trace.pops)}
            for k, word in enumerate(channel.words):
                due = started.get(cycle - word.written)
                noise = int(rng.integers(-half, half))
                ctx.set(fifo.written[k], noise if due is None else trace.sent[due][k])
                now = taken.get(cycle - word.read)
                if now is not None:
                    trace.received[now][k] = ctx.get(fifo.read[k])
            await ctx.tick()

    with mock.patch.object(LutRam, "instance", memory_of):
        simulator = Simulator(fifo)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    return trace


def at_random(rng: np.random.Generator) -> Callable[[Trace, int], bool]:
    """True at random, in stretches of random density: idle, broken, and without a pause."""
    density = [0.0]

    def decide(trace: Trace, cycle: int) -> bool:
        if rng.random() < 0.04:
            density[0] = float(rng.choice([0.0, 0.1, 0.5, 0.9, 1.0]))
        return bool(rng.random() < density[0])

    return decide


def check_contract(channel: Channel, size: int, trace: Trace) -> None:
    """Tokens whole and in order; what it says of them in exactly the cycles promised."""
    whole = len(trace.pops) - max(w.read for w in channel.words) - 1  # read to their last word
    received = [tuple(words) for words in trace.received]
    assert received[:whole] == trace.sent[:whole]
    pushes, pops = np.array(trace.pushes, int), np.array(trace.pops, int)
    for cycle, (valid, room) in enumerate(zip(trace.valid, trace.room, strict=True)):
        arrived = int((pushes <= cycle - channel.delay).sum())
        assert valid == (arrived > int((pops < cycle).sum())), f"valid in cycle {cycle}"
        soon = int((pushes <= cycle + 1 - channel.delay).sum()) - int((pops < cycle).sum())
        assert trace.stays[cycle] == (soon >= 1), f"stays in cycle {cycle}"
        assert trace.follows[cycle] == (soon >= 2) or not valid, f"follows in cycle {cycle}"
        free = size - (pushes <= cycle - 2).sum() + (pops <= cycle - channel.hold - 2).sum()
        assert room == (free > PUSHES_ON_THE_WAY), f"room in cycle {cycle}"


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        (shape, size)
        for k, shape in enumerate(SHAPES)
        for size in ((16, 23, 40), (17, 31, 48))[k % 2]
    ],
    ids=str,
)
def test_random_traffic(shape: tuple[tuple[int, int], ...], size: int) -> None:
    channel = channel_of(shape)
    rng = np.random.default_rng([size, len(shape)])
    trace = run(channel, size, 1200, at_random(rng), at_random(rng), seed=size)
    check_contract(channel, size, trace)
    assert len(trace.pops) > 5 * size  # round the memory, more than once
    assert set(trace.room) == {True, False}  # it was full,
    assert set(trace.valid) == {True, False}  # and empty


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_full_then_empty(shape: tuple[tuple[int, int], ...]) -> None:
    """A receiver that sleeps fills it to the last place but what is kept for pushes on the way."""
    channel, size = channel_of(shape), 19
    trace = run(channel, size, 150, lambda *_: True, lambda _, cycle: cycle >= 60)
    check_contract(channel, size, trace)
    stored = sum(p < 60 for p in trace.pushes)
    assert stored == size


@pytest.mark.parametrize("extra", [0, 1, 5, 20])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_depth_is_what_one_task_a_clock_takes(
    shape: tuple[tuple[int, int], ...], extra: int
) -> None:
    """With the schedule's depth tokens follow each other without a gap, with one less they do not.

    The receiver fires ``extra`` cycles after its token could be taken, as one does that waits for
    a slower channel.
    """
    lag = channel_of(shape).delay + extra
    channel = channel_of(shape, depth=lag + channel_of(shape).hold + 1 + PUSHES_ON_THE_WAY)

    def in_time(trace: Trace, cycle: int) -> bool:
        return cycle >= trace.pushes[len(trace.pops)] + lag

    def pushes(size: int) -> Trace:
        trace = run(channel, size, 200, lambda *_: True, in_time)
        check_contract(channel, size, trace)
        return trace

    enough = pushes(channel.depth)
    assert enough.pushes == list(range(1, 200))
    assert enough.pops == list(range(1 + lag, 200))
    assert len(pushes(channel.depth - 1).pushes) < 199


def test_capacity_is_whole_lut_rams() -> None:
    for depth in range(1, 50):
        size = capacity(channel_of(SHAPES[0], depth))
        assert size % BANK == 0
        assert depth <= size < depth + BANK
