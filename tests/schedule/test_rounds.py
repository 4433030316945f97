"""Time-multiplexed joints: when every visit takes place and where, the ways to an interval, the
picture."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from rbdgen.compile.flow import front_end
from rbdgen.compile.words import sample_inputs
from rbdgen.design.target import find_target
from rbdgen.draw.plan_pictures import round_picture
from rbdgen.dynamics.program import program
from rbdgen.graph.fixed import FixedGraph, Format
from rbdgen.graph.graph import Graph, source
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.visits import Program, Visit, VisitResult
from rbdgen.robot.denavit_hartenberg import chained_frames
from rbdgen.schedule.candidates import MOST_DATAPATHS, Candidates
from rbdgen.schedule.difference_constraints import ScheduleError
from rbdgen.schedule.fold import LOGIC_PORT, flag_time, verify_fold
from rbdgen.schedule.round_plan import GATHERING, ON_THE_WAY, PHASES, RoundPlan
from rbdgen.schedule.rounds import in_rounds, verify_rounds
from rbdgen.schedule.specialise import TASK, Datapath, datapaths_of, jobs_of, specialised
from rbdgen.words.instances import FixedProgram, instantiate
from rbdgen.words.program_words import fixed_program

TARGET = find_target("ecp5-85f")
SVG = "{http://www.w3.org/2000/svg}"
NAMES = [f"joint_{k}" for k in range(12)]
PLANS = {  # robot, functions, rounds, cycles
    "pendulum": ("pendulum", "did", 1, 6),
    "iiwa14": ("iiwa14", "id", 6, 2),
    "gradients": ("iiwa14", "did", 7, 4),
    "legs": ("hyq", "did,m", 12, 3),
    "one cycle": ("iiwa14", "did", 8, 1),
}


@cache
def words(robot: str, functions: str) -> FixedProgram:
    front = front_end(robot, functions=tuple(functions.split(",")))
    visits = program(chained_frames(front.canonical), front.graph, 4)
    return fixed_program(visits, front.graph, sample_inputs(front), 18)


@cache
def planned(case: str) -> RoundPlan:
    robot, functions, rounds, cycles = PLANS[case]
    return in_rounds(words(robot, functions), TARGET, rounds, cycles)


@pytest.fixture(params=list(PLANS))
def plan(request: pytest.FixtureRequest) -> RoundPlan:
    return planned(request.param)


def test_every_visit_has_a_lane_and_a_phase_of_its_own(plan: RoundPlan) -> None:
    assert set(plan.at) == set(plan.datapath) == set(plan.program.real.reads)
    slots = Counter((plan.datapath[visit], at % plan.rounds) for visit, at in plan.at.items())
    assert set(slots.values()) == {1}
    for visit, datapath in plan.datapath.items():
        assert datapath.template == visit.template
        assert datapath in plan.datapaths.copies


def test_lanes_are_as_few_as_can_be(plan: RoundPlan) -> None:
    for name in plan.program.templates:
        number = sum(datapath.template == name for datapath in plan.datapaths.copies)
        visits = len(plan.program.real.of(name))
        assert (number - 1) * plan.rounds < visits <= number * plan.rounds


def test_words_are_read_when_they_are_there(plan: RoundPlan) -> None:
    """In cycles of the task: from when they are stored, on the way, to the first of a visit."""
    interval = plan.template.interval
    for visit, sources in plan.program.real.reads.items():
        start = plan.at[visit] * interval
        for port, read in sources.items():
            if isinstance(read, VisitResult):
                node = plan.node(plan.datapath[read.visit], read.name)
                stored = plan.at[read.visit] * interval + plan.template.time[node]
                assert stored + ON_THE_WAY <= start
            elif isinstance(read, str):
                datapath, at = plan.given[visit, port]
                assert datapath.template == TASK
                assert at in range(plan.rounds)
                assert (at + 1) * interval + ON_THE_WAY <= start


def test_a_task_lays_down_one_visit_s_words_at_a_time(plan: RoundPlan) -> None:
    there: dict[tuple[Datapath, int], Visit] = {}
    for (visit, _), slot in plan.given.items():
        assert there.setdefault(slot, visit) == visit
    wanted = {
        (visit, port)
        for visit, sources in plan.program.real.reads.items()
        for port, read in sources.items()
        if isinstance(read, str)
    }
    assert set(plan.given) == wanted


def test_lanes_are_a_fold_that_share_no_multipliers(plan: RoundPlan) -> None:
    verify_fold(plan.template)
    assert plan.interval == plan.rounds * plan.template.interval
    shared: dict[object, set[object]] = {}
    for own, place in plan.template.place.items():
        if own[0] == "mul":
            shared.setdefault((place.kind, place.number), set()).add(own[1].region)
    assert max(map(len, shared.values())) == 1


def test_latency_is_that_of_the_last_word_and_of_gathering(plan: RoundPlan) -> None:
    """Results and flags of all visits, then a turn of all rounds in which they are read."""
    interval, last = plan.template.interval, 0
    outputs = plan.program.real.outputs.values()
    for read in outputs:
        if isinstance(read, VisitResult):
            node = plan.node(plan.datapath[read.visit], read.name)
            last = max(last, plan.at[read.visit] * interval + plan.template.time[node])
    for visit, at in plan.at.items():
        if plan.datapath[visit] in plan.checks:
            last = max(last, at * interval + flag_time(plan.checks[plan.datapath[visit]]))
    # what datapaths that keep both a result and a flag have, comes with the later one
    assert last <= plan.complete <= last + interval
    assert plan.latency == plan.complete + max(plan.rounds, PHASES) + GATHERING + 2
    assert (plan.places - 2) * plan.interval >= plan.latency


def test_checks_are_of_every_node_that_can_overflow(plan: RoundPlan) -> None:
    seen = [node for checks in plan.checks.values() for nodes in checks.values() for node in nodes]
    wanted = {node for node in plan.template.time if plan.fixed.overflowing(node)}
    assert set(seen) == wanted
    assert len(seen) == len(wanted)
    for datapath, checks in plan.checks.items():
        regions = {node.region for nodes in checks.values() for node in nodes}
        assert regions == {(datapath.template, *datapath.key)}


def test_every_result_is_kept(plan: RoundPlan) -> None:
    """In the phase of its visit, from the node of the datapath that makes it."""
    kept = {
        (datapath, node, phase, own)
        for (datapath, written), words in plan.results.items()
        for node, phases in words.items()
        for phase, own in phases.items()
        if plan.template.time[node] == written
    }
    outputs = plan.program.whole.graph.outputs
    wanted = {
        (datapath, plan.node(datapath, result.name), plan.at[result.visit] % plan.rounds, own)
        for name, result in plan.program.real.outputs.items()
        if isinstance(result, VisitResult) and (own := source(outputs[name])).op is not Op.CONST
        for datapath in [plan.datapath[result.visit]]
    }
    assert kept == wanted
    assert kept


def slack(plan: RoundPlan, visit: Visit) -> int:
    """Cycles by which a visit could come earlier; its phase aside."""
    interval, spare = plan.template.interval, []
    for read in plan.program.real.reads[visit].values():
        if isinstance(read, VisitResult):
            stored = plan.written(plan.datapath[read.visit], read.name) + ON_THE_WAY
            spare.append((plan.at[visit] - plan.at[read.visit]) * interval - stored)
    return min(spare)


def test_the_verifier_sees_a_visit_too_early(plan: RoundPlan) -> None:
    """By whole tasks, which is the same phase: as many as there is slack for, and one more."""
    last = next(  # nobody's words wait longer for it
        visit
        for visit in reversed(list(plan.at))
        if any(isinstance(s, VisitResult) for s in plan.program.real.reads[visit].values())
        and not readers(plan, visit)
    )
    tasks = slack(plan, last) // plan.interval

    def moved(tasks: int) -> RoundPlan:
        at = {**plan.at, last: plan.at[last] - tasks * plan.rounds}
        return replace(plan, at=at)

    verify_rounds(moved(tasks))
    with pytest.raises(ScheduleError, match=r"\w+ read before it is there"):
        verify_rounds(moved(tasks + 1))


def readers(plan: RoundPlan, visit: Visit) -> list[Visit]:
    return [
        other
        for other, sources in plan.program.real.reads.items()
        if any(isinstance(s, VisitResult) and s.visit == visit for s in sources.values())
    ]


@pytest.mark.parametrize("case", ["iiwa14", "gradients", "legs"])
def test_the_verifier_sees_two_in_one_slot(case: str) -> None:
    plan = planned(case)
    one, other = next(
        (a, b)
        for a in plan.at
        for b in plan.at
        if a != b and plan.datapath[a] == plan.datapath[b] and plan.at[a] < plan.at[b]
    )
    late = plan.at[one] + 100 * plan.rounds  # any word is there by then
    with pytest.raises(ScheduleError, match="on one datapath in one round"):
        verify_rounds(replace(plan, at={**plan.at, other: late}))


def test_the_verifier_sees_a_visit_without_a_round_or_a_datapath(plan: RoundPlan) -> None:
    some, *others = plan.at
    with pytest.raises(ScheduleError, match="not every visit has a round"):
        verify_rounds(replace(plan, at={visit: plan.at[visit] for visit in others}))
    there = plan.datapath[some]
    for wrong in (Datapath(there.template, (1000,)), Datapath("nobody", there.key)):
        with pytest.raises(ScheduleError, match="a datapath that there is not"):
            verify_rounds(replace(plan, datapath={**plan.datapath, some: wrong}))


def test_a_plan_is_the_same_every_time() -> None:
    again = in_rounds(words("hyq", "did,m"), TARGET, 12, 3)
    plan = planned("legs")
    assert (again.at, again.datapath, again.given) == (plan.at, plan.datapath, plan.given)
    assert again.latency == plan.latency


@cache
def ways(robot: str, functions: str) -> Candidates:
    return Candidates(words(robot, functions), TARGET)


def test_what_reads_nothing_of_a_task_begins_with_it() -> None:
    b = Builder()
    x = b.input("x")
    template = Graph(("x",), {"y": b.mul(x, x)})
    first, second, third = visits = [Visit("square", (k,)) for k in range(3)]
    reads = {first: {"x": 0.5}, second: {"x": VisitResult(first, "y")}, third: {"x": "given"}}
    outputs = {f"y{k}": VisitResult(visit, "y") for k, visit in enumerate(visits)}
    word = Format(18, 16)
    words = FixedGraph(template, {"x": word}, dict.fromkeys(template.nodes, word), 18, {})
    made = instantiate(Program({"square": template}, reads, outputs), {"square": words})
    plan = in_rounds(made, TARGET, 4, 2)
    assert plan.at[first] == 0
    assert min(plan.at[second], plan.at[third]) > 0


def test_the_leanest_way_has_the_fewest_lanes() -> None:
    found = ways("iiwa14", "did").leanest(28, 156)
    assert found is not None
    assert (found.every, found.rounds * found.cycles) == (28, 28)
    made = words("iiwa14", "did")
    for rounds in (1, 2, 4, 7, 14):
        datapaths = datapaths_of(specialised(made, rounds), rounds)
        needs = jobs_of(datapaths, TARGET).multipliers(28 // rounds)
        assert needs > 156 or found.datapaths <= len(datapaths.copies)
    chosen = datapaths_of(specialised(made, found.rounds), found.rounds)
    assert len(chosen.copies) == found.datapaths
    assert jobs_of(chosen, TARGET).multipliers(found.cycles) == found.multipliers <= 156


def test_rounds_divide_the_interval_and_leave_time_to_gather() -> None:
    for every in range(1, 40):
        way = ways("iiwa14", "id").leanest(every, 1000)
        if every <= GATHERING:
            assert way is None
        else:
            assert way is not None
            assert way.rounds * way.cycles == way.every == every
            assert way.rounds + GATHERING <= every or way.cycles == 1


def test_rounds_of_one_cycle_are_taken_where_they_cost_less() -> None:
    """At 8 shared multipliers would take more than twice the products; at 16 hardly more."""
    own = ways("iiwa14", "did")
    way = own.leanest(8, 156)
    assert way is not None
    assert (way.rounds, way.cycles, way.multipliers) == (8, 1, 156)
    other = own.leanest(16, 156)
    assert other is not None
    assert (other.cycles, other.in_logic) == (2, 0)
    assert own.leanest(8, 50) is None  # more products would be in logic than in hardware


def test_products_in_logic_are_the_cheapest_and_have_registers_of_their_own() -> None:
    made = words("iiwa14", "did")
    free = in_rounds(made, TARGET, 8, 1, 1000)
    plan = in_rounds(made, TARGET, 8, 1, 100)
    styles = plan.template.binding.style
    logic = [node for node, style in styles.items() if style == "logic"]
    assert plan.multipliers == 100
    assert len(logic) == free.multipliers - 100

    def size(node: Node) -> int:
        a, b = (plan.fixed.formats[x].width for x in node.args)
        return a * b

    kept = [node for node, style in styles.items() if style == "dsp"]
    assert max(map(size, logic)) <= min(map(size, kept))
    for style, cycles in (("dsp", TARGET.dsp_latency), ("logic", 5 + LOGIC_PORT)):
        node = next(n for n, own in styles.items() if own == style)
        assert plan.template.takes[node] == cycles + plan.fixed.formats[node].rounded


def test_over_the_budget_there_is_none() -> None:
    own = ways("iiwa14", "did")
    free = own.leanest(28, 1000)
    assert free is not None
    assert own.leanest(28, free.multipliers) == free
    assert own.leanest(28, 1) is None


def test_a_larger_budget_is_never_slower() -> None:
    own = ways("iiwa14", "did")
    found = [own.soonest(budget) for budget in (10, 20, 40, 80, 156, 400)]
    for few, many in pairwise(found):
        assert many.every <= few.every
    for budget, way in zip((10, 20, 40, 80, 156, 400), found, strict=True):
        assert way.multipliers <= budget
        leanest = own.leanest(way.every, budget)
        assert leanest is not None
        assert leanest == way or (leanest.cycles, leanest.cost < way.cost) == (1, True)
        sooner = [own.leanest(every, budget) for every in range(1, way.every)]
        fewest = len(words("iiwa14", "did").templates)
        shared = [w for w in sooner if w and w.cycles > 1]
        assert all(w.datapaths > MOST_DATAPATHS * fewest for w in shared)


def test_a_budget_may_be_too_small_for_anything() -> None:
    own = ways("iiwa14", "did")
    with pytest.raises(ValueError, match=r"it takes at least \d+ hardware multipliers") as raised:
        own.soonest(1)
    least = int(str(raised.value).split()[4])
    assert own.soonest(least).multipliers <= least
    with pytest.raises(ValueError, match="at least"):
        own.soonest(least - 1)


def groups(text: str) -> Counter[str]:
    root = ET.fromstring(text)
    return Counter(g.findtext(f"{SVG}title", "") for g in root.iter(f"{SVG}g"))


def test_a_picture_has_every_visit(plan: RoundPlan) -> None:
    text = round_picture(plan, "joints & <turns>", NAMES)
    root = ET.fromstring(text)
    said = "\n".join(t.text or "" for t in root.iter(f"{SVG}text"))
    assert "joints & <turns>" in said
    assert f"latency {plan.latency} cycles" in said
    assert f"{plan.multipliers} hardware multipliers" in said
    assert f"initiation interval {plan.interval}" in said
    for datapath in plan.datapaths.copies:
        assert datapath.template.replace("_base", ", base") in said
    hints = groups(text)
    for visit, at in plan.at.items():
        joints = ", ".join(map(str, visit.key))
        assert hints[f"round {at}: {visit.template} {joints}"] == 1
    last = max(plan.at.values()) + 1
    shown = sum(len(range(at % plan.rounds, last, plan.rounds)) for at in plan.at.values())
    assert sum(n for hint, n in hints.items() if hint.startswith("round ")) == shown


def test_nothing_is_drawn_outside_the_page(plan: RoundPlan) -> None:
    root = ET.fromstring(round_picture(plan, "title", NAMES))
    width, height = (float(root.get(k, "nan")) for k in ("width", "height"))
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(k, "nan")) for k in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width + 0.05
        assert 0 <= y <= y + h <= height


def test_same_plan_same_picture() -> None:
    once = round_picture(planned("legs"), "title", NAMES)
    again = in_rounds(words("hyq", "did,m"), TARGET, 12, 3)
    assert round_picture(again, "title", NAMES) == once
