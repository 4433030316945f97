"""Folds: what the scheduler claims, held against the rules by the verifier and by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from amaranth.sim import Simulator, SimulatorContext

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.design.target import find_target
from rbdgen.graph.fixed import FixedGraph, Format
from rbdgen.graph.graph import Graph, operands
from rbdgen.graph.node import Builder, Op
from rbdgen.robot.model import RobotError
from rbdgen.rtl.queues import ChannelFifo
from rbdgen.schedule.channels import PUSHES_ON_THE_WAY
from rbdgen.schedule.difference_constraints import ScheduleError
from rbdgen.schedule.fold import Fold, Place, job_operands, verify_fold
from rbdgen.schedule.modulo import fold
from rbdgen.schedule.plan import Channel
from rbdgen.schedule.units import job, shared_jobs
from tests.support.marks import fast_at

QUADRUPED = str(Path(__file__).parents[1] / "robots" / "quadruped.urdf")
TARGET = find_target("ecp5-85f")
CASES = {
    "gantry": lambda: compile_front(front_end("gantry")),
    "iiwa14": lambda: compile_front(front_end("iiwa14")),
    "forward": lambda: compile_front(front_end("pendulum", functions=("fd",), error=1e-5)),
    "quadruped": lambda: compile_front(front_end(QUADRUPED, base="floating", functions=("minv",))),
}
INTERVALS = (1, 2, 3, 5, 8, 16)


@pytest.fixture(scope="module", params=list(CASES))
def core(request: pytest.FixtureRequest) -> Product:
    return CASES[request.param]()


@pytest.mark.parametrize("interval", fast_at((0, 2, 4), INTERVALS))
def test_a_fold_keeps_its_rules(core: Product, interval: int) -> None:
    """As many units as the floor says, none of them twice in a phase, nothing read too early."""
    made = fold(core.fixed, TARGET, interval)
    kinds = Counter(place.kind for place in made.place.values())
    for kind, count in kinds.items():
        units = {place.number for place in made.place.values() if place.kind == kind}
        assert len(units) <= -(-count // interval)
    starts = {job(n): made.start(n) for n in made.time if n.op is not Op.INPUT}
    slots = Counter(
        (place.kind, place.number, starts[own] % interval) for own, place in made.place.items()
    )
    assert set(slots.values()) == {1}
    for node in made.time:
        assert all(made.time[a] <= made.start(node) for a in operands(node))
    assert made.latency >= max(made.time.values())


def test_operands_fit_the_ports_they_are_bound_to() -> None:
    core = CASES["forward"]()
    made = fold(core.fixed, TARGET, 2)
    assert len({place.kind.widths for place in made.place.values()}) > 2
    for own, place in made.place.items():
        read = job_operands(own)[:: -1 if place.swapped else 1]
        for node, width in zip(read, place.kind.widths, strict=True):
            assert core.fixed.formats[node].width <= width


def test_folding_costs_little_latency() -> None:
    """Within three intervals of what is possible with every unit its own."""
    core = CASES["iiwa14"]()
    free = fold(core.fixed, TARGET, 1).latency
    for interval in INTERVALS[1:]:
        assert free <= fold(core.fixed, TARGET, interval).latency <= free + 3 * interval


def test_sources_are_fewer_than_operands() -> None:
    core = CASES["iiwa14"]()
    made = fold(core.fixed, TARGET, 8)
    sources = set()
    products = [own for own in made.place if own[0] == "mul"]
    for own in products:
        place, start = made.place[own], made.start(own[1])
        read = job_operands(own)[:: -1 if place.swapped else 1]
        for port, node in enumerate(read):
            sources.add((place.number, port, node, made.register(node, start)))
    assert len(sources) < 0.85 * 2 * len(products)


def broken(made: Fold, rule: str) -> Fold:
    """The fold with one of its rules broken."""
    product = next(n for n in made.time if n.op is Op.MUL)
    own = job(product)
    place = made.place[own]
    if rule == "before it is there":
        user = next(n for n in made.time if product in operands(n))
        return replace(made, time={**made.time, user: made.time[product] - 1})
    if rule == "in one phase":
        slot = made.start(product) % made.interval
        other = next(
            j
            for j in made.place
            if j[0] == "mul" and j != own and made.start(j[1]) % made.interval == slot
        )
        return replace(made, place={**made.place, other: made.place[own]})
    if rule == "there is not":
        there = Place(place.kind, made.jobs.units(made.interval)[place.kind])
        return replace(made, place={**made.place, own: there})
    if rule == "starts twice":
        sine = next(n for n in made.time if n.op is Op.SIN)
        return replace(made, time={**made.time, sine: made.time[sine] + made.interval})
    if rule == "input":
        node = next(n for n in made.time if n.op is Op.INPUT)
        return replace(made, time={**made.time, node: 0})
    left = dict(list(made.time.items())[:-1])
    return replace(made, time=left)


@pytest.mark.parametrize(
    "rule",
    [
        "before it is there",
        "in one phase",
        "there is not",
        "starts twice",
        "input",
        "not every operation",
    ],
)
def test_the_verifier_sees_each_broken_rule(rule: str) -> None:
    made = fold(CASES["gantry"]().fixed, TARGET, 4)
    with pytest.raises(ScheduleError, match=rule):
        verify_fold(broken(made, rule))


def stalls(channel: Channel, interval: int) -> int:
    """How many of ten tasks, one an interval, find no room; who reads takes each when it can."""
    fifo = ChannelFifo(channel, channel.depth)
    missed = 0

    async def bench(context: SimulatorContext) -> None:
        nonlocal missed
        room = 1
        for cycle in range(10 * interval):
            due = cycle % interval == 0
            missed += due and not room
            context.set(fifo.push, due and room)
            context.set(fifo.pop, context.get(fifo.valid))
            room = context.get(fifo.room)
            await context.tick()

    simulator = Simulator(fifo)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return missed


def test_results_have_room_and_no_place_too_many() -> None:
    """One place fewer stalls tasks, where an interval that outlasts pushes on the way divides the
    time that a place is taken."""
    b, word = Builder(), Format(8, 4)
    with b.region("forward", 0):
        x, y = b.input("x"), b.input("y")
        graph = Graph(("x", "y"), {"z": b.mul(b.mul(x, y), x)})
    formats = dict.fromkeys(graph.nodes, word)
    fixed = FixedGraph(graph, {"x": word, "y": word}, formats, 8, {})
    divides = set()
    for interval in range(PUSHES_ON_THE_WAY + 1, 7):
        channel = fold(fixed, TARGET, interval).channel
        assert not stalls(channel, interval)
        if (channel.delay + 2) % interval == 0:
            divides.add(interval)
            assert stalls(replace(channel, depth=channel.depth - 1), interval)
    assert divides


def test_the_smallest_interval_that_fits_a_budget() -> None:
    jobs = shared_jobs(CASES["iiwa14"]().fixed, TARGET)
    for budget in (28, 72, 156):
        least = jobs.least_interval(budget)
        assert jobs.multipliers(least) <= budget
        assert least == 1 or jobs.multipliers(least - 1) > budget
    with pytest.raises(ValueError, match="at least"):
        jobs.least_interval(1)


def test_a_budget_chooses_the_interval() -> None:
    """iiwa's inverse dynamics on the 28 multipliers of the smallest ECP5: one task in 5 cycles."""
    core = compile_front(front_end("iiwa14", width=18, multipliers=28, target="ecp5-25f"))
    assert isinstance(core.plan, Fold)
    assert core.plan.interval == 5
    assert core.plan.multipliers == 28


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"ii": 0}, "ii: a whole number of cycles from 1 to 1024, not 0"),
        ({"ii": 2.5}, "ii: a whole number"),
        ({"ii": 2, "multipliers": 28}, "give one of them"),
        ({"style": "latency", "scheduler": "exact"}, "exact is for style throughput"),
        ({"style": "latency", "fold": "limbs"}, "limbs is for style throughput"),
        ({"ii": 2, "target": "ecp5-25f"}, "from 5 on it fits"),
        ({"multipliers": 2}, "it takes at least"),
    ],
)
def test_what_cannot_be_folded_is_refused(choices: dict[str, object], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        compile_front(front_end("iiwa14", **choices))
