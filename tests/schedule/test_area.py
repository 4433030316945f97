"""The area model: coefficients that a fit finds again, and a table that can be trusted."""

import numpy as np
import pytest

from rbdgen.design.target import counted
from rbdgen.schedule.area import (
    QUANTITIES,
    NoModel,
    Sample,
    estimated,
    fit,
    fitted,
    model_error,
    quantities,
)
from rbdgen.schedule.features import NAMES

FAMILIES = ("ecp5", "xcup", "gowin", "nexus")


def test_a_fit_finds_what_made_the_samples() -> None:
    rng = np.random.default_rng(3)
    true = {
        quantity: dict(zip(names, rng.uniform(0.2, 3, len(names)), strict=True))
        for quantity, names in QUANTITIES.items()
    }
    samples: list[Sample] = []
    for k in range(60):
        own = {name: int(rng.integers(1000, 50_000)) for name in NAMES}
        sites = {
            quantity: round(sum(each * own[name] for name, each in coefficients.items()))
            for quantity, coefficients in true.items()
        }
        sites["luts"] = sites["logic"] + sites["memory"]
        samples.append((f"design {k}", own, sites))
    found = fit("ecp5", samples)
    for quantity, coefficients in true.items():
        for name, value in coefficients.items():
            assert found["coefficients"][quantity][name] == pytest.approx(value, rel=0.02)
    assert found["error"]["luts"]["worst"] < 1e-3
    assert found["error"]["luts"]["left_out"] < 1e-3


@pytest.mark.parametrize("family", FAMILIES)
def test_the_table_that_ships(family: str) -> None:
    own = fitted()["families"][family]
    for quantity, coefficients in own["coefficients"].items():
        assert coefficients and set(coefficients) <= set(quantities(family)[quantity])
        assert min(coefficients.values()) > 0
    # the errors are those of the designs that the table lists
    off = [d["luts"]["estimated"] / d["luts"]["mapped"] - 1 for d in own["designs"]]
    assert model_error(family).rms == pytest.approx(np.sqrt(np.mean(np.square(off))), abs=1e-3)
    assert model_error(family).worst == pytest.approx(np.abs(off).max(), abs=1e-3)
    assert model_error(family).rms < 0.1


@pytest.mark.parametrize("family", FAMILIES)
def test_more_of_anything_never_takes_less(family: str) -> None:
    rng = np.random.default_rng(5)
    some = {name: int(rng.integers(0, 5000)) for name in NAMES}
    before = estimated(family, some)
    assert min(estimated(family, dict.fromkeys(NAMES, 0)).values()) == 0
    for name in NAMES:
        after = estimated(family, {**some, name: some[name] + 1000})
        assert all(after[quantity] >= before[quantity] for quantity in before)
    more = {**some, "sums": some["sums"] + 10, "sum_bits": some["sum_bits"] + 180}
    assert estimated(family, more)["luts"] > before["luts"]


def test_sites() -> None:
    """The write port of a LUT-RAM takes LUTs too, and in a Gowin part the flip-flops beside."""
    cells = {"LUT4": 10, "CCU2C": 7, "TRELLIS_DPR16X4": 3, "TRELLIS_FF": 5, "DP16KD": 2}
    found = counted("ecp5", cells)
    assert found["luts"] == 10 + 2 * 7 + 6 * 3
    assert (found["flip_flops"], found["block_rams"], found["multipliers"]) == (5, 2, 0)
    gowin = counted("gowin", {"LUT4": 4, "LUT1": 1, "ALU": 7, "DFFRE": 5, "RAM16SDP4": 2})
    assert (gowin["luts"], gowin["memory"], gowin["flip_flops"]) == (4 + 1 + 7 + 16, 16, 5 + 12)


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(NoModel, match="no area model of xc7"):
        estimated("xc7", dict.fromkeys(NAMES, 1))
