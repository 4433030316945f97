"""The clock models: coefficients that a fit finds again, and a table that can be trusted."""

import numpy as np
import pytest

from rbdgen.design.clock import (
    NETLIST,
    PLAN,
    ClockEstimate,
    Sample,
    Span,
    clock_error,
    clock_estimates,
    fit,
    fitted,
    period,
)
from rbdgen.design.target import find_target


def test_a_fit_finds_what_made_the_samples() -> None:
    rng, true = np.random.default_rng(3), {"path": 2.5, "root of cells": 0.02}
    samples = []
    for k in range(12):
        terms = {"path": 1.0, "root of cells": rng.uniform(30, 200), "nothing": rng.uniform(0, 1)}
        samples.append(Sample(f"robot {k % 4}", terms, 1e3 / period(true, terms)))
    found = fit(samples, [*true, "nothing"])
    for name, value in true.items():
        assert found["coefficients"][name] == pytest.approx(value, rel=1e-3)
    assert found["error"]["design"] < 1e-3 and found["error"]["robot"] < 1e-3


def test_a_design_that_no_other_is_like_is_seen_where_it_is_left_out() -> None:
    samples = [Sample("a", {"path": 1.0}, 200.0)] * 9 + [Sample("b", {"path": 1.0}, 100.0)]
    error = fit(samples, ["path"])["error"]
    assert error["worst"] == pytest.approx(1.0, abs=0.01)
    assert error["robot"] >= error["design"] > error["fit"]


@pytest.mark.parametrize("model", [PLAN, NETLIST])
def test_the_table_that_ships(model: str) -> None:
    own = fitted()["models"][model]
    assert min(own["coefficients"].values()) > 0
    error = clock_error(model)
    placed = [one for one in fitted()["designs"] if one["speed"] == 8]
    netlists = [one for one in placed if "path" in one]
    assert error.designs == len(placed if model == PLAN else netlists)
    assert sum(len(one["clocks"]) >= 3 for one in placed) >= 5
    assert error.fit <= error.design < 0.2
    assert error.inside >= 0.8


def test_slower_grades_and_larger_designs_are_slower() -> None:
    part = find_target("ecp5-25f")
    small, large = (
        clock_estimates(part, PLAN, dict.fromkeys(fitted()["models"][PLAN]["coefficients"], size))
        for size in (1.0, 2.0)
    )
    assert [own.speed for own in small] == sorted(own.speed for own in small)
    assert small[0].mhz.about < small[-1].mhz.about
    assert all(a.mhz.about > b.mhz.about for a, b in zip(small, large, strict=True))
    assert all(own.mhz.least < own.mhz.about < own.mhz.most for own in small)


def test_no_clock_of_a_family_that_nothing_places() -> None:
    assert clock_estimates(find_target("xcup"), PLAN, {}) == ()


def test_times_of_a_clock() -> None:
    own = ClockEstimate(8, Span(200.0, 100.0, 400.0))
    assert own.us(100) == Span(0.5, 0.25, 1.0)
    assert own.rate(4) == Span(50.0, 25.0, 100.0)
    assert str(own) == "~200 MHz at speed 8 (100 to 400)"
    assert str(own.us(100)) == "~0.5 (0.25 to 1)"
