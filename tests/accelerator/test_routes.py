"""Where tasks go: every route ends, waits for what it visits, and finds its operands."""

from __future__ import annotations

import itertools

import pytest

from rbdgen.accelerator.routes import (
    AGAIN,
    CODES,
    HOST,
    LAST,
    NOTHING,
    RESULT,
    ROUTES,
    STAGES,
    WAITS,
    Source,
    origin,
    route,
    stage_of,
    traced,
    visits,
    words_taken,
)
from rbdgen.robot.choices import FUNCTIONS


def test_every_function_has_a_route() -> None:
    assert set(ROUTES) == set(CODES) == set(FUNCTIONS)
    assert len(set(CODES.values())) == len(CODES)


@pytest.mark.parametrize("function", FUNCTIONS)
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


def test_only_the_gradients_of_forward_dynamics_come_back() -> None:
    assert visits("dfd", STAGES)["rnea"] == 2
    assert AGAIN in ROUTES["dfd"]
    for function in set(FUNCTIONS) - {"dfd"}:
        assert max(visits(function, STAGES).values()) == 1


def test_operands_come_from_where_the_visit_says() -> None:
    assert origin("qdd[2]", "id", "rnea", {}) == Source(HOST, "u[2]")
    assert origin("qdd[2]", "dfd", "rnea", {}) == Source(NOTHING)
    assert origin("qdd[2]", "dfd", AGAIN, {}) == Source("forward", "qdd[2]")
    assert origin("Minv[2,1]", "difd", "product", {}) == Source(HOST, "Minv[2,1]")
    assert origin("Minv[2,1]", "dfd", "product", {}) == Source("inverse", "Minv[2,1]")
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
    words = ["q[0]", "qd[0]", "u[0]", "f_ext[0].nz", "Minv[0,0]"]
    taken = {function: words_taken(function, words) for function in FUNCTIONS}
    for a, b in itertools.pairwise(sorted(taken.values(), key=len)):
        assert b[: len(a)] == a
    assert taken["m"] == words[:1]
    assert taken["id"] == words[:4]
    assert taken["difd"] == words
