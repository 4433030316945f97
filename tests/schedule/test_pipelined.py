"""A verifier of schedules that shares nothing with the scheduler, on random robots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from rbdgen.design.target import find_target
from rbdgen.graph.fixed import FixedGraph, Format
from rbdgen.graph.node import Node, Op, Region
from rbdgen.graph.verify import verify_fixed
from rbdgen.schedule.difference_constraints import ScheduleError
from rbdgen.schedule.pipelined import INPUT, OUTPUT, Schedule, schedule, verify_schedule
from rbdgen.schedule.units import bind
from tests.support.notation import graph
from tests.support.schedule_examples import CASES, compiled


def origin(node: Node) -> Node:
    """Where a word comes from: powers of two rename its bits."""
    return origin(node.args[0]) if node.op is Op.MULC else node


def home(node: Node) -> Region:
    if node.op is Op.INPUT:
        return INPUT
    assert node.region is not None
    return node.region


def units(fixed: FixedGraph) -> list[Node]:
    return [n for n in fixed.graph.nodes if n.op not in (Op.CONST, Op.MULC)]


def reads(node: Node) -> list[Node]:
    return [origin(a) for a in node.args if origin(a).op is not Op.CONST]


def cycles(s: Schedule, node: Node) -> int:
    """From operands to registered result."""
    width = {n: s.fixed.formats[n].width for n in s.fixed.graph.nodes}
    if node.op is Op.INPUT:
        return 1
    if node.op in (Op.ADD, Op.SUB, Op.NEG):
        return 1
    if node.op is Op.MUL:
        base = {"dsp": 4, "logic": 5}[s.binding.style[node]]
        wide = sum(width[a] > 18 for a in node.args)
        return base + wide + (1 if s.fixed.formats[node].rounded else 0)
    return s.duration(node)  # of a sine unit: tied to the hardware by the tests of rtl


def last_stage_is_an_adder(s: Schedule, node: Node) -> bool:
    return node.op in (Op.ADD, Op.SUB, Op.NEG) or (
        node.op is Op.MUL and s.fixed.formats[node].rounded
    )


def crossings(s: Schedule) -> Iterator[tuple[Node, Region]]:
    """Every word that another region reads, once."""
    seen = set()
    for node in units(s.fixed):
        for operand in reads(node):
            if home(operand) != home(node):
                seen.add((operand, home(node)))
    for node in s.fixed.graph.outputs.values():
        if origin(node).op is not Op.CONST:
            seen.add((origin(node), OUTPUT))
    yield from sorted(seen, key=lambda w: (w[0].index, w[1]))


def earliest_latency(s: Schedule) -> int:
    """The longest path from the task to the result, found by repeated relaxation."""
    ready: dict[Node, int] = {}
    fire: dict[Region, int] = {INPUT: 0}
    arrive: dict[tuple[Node, Region], int] = {}
    sines: dict[tuple[Node, Region], int] = {}
    changed = True

    def raise_to(table: dict, key: object, at: int) -> None:
        nonlocal changed
        if table.get(key, -1) < at:
            table[key], changed = at, True

    while changed:
        changed = False
        for node in units(s.fixed):
            region = home(node)
            start = fire.get(region, 0)
            for operand in reads(node):
                if home(operand) == region:
                    start = max(start, ready[operand])
                    continue
                written = ready[operand] - last_stage_is_an_adder(s, operand)
                raise_to(fire, region, fire.get(home(operand), 0) + 1)
                raise_to(arrive, (operand, region), max(written + 1, fire[region]))
                start = max(start, arrive[operand, region] + 1)
            done = start + cycles(s, node)
            if node.op in (Op.SIN, Op.COS):  # both from one unit
                raise_to(sines, (node.args[0], region), done)
                done = sines[node.args[0], region]
            raise_to(ready, node, done)
    results = [w for w, region in crossings(s) if region == OUTPUT]
    return max(max(ready[w] - last_stage_is_an_adder(s, w) + 1, fire[home(w)] + 1) for w in results)


@pytest.mark.parametrize("case", CASES)
def test_no_operand_is_read_before_it_is_there(case: str) -> None:
    s = compiled(case).plan.schedule
    assert set(s.time) == set(units(s.fixed))
    for node, time in s.time.items():
        start = time - cycles(s, node)
        assert start == s.start(node)
        if node.op is Op.INPUT:
            assert time == 1
            continue
        assert start >= s.fire[home(node)]
        for operand in reads(node):
            if home(operand) == home(node):
                assert start >= s.time[operand]
                continue
            assert start > s.read[operand, home(node)]


@pytest.mark.parametrize("case", CASES)
def test_words_cross_between_regions_in_order(case: str) -> None:
    s = compiled(case).plan.schedule
    assert set(s.read) == set(crossings(s))
    for (node, region), at in s.read.items():
        written = s.time[node] - last_stage_is_an_adder(s, node)
        assert s.written(node) == written
        assert at >= written + 1
        assert at >= s.fire[region]
        assert s.fire[region] >= s.fire[home(node)] + 1
    for region, fire in s.fire.items():  # no region waits without a reason
        words = [at for (_, to), at in s.read.items() if to == region]
        after = [s.fire[to] - 1 for node, to in s.read if home(node) == region]
        assert region == INPUT or fire == min(words + after)
    assert {at for (_, to), at in s.read.items() if to == OUTPUT} == {s.fire[OUTPUT]}


@pytest.mark.parametrize("case", CASES)
def test_sine_and_cosine_of_an_angle_come_together(case: str) -> None:
    s = compiled(case).plan.schedule
    times: dict[tuple[Node, Region], set[int]] = {}
    for node in units(s.fixed):
        if node.op in (Op.SIN, Op.COS):
            times.setdefault((node.args[0], home(node)), set()).add(s.time[node])
    assert all(len(found) == 1 for found in times.values())


@pytest.mark.parametrize("case", CASES)
def test_latency_is_the_longest_path(case: str) -> None:
    s = compiled(case).plan.schedule
    assert s.fire[OUTPUT] == earliest_latency(s)


def broken(s: Schedule, rule: str) -> Schedule:
    """The schedule with one rule broken."""
    inside = next(n for n in s.time if n.args and all(home(a) == home(n) for a in reads(n)))
    word = next(w for w in s.read if w[1] != OUTPUT)
    if rule == "not every operation":
        return replace(s, time={n: at for n, at in s.time.items() if n is not inside})
    if rule == "input":
        return replace(s, time={**s.time, next(iter(s.time)): 2})
    if rule == "two times":
        sine = next(n for n in s.time if n.op is Op.SIN)
        return replace(s, time={**s.time, sine: s.time[sine] + 1})
    if rule == "before it is there":
        operand = reads(inside)[0]
        return replace(s, time={**s.time, inside: s.time[operand] + s.duration(inside) - 1})
    if rule == "not every word":
        return replace(s, read={w: at for w, at in s.read.items() if w[1] != OUTPUT})
    if rule == "starts before":
        return replace(s, fire={**s.fire, home(inside): s.start(inside) + 1})
    if rule == "reads":
        return replace(s, read={**s.read, word: s.written(word[0])})
    if rule == "in cycle":  # a result that leaves after the others
        word = next(w for w in s.read if w[1] == OUTPUT)
        return replace(s, read={**s.read, word: s.read[word] + 1})
    return replace(s, fire={**s.fire, word[1]: s.fire[home(word[0])]})


@pytest.mark.parametrize(
    "rule",
    [
        "not every operation",
        "input",
        "two times",
        "before it is there",
        "not every word",
        "starts before",
        "reads",
        "in cycle",
        "fires before",
    ],
)
def test_the_verifier_sees_each_broken_rule(rule: str) -> None:
    s = compiled("pendulum").plan.schedule
    assert verify_schedule(s) is s
    with pytest.raises(ScheduleError, match=rule):
        verify_schedule(broken(s, rule))


@pytest.mark.parametrize("case", CASES)
def test_multipliers_stay_within_the_part(case: str) -> None:
    core = compiled(case)
    s = core.plan.schedule
    width = {n: s.fixed.formats[n].width for n in s.fixed.graph.nodes}
    used = 0
    for node, style in s.binding.style.items():
        if style == "dsp":
            used += int(np.prod([1 + (width[a] > 18) for a in node.args]))
    for angle, style in s.binding.sincos.items():
        unit = s.fixed.sincos(next(n for n in s.fixed.graph.users[angle]))
        if style == "dsp":
            long = [own for own in unit.products if own != (unit.short_width,) * 2]
            used += sum((1 + (a > 18)) * (1 + (b > 18)) for a, b in long)
    assert used == s.binding.multipliers <= s.target.multipliers
    assert set(s.binding.style) == {n for n in s.fixed.graph.nodes if n.op is Op.MUL}
    if "logic" in {*s.binding.style.values(), *s.binding.sincos.values()}:
        assert used > 0.9 * s.target.multipliers


@pytest.mark.parametrize("rounded", [False, True])
def test_a_product_and_a_sum_by_hand(rounded: bool) -> None:
    """Worked out on paper: x y in one region, + x in the next."""
    made = graph(_xy="x*y", z="_xy + x @ backward 0")
    x, y, product, total = made.nodes
    word = Format(18, 12)
    formats = {x: word, y: word, total: Format(20, 12), product: Format(19, 12, rounded=rounded)}
    fixed = verify_fixed(FixedGraph(made, {"x": word, "y": word}, formats, 18))
    target = find_target("ecp5-25f")
    s = schedule(fixed, bind(fixed, target), target)
    forward, backward = ("forward", 0), ("backward", 0)
    # In at 0, in a register at 1; the words leave the FIFO in cycle 2, and the multiplier has four
    # registers. Rounding adds a fifth, which the next FIFO stands in for: read in 8 in both.
    assert s.fire == {INPUT: 0, forward: 2, backward: 8, OUTPUT: 10}
    assert s.time[product] == (8 if rounded else 7)
    assert s.written(product) == 7
    assert s.read == {
        (x, forward): 2,
        (y, forward): 2,
        (x, backward): 8,
        (product, backward): 8,
        (total, OUTPUT): 10,
    }
    # The adder reads what a register took from the FIFO in cycle 8.
    assert (s.start(total), s.time[total]) == (9, 10)
