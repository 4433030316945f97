"""The energy models: watts from nJ, the table that ships, and what they say of real plans."""

from functools import cache

import pytest

from rbdgen.compile.accelerator_area import accelerator_features
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import energy_of
from rbdgen.design.clock import Span
from rbdgen.design.energy import BUSY, IDLE, EnergyEstimate, energy_error, fitted
from rbdgen.schedule.energy import TERMS


@cache
def estimated(interval: int, target: str = "ecp5-25f") -> EnergyEstimate | None:
    return energy_of(compile_front(front_end("pendulum", width=18, ii=interval, target=target)))


def test_watts_are_of_tasks_and_of_the_cycles_without_one() -> None:
    own = EnergyEstimate(Span(10.0, 5.0, 20.0), Span(1.0, 0.5, 2.0), interval=10)
    assert own.watts(100.0) == Span(*(pytest.approx(x) for x in (0.1, 0.05, 0.2)))
    half = own.watts(100.0, 5e6)
    assert half.about == pytest.approx(0.055) and half.most == pytest.approx(0.11)
    assert own.watts(100.0, 1e9) == own.watts(100.0)  # no more than there can be


def test_sharing_takes_more_energy_a_result() -> None:
    alone, shared = estimated(1), estimated(16)
    assert alone and shared and alone.nj.about < shared.nj.about
    assert alone.nj.least < alone.nj.about < alone.nj.most
    assert alone.idle.about < alone.nj.about
    # time-multiplexed joints rest, too
    joints = energy_of(compile_front(front_end("pendulum", width=18, ii=8, fold="joints")))
    assert joints and joints.idle.about < 0.5 * joints.nj.about


def test_other_families_have_no_model() -> None:
    assert estimated(4, "xcup") is None


@pytest.mark.parametrize("model", [BUSY, IDLE])
def test_the_table_that_ships(model: str) -> None:
    table, error = fitted(), energy_error(model)
    own = table["models"][model]
    assert min(own["coefficients"].values()) > 0 and own["coefficients"].keys() <= {*TERMS[model]}
    assert error.designs == len(table["designs"]) >= 30
    assert error.fit <= error.design < 0.3 and error.inside >= 0.8
    low, high = own["range"]
    assert 0 < low < 1 < high


def test_features_of_the_table_are_those_of_today() -> None:
    """The plan of a design that was counted has the features that stand beside its energy."""
    (one,) = (
        own for own in fitted()["designs"] if own["design"] == "pendulum --target ecp5-85f --ii 3"
    )
    made = compile_front(front_end("pendulum", ii=3, target="ecp5-85f"))
    counts = accelerator_features(made.accelerator)
    assert {name: count for name, count in counts.items() if count} == one["features"]
