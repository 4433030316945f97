"""The clock models: coefficients that a fit finds again, and a table that can be trusted."""

import numpy as np
import pytest
from scipy.stats import t

from rbdgen.design.clock import (
    NETLIST,
    PLAN,
    ROOT,
    ClockEstimate,
    GradeRatio,
    Span,
    clock_error,
    clock_estimates,
    fit,
    fitted,
    unfitted_speeds,
)
from rbdgen.design.least_squares import Sample, value_of
from rbdgen.design.target import find_target
from rbdgen.draw.clocks import of_model

TERMS = {ROOT: 50.0, "reciprocals": 0.0}


def test_a_fit_finds_what_made_the_samples() -> None:
    rng, true = np.random.default_rng(3), {"path": 2.5, "root of cells": 0.02}
    samples = []
    for k in range(12):
        terms = {"path": 1.0, "root of cells": rng.uniform(30, 200), "nothing": rng.uniform(0, 1)}
        samples.append(Sample(f"robot {k % 4}", terms, value_of(true, terms)))
    found = fit(samples, [*true, "nothing"])
    for name, value in true.items():
        assert found["coefficients"][name] == pytest.approx(value, rel=1e-3)
    assert found["error"]["design"] < 1e-3 and found["error"]["robot"] < 1e-3


def test_a_design_that_no_other_is_like_is_seen_where_it_is_left_out() -> None:
    own = {"path": 1.0, ROOT: 40.0}
    samples = [Sample("a", own, 5.0)] * 9 + [Sample("b", own, 10.0)]
    found = fit(samples, ["path"])
    error = found["error"]
    assert found["cells"] == [1600, 1600]
    assert error["worst"] == pytest.approx(1.0, abs=0.01)
    assert error["robot"] >= error["design"] > error["fit"]


def test_the_range_of_a_design_is_that_of_the_others() -> None:
    own = {"path": 1.0, ROOT: 40.0}
    samples = [Sample(str(k), own, 5.0 if k else 10.0) for k in range(10)]
    assert fit(samples, ["path"])["error"]["inside"] == 0.9


def test_an_error_takes_three_designs() -> None:
    with pytest.raises(ValueError, match="2 designs: at least 3"):
        fit([Sample("a", {ROOT: 9.0}, 10.0)] * 2, [ROOT])


def test_a_ratio_of_few_designs_is_uncertain() -> None:
    few, many = GradeRatio.of([1.2, 1.4]), GradeRatio.of([1.2, 1.4] * 20)
    assert few.about == many.about == 1.3
    assert few.off == pytest.approx(0.2 / 2**0.5 / 1.3 * 1.5**0.5, abs=1e-4)
    assert many.off < few.off and (few.designs, many.designs) == (2, 40)


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
    assert error.inside >= 0.9
    assert error.spread == pytest.approx(t.ppf(0.95, error.designs), abs=1e-3)  # nine in ten


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
    # what is known by a ratio alone is known less well
    wide = [(own.mhz.most - own.mhz.least) / own.mhz.about for own in small]
    assert wide[0] > wide[-1]


def test_a_design_unlike_those_that_were_placed() -> None:
    """Of 100 000 cells, or of 100: each says which the model has seen."""
    part, own = find_target("ecp5-85f"), fitted()["models"][PLAN]
    for size, beyond in ((100_000, True), (100, True), (own["cells"][1], False)):
        terms = dict.fromkeys(own["coefficients"], 1.0) | {ROOT: size**0.5}
        for found in clock_estimates(part, PLAN, terms):
            assert bool(found.beyond) == beyond
            assert not beyond or found.beyond.startswith(f"{size} cells, where the model was")


def test_a_grade_that_was_not_placed_is_said() -> None:
    part = find_target("ecp5-25f")
    known = [own.speed for own in clock_estimates(part, PLAN, {"path": 1.0, **TERMS})]
    unknown = unfitted_speeds(part)
    assert sorted([*known, *unknown]) == sorted(part.speeds)
    assert all(f"not known at speed {speed}" in of_model(part.name) for speed in unknown)
    assert "at speed 6 by a ratio of 2 designs" in of_model(part.name)
    assert unfitted_speeds(find_target("xcup")) == []


def test_no_clock_of_a_family_that_nothing_places() -> None:
    assert clock_estimates(find_target("xcup"), PLAN, {}) == ()


def test_times_of_a_clock() -> None:
    own = ClockEstimate(8, Span(200.0, 100.0, 400.0))
    assert own.us(100) == Span(0.5, 0.25, 1.0)
    assert own.rate(4) == Span(50.0, 25.0, 100.0)
    assert str(own) == "~200 MHz at speed 8 (100 to 400)"
    assert str(own.us(100)) == "~0.5 (0.25 to 1)"
