"""Where tasks go: every route ends, waits for what it visits, and finds its operands."""

from __future__ import annotations

import itertools

import pytest

from rbdgen.design import functions
from rbdgen.design.functions import GIVEN_BASE, NEEDS, ON_ACCELERATORS
from rbdgen.tasks.routes import (
    CODE,
    CODES,
    HOST,
    LAST,
    NOTHING,
    RESULT,
    ROLLOUTS,
    ROUTES,
    TOLD,
    TURN,
    WAITS,
    Source,
    StageVisit,
    origin,
    parse,
    route,
    traced,
    visit_counts,
    words_taken,
)

TRIG = StageVisit("trig")
STAGES = ("trig", "rnea", "mass", "inverse", "forward", "integrate", "gradient", "product")


def test_every_function_has_a_route() -> None:
    assert set(ROUTES) == {*ON_ACCELERATORS, *ROLLOUTS, *GIVEN_BASE}
    assert set(CODES) == set(NEEDS)
    assert all((CODES[name] < 1 << CODE) == (name in ROUTES) for name in CODES)
    assert set(ROLLOUTS) == set(functions.ROLLOUTS)
    assert len(set(CODES.values())) == len(CODES)


@pytest.mark.parametrize("function", [*ON_ACCELERATORS, *GIVEN_BASE])  # rollouts: below
def test_a_route_visits_everything_once_and_ends(function: str) -> None:
    leads = ROUTES[function]
    arrivals = [to for targets in leads.values() for to in targets]
    assert arrivals.count(RESULT) == 1
    assert sorted(map(str, arrivals)) == sorted(map(str, [*(leads.keys() - {TRIG}), RESULT]))
    assert {visit.stage for visit in leads} <= set(STAGES)
    for stage, waits in WAITS.items():  # else the task would stand there for ever
        assert StageVisit(stage) not in leads or StageVisit(waits) in leads
    assert RESULT in leads[StageVisit(LAST[function])]


@pytest.mark.parametrize("missing", [{"trig"}, {"mass"}, {"trig", "mass"}])
def test_a_stage_that_a_robot_has_no_use_for_is_passed_by(missing: set[str]) -> None:
    there = set(STAGES) - missing
    leads = route("did", there)
    assert leads[TRIG] == tuple(StageVisit(s) for s in ("rnea", "mass") if s in there)
    assert not {to.stage for targets in leads.values() for to in targets} & missing


@pytest.mark.parametrize("function", ROLLOUTS)
def test_a_rollout_goes_round_until_it_ends(function: str) -> None:
    leads = ROUTES[function]
    at, seen = {TRIG}, set()
    while at - seen:
        seen |= at
        at = {to for visit in seen for to in leads.get(visit, ())} - {RESULT}
    assert seen == leads.keys() - {
        parse("integrate_again")
    }  # told apart by the turn, not by the way
    assert all(RESULT in leads[visit] for visit in leads if visit.stage == LAST[function])
    # without sines a turn begins where a task does
    without = route(function, {"rnea", "mass", "inverse", "forward", "integrate"})
    again = parse("rnea_again"), parse("mass_again")
    assert without[StageVisit("integrate")] == (RESULT, *again)


def test_gradients_of_forward_dynamics_come_back_once() -> None:
    assert visit_counts("dfd", STAGES)["rnea"] == 2
    assert parse("rnea_again") in ROUTES["dfd"]
    assert visit_counts("rk4", STAGES)["rnea"] == 4
    for function in set(ON_ACCELERATORS) - {"dfd"}:
        assert max(visit_counts(function, STAGES).values()) == 1


def test_operands_come_from_where_the_visit_says() -> None:
    def of(field: str, function: str, visit: str, crossing: dict[str, str]) -> Source:
        return origin(field, function, parse(visit), crossing)

    assert of("qdd[2]", "id", "rnea", {}) == Source(HOST, "u[2]")
    assert of("qdd[2]", "dfd", "rnea", {}) == Source(NOTHING)
    assert of("qdd[2]", "dfd", "rnea_again", {}) == Source("forward", "qdd[2]")
    assert of("Minv[2,1]", "difd", "product", {}) == Source(HOST, "Minv[2,1]")
    assert of("Minv[2,1]", "dfd", "product", {}) == Source("inverse", "Minv[2,1]")
    assert of("qd[1]", "rk4", "rnea", {}) == Source(HOST, "qd[1]")
    assert of("qd[1]", "rk4", "rnea_again", {}) == Source("integrate", "qd[1]")
    assert of("qdd[1]", "rk4", "rnea_again", {}) == Source(NOTHING)
    assert of("qd[1]", "dfd", "rnea_again", {}) == Source(HOST, "qd[1]")
    assert of("q0[1]", "rk4", "integrate", {}) == Source(HOST, "q[1]")
    assert of("v[1]", "rk4", "integrate_again", {}) == Source("integrate", "qd[1]")
    assert of("av[1]", "rk4", "integrate", {}) == Source(NOTHING)
    assert of("last", "rk4", "integrate", {}) == Source(TURN, "last")
    assert of("qdd[2]", "nle", "rnea", {}) == Source(NOTHING)
    assert of("qd[1]", "nle", "rnea", {}) == Source(HOST, "qd[1]")
    assert of("qd[1]", "g", "rnea", {}) == of("f_ext[0].nx", "nle", "rnea", {}) == Source(NOTHING)
    assert of("bias[0]", "fd", "forward", {}) == Source("rnea", "tau[0]")
    assert of("tau[0]", "fd", "forward", {}) == Source(HOST, "u[0]")
    assert of("rnea.7", "did", "gradient", {"rnea.7": "rnea"}) == Source("rnea", "rnea.7")


def test_what_is_traced_has_every_stage() -> None:
    assert traced(("id",)) == ("id",)
    assert traced(("m",)) == ("m",)
    assert traced(("minv",)) == ("m", "minv")
    assert traced(("fd",)) == ("id", "m", "effort")
    assert traced(("difd",)) == ("id", "did", "difd")
    assert traced(ON_ACCELERATORS) == ("id", "m", "minv", "did", "difd", "effort")


def test_each_function_takes_the_first_words() -> None:
    words = ["q[0]", "qd[0]", "u[0]", "f_ext[0].nz", "steps[0]", "h[0]", "Minv[0,0]"]
    taken = {function: words_taken(function, words) for function in CODES}
    for a, b in itertools.pairwise(sorted(taken.values(), key=len)):
        assert b[: len(a)] == a
    assert taken["m"] == words[:1]
    assert taken["g"] == words[:1]
    assert taken["nle"] == words[:2]
    assert taken["id"] == words[:4]
    assert taken["rk4"] == words[:6]
    assert taken["difd"] == words


def test_a_given_base_brings_its_acceleration_in_place_of_its_effort() -> None:
    first, again = StageVisit("rnea"), StageVisit("rnea", again=True)
    forward, inverse = StageVisit("forward"), StageVisit("inverse")
    assert origin("qdd[5]", "dfd_given", first, {}) == Source(HOST, "u[5]")
    assert origin("qdd[5]", "dfd_given", again, {}) == Source(HOST, "u[5]")
    assert origin("qdd[6]", "dfd_given", again, {}) == Source("forward", "qdd[6]")
    assert origin("tau[6]", "fd_given", forward, {}) == Source(HOST, "u[6]")
    for word in ("tau[5]", "bias[5]"):
        assert origin(word, "fd_given", forward, {}) == Source(NOTHING)
    assert origin("root[0]", "minv_given", inverse, {}) == Source(TOLD)
    assert origin("root[0]", "minv", inverse, {}) == Source(NOTHING)
