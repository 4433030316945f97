"""Where tasks go: every route ends, waits for what it visits, and finds its operands."""

from __future__ import annotations

import itertools

import pytest

from rbdgen.design import choices
from rbdgen.design.choices import FUNCTIONS
from rbdgen.tasks.routes import (
    AGAIN,
    CODES,
    HOST,
    LAST,
    NOTHING,
    RESULT,
    ROLLOUTS,
    ROUTES,
    TURN,
    WAITS,
    Source,
    origin,
    route,
    stage_of,
    traced,
    visits,
    words_taken,
)

STAGES = ("trig", "rnea", "mass", "inverse", "forward", "integrate", "gradient", "product")


def test_every_function_has_a_route() -> None:
    assert set(ROUTES) == set(CODES) == {*FUNCTIONS, *ROLLOUTS}
    assert set(ROLLOUTS) == set(choices.ROLLOUTS)
    assert len(set(CODES.values())) == len(CODES)


@pytest.mark.parametrize("function", FUNCTIONS)  # rollouts: below
def test_a_route_visits_everything_once_and_ends(function: str) -> None:
    leads = ROUTES[function]
    arrivals = [to for targets in leads.values() for to in targets]
    assert arrivals.count(RESULT) == 1
    assert sorted(arrivals) == sorted([*(leads.keys() - {"trig"}), RESULT])
    assert {stage_of(visit) for visit in leads} <= set(STAGES)
    for stage, waits in WAITS.items():  # else the task would stand there for ever
        assert stage not in leads or waits in leads
    assert RESULT in leads[LAST[function]]


@pytest.mark.parametrize("missing", [{"trig"}, {"mass"}, {"trig", "mass"}])
def test_a_stage_that_a_robot_has_no_use_for_is_passed_by(missing: set[str]) -> None:
    there = set(STAGES) - missing
    leads = route("did", there)
    assert leads["trig"] == tuple(s for s in ("rnea", "mass") if s in there)
    assert not {to for targets in leads.values() for to in targets} & missing


@pytest.mark.parametrize("function", ROLLOUTS)
def test_a_rollout_goes_round_until_it_ends(function: str) -> None:
    leads = ROUTES[function]
    at, seen = {"trig"}, set()
    while at - seen:
        seen |= at
        at = {to for visit in seen for to in leads.get(visit, ())} - {RESULT}
    assert seen == leads.keys() - {f"integrate{AGAIN}"}  # told apart by the turn, not by the way
    assert all(RESULT in leads[visit] for visit in leads if stage_of(visit) == LAST[function])
    # without sines a turn begins where a task does
    assert route(function, {"rnea", "mass", "inverse", "forward", "integrate"})["integrate"] == (
        RESULT,
        f"rnea{AGAIN}",
        f"mass{AGAIN}",
    )


def test_gradients_of_forward_dynamics_come_back_once() -> None:
    assert visits("dfd", STAGES)["rnea"] == 2
    assert f"rnea{AGAIN}" in ROUTES["dfd"]
    assert visits("rk4", STAGES)["rnea"] == 4
    for function in set(FUNCTIONS) - {"dfd"}:
        assert max(visits(function, STAGES).values()) == 1


def test_operands_come_from_where_the_visit_says() -> None:
    assert origin("qdd[2]", "id", "rnea", {}) == Source(HOST, "u[2]")
    assert origin("qdd[2]", "dfd", "rnea", {}) == Source(NOTHING)
    assert origin("qdd[2]", "dfd", "rnea_again", {}) == Source("forward", "qdd[2]")
    assert origin("Minv[2,1]", "difd", "product", {}) == Source(HOST, "Minv[2,1]")
    assert origin("Minv[2,1]", "dfd", "product", {}) == Source("inverse", "Minv[2,1]")
    assert origin("qd[1]", "rk4", "rnea", {}) == Source(HOST, "qd[1]")
    assert origin("qd[1]", "rk4", "rnea_again", {}) == Source("integrate", "qd[1]")
    assert origin("qdd[1]", "rk4", "rnea_again", {}) == Source(NOTHING)
    assert origin("qd[1]", "dfd", "rnea_again", {}) == Source(HOST, "qd[1]")
    assert origin("q0[1]", "rk4", "integrate", {}) == Source(HOST, "q[1]")
    assert origin("v[1]", "rk4", "integrate_again", {}) == Source("integrate", "qd[1]")
    assert origin("av[1]", "rk4", "integrate", {}) == Source(NOTHING)
    assert origin("last", "rk4", "integrate", {}) == Source(TURN, "last")
    assert origin("bias[0]", "fd", "forward", {}) == Source("rnea", "tau[0]")
    assert origin("tau[0]", "fd", "forward", {}) == Source(HOST, "u[0]")
    assert origin("rnea.7", "did", "gradient", {"rnea.7": "rnea"}) == Source("rnea", "rnea.7")


def test_what_is_traced_has_every_stage() -> None:
    assert traced(("id",)) == ("id",)
    assert traced(("m",)) == ("m",)
    assert traced(("minv",)) == ("m", "minv")
    assert traced(("fd",)) == ("id", "m", "effort")
    assert traced(("difd",)) == ("id", "did", "difd")
    assert traced(FUNCTIONS) == ("id", "m", "minv", "did", "difd", "effort")


def test_each_function_takes_the_first_words() -> None:
    words = ["q[0]", "qd[0]", "u[0]", "f_ext[0].nz", "steps[0]", "h[0]", "Minv[0,0]"]
    taken = {function: words_taken(function, words) for function in CODES}
    for a, b in itertools.pairwise(sorted(taken.values(), key=len)):
        assert b[: len(a)] == a
    assert taken["m"] == words[:1]
    assert taken["id"] == words[:4]
    assert taken["rk4"] == words[:6]
    assert taken["difd"] == words
