"""Channels: what crosses, when it may, and how much room it needs, by playing tasks through."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rbdgen.graph.graph import source
from rbdgen.graph.node import Op
from rbdgen.schedule.channels import PUSHES_ON_THE_WAY, Pipeline, verify_pipeline
from rbdgen.schedule.difference_constraints import ScheduleError
from rbdgen.schedule.pipelined import INPUT, OUTPUT, region_of
from rbdgen.schedule.plan import Channel, ChannelWord
from tests.support.marks import fast_at
from tests.support.schedule_examples import CASES, compiled

A, B = ("forward", 0), ("forward", 1)


def channel(*times: tuple[int, int]) -> Channel:
    """A channel of words (written, read)."""
    return Channel(A, B, tuple(ChannelWord(None, 1, written, read) for written, read in times))


@pytest.mark.parametrize(
    ("times", "delay", "hold"),
    [
        ([(0, 0)], 1, 0),  # written at the end of cycle 0: readable in cycle 1
        ([(7, 0)], 8, 0),
        ([(7, 7)], 1, 0),  # written as the receiver runs
        ([(7, 9)], 1, 1),
        ([(0, 9)], 1, 8),
        ([(7, 0), (0, 9)], 8, 8),
        ([(3, 1), (5, 5), (2, 0)], 3, 0),
    ],
)
def test_delay_and_hold(times: list[tuple[int, int]], delay: int, hold: int) -> None:
    made = channel(*times)
    assert (made.delay, made.hold) == (delay, hold)
    # every word is there when it is read, and could not be one cycle sooner
    for written, read in times:
        assert delay + read >= written + 1
    assert delay == 1 or any(delay - 1 + read < written + 1 for written, read in times)
    # fired hold + 1 cycles after the receiver, the sender writes no word that is still to be read
    for written, read in times:
        assert hold + 1 + written >= read
    assert hold == 0 or any(hold + written < read for written, read in times)


def test_width_counts_every_word() -> None:
    assert Channel(A, B, (ChannelWord(None, 1, 0, 0), ChannelWord(None, 18, 0, 0))).width == 19


@pytest.mark.parametrize("case", fast_at(range(0, len(CASES), 2), [*CASES]))
def test_channels_carry_what_crosses_and_flags_once(case: str) -> None:
    plan = compiled(case).plan
    carried = {
        (word.node, c.receiver): word.width
        for c in plan.channels
        for word in c.words
        if word.node is not None
    }
    assert set(carried) == set(plan.schedule.read)
    assert sum(w.node is not None for c in plan.channels for w in c.words) == len(carried)
    for (node, _), width in carried.items():
        assert width == plan.schedule.fixed.formats[node].width
    for c in plan.channels:
        flags = [w for w in c.words if w.node is None]
        assert len(flags) == (c.sender in plan.flags)
        assert all(region_of(w.node) == c.sender for w in c.words if w.node is not None)
    pairs = [(c.sender, c.receiver) for c in plan.channels]
    assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize("case", CASES)
def test_flags_come_after_every_check_they_cover(case: str) -> None:
    plan = compiled(case).plan
    fixed = plan.schedule.fixed
    for node in plan.schedule.time:
        if fixed.overflowing(node):
            assert plan.flags[region_of(node)] >= plan.offset(node)
    for c in plan.channels:
        for word in c.words:
            if word.node is None:
                assert word.written == plan.flags[c.sender]
                if c.receiver != OUTPUT:  # joined to the receiver's own, after it was read
                    assert plan.flags[c.receiver] >= word.read


@pytest.mark.parametrize("case", CASES)
def test_regions_fire_as_soon_as_their_last_token_is_there(case: str) -> None:
    plan = compiled(case).plan
    assert next(iter(plan.fire)) == INPUT
    for region, fire in plan.fire.items():
        arrivals = [plan.fire[c.sender] + c.delay for c in plan.into(region)]
        assert fire == max(arrivals, default=0)
    assert plan.latency == plan.fire[OUTPUT] + 1
    # elastic firing costs no cycle: only the last flags may come after the last result
    assert plan.schedule.fire[OUTPUT] <= plan.fire[OUTPUT] <= plan.schedule.fire[OUTPUT] + 1
    for region in plan.fire.keys() - {OUTPUT}:
        assert plan.fire[region] <= plan.schedule.fire[region]


def play(plan: Pipeline, tasks: int, less: Channel | None = None) -> list[int]:
    """Cycles in which OUTPUT fires, each region firing whenever tokens and room allow.

    Counts tokens and room cycle by cycle; of each depth, what the sender keeps for tokens on
    their way is no room. ``less`` has one place fewer than its depth.
    """
    fired: dict[object, list[int]] = {region: [] for region in plan.fire}
    done: list[int] = []
    cycle = 0
    while len(done) < tasks:
        firing = []
        for region in plan.fire:
            k = len(fired[region])  # the task that would be next
            if region == INPUT and k >= tasks:
                continue
            tokens = all(
                len(fired[c.sender]) > k and fired[c.sender][k] + c.delay <= cycle
                for c in plan.into(region)
            )
            room = True
            for c in plan.out_of(region):
                size = c.depth - PUSHES_ON_THE_WAY - (c is less)
                if k >= size:  # the place of the task ``size`` before must be free
                    taken = fired[c.receiver]
                    room &= len(taken) > k - size and taken[k - size] + c.hold + 1 <= cycle
            if tokens and room:
                firing.append(region)
        for region in firing:
            fired[region].append(cycle)
        done = fired[OUTPUT]
        cycle += 1
        assert cycle < 40 * (tasks + plan.latency), "deadlock"
    return done


@pytest.mark.parametrize("case", ["pendulum", "gantry", "iiwa14", "random2", "random4"])
def test_depths_let_one_task_follow_another_every_clock(case: str) -> None:
    plan = compiled(case).plan
    tasks = 2 * plan.latency
    done = play(plan, tasks)
    assert done == list(range(plan.fire[OUTPUT], plan.fire[OUTPUT] + tasks))


@pytest.mark.parametrize("case", ["pendulum", "random2"])
def test_no_channel_is_deeper_than_it_must_be(case: str) -> None:
    plan = compiled(case).plan
    tasks = 2 * plan.latency
    for c in plan.channels:
        apart = plan.fire[c.receiver] - plan.fire[c.sender]
        assert c.depth == apart + c.hold + 1 + PUSHES_ON_THE_WAY
        done = play(plan, tasks, less=c)
        assert done[-1] > plan.fire[OUTPUT] + tasks - 1, (c.sender, c.receiver)


def test_outputs_that_are_constants_cross_nowhere() -> None:
    plan = compiled("iiwa14").plan
    constant = [
        name
        for name, node in plan.schedule.fixed.graph.outputs.items()
        if source(node).op is Op.CONST
    ]
    crossing = {w.node for c in plan.into(OUTPUT) for w in c.words if w.node is not None}
    assert len(crossing) + len(constant) == len(plan.schedule.fixed.graph.outputs)


def broken(plan: Pipeline, rule: str) -> Pipeline:
    """The pipeline with one rule broken."""
    channels = list(plan.channels)
    k = next(k for k, c in enumerate(channels) if c.receiver != OUTPUT and c.sender in plan.flags)
    c = channels[k]
    word, *others = c.words

    def of(*words: ChannelWord, **changes: int) -> Pipeline:
        made = replace(c, words=words or c.words, **changes)
        return replace(plan, channels=(*channels[:k], made, *channels[k + 1 :]))

    match rule:
        case "the channel's alone":
            return of(*c.words, word)
        case "its token":
            return replace(plan, fire={**plan.fire, c.receiver: plan.fire[c.receiver] - 1})
        case "too little room":
            return of(depth=c.depth - 1)
        case "a flag that is not sent":
            return of(*(own for own in c.words if own.node is not None))
        case "has a channel":
            return of(*others)
        case "another time":
            return of(replace(word, written=word.written - 1), *others)
        case "bits":
            return of(replace(word, width=word.width - 1), *others)
        case "after the flag":
            return replace(plan, flags={**plan.flags, c.receiver: 0})
    early = [
        replace(
            o, words=[replace(w, written=w.written - 1) if w.node is None else w for w in o.words]
        )
        if o.sender == c.sender
        else o
        for o in channels
    ]
    return replace(plan, channels=tuple(early))


@pytest.mark.parametrize(
    "rule",
    [
        "the channel's alone",
        "its token",
        "too little room",
        "a flag that is not sent",
        "has a channel",
        "another time",
        "bits",
        "after the flag",
        "flag before",
    ],
)
def test_the_verifier_sees_each_broken_rule(rule: str) -> None:
    plan = compiled("pendulum").plan
    assert verify_pipeline(plan) is plan
    with pytest.raises(ScheduleError, match=rule):
        verify_pipeline(broken(plan, rule))
