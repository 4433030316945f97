"""Energies by toggles: ranges in their order, and the published figures that they rest on."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from rbdgen.design.wishes import Wishes
from rbdgen.tools import energy
from rbdgen.tools.energy import (
    NOTHING,
    Energy,
    EnergyReport,
    Range,
    power,
    power_verdict,
    powers_at,
    two_digits,
)
from rbdgen.tools.model import SPANS, Toggles
from rbdgen.tools.observed_netlist import (
    CARRIES,
    CLOCKS,
    FLIP_FLOPS,
    LUTS,
    OPERANDS,
    WRITES,
    ObservedNetlist,
)

KINDS = (FLIP_FLOPS, LUTS, CARRIES, OPERANDS, WRITES, CLOCKS)
NETLIST = ObservedNetlist(
    "", KINDS, ("a", "a", "b", "b", "b", "b"), (1, 2, 3, None, None, None), {"a": 7, "b": 1}, 12
)
# Watts of a chain of registers that all change at 100 MHz, at the plug of the board, without those
# in reset: github.com/targeted/fpga-reg-power, docs/power_data.ods. Part → registers and watts.
PUBLISHED = {"LFE5U-25F": (24288, 0.5579), "LFE5U-85F": (83640, 2.1021)}


def counted(busy: int, idle: int) -> Toggles:
    """So many changes of each bit, in ten cycles of each span."""
    each = dict(zip(SPANS, (0, busy, 0, idle), strict=True))
    rows = [[each[span]] * len(KINDS) for span in SPANS]
    return Toggles(np.array(rows, np.uint32), (10,) * len(SPANS))


def test_a_published_figure_from_the_other() -> None:
    """Within 10 % either way, by one number: what a register and tick takes. It proves little: a
    chain has hardly any wire, and this one has nothing but registers."""
    (own, watts), (other, others) = PUBLISHED.values()
    assert watts / own * other == pytest.approx(others, rel=0.10)
    assert others / other * own == pytest.approx(watts, rel=0.10)
    whole = energy.measured_sum()
    for registers, published in PUBLISHED.values():
        assert (
            whole.low * 1e-12 * registers * 1e8 < published < whole.high * 1e-12 * registers * 1e8
        )


def test_a_total_is_the_sum_of_its_terms_and_of_its_regions() -> None:
    terms, regions, nj, idle = energy.estimate(NETLIST, counted(5, 1), 4)
    assert nj.low < nj.central < nj.high
    events = {term.kind: term.events for term in terms}
    assert events[FLIP_FLOPS] == 2 and events["flip-flops clocked"] == 32
    tree = next(term.nj for term in terms if term.kind == "clock tree")
    whole = energy.total(own.nj for own in regions) + tree
    assert whole.central == pytest.approx(nj.central) and whole.high == pytest.approx(nj.high)
    assert idle.central < nj.central
    assert {own.region: own.toggles for own in regions} == {"a": 4.0, "b": 2.0}


def test_what_was_measured_is_a_sum_alone() -> None:
    """Of no event by itself, so no energy has that basis; at rest there is none of it."""
    terms, *_ = energy.estimate(NETLIST, counted(5, 1), 4)
    flip_flops = next(term for term in terms if term.kind == FLIP_FLOPS)
    share = energy.measured_share(terms)
    whole = energy.total(term.nj for term in terms)
    each = energy.measured_sum().central
    assert share == pytest.approx(2e-3 * each / whole.central, abs=1e-3)
    assert flip_flops.nj.central < 2e-3 * each and flip_flops.basis == "split of a measured sum"
    assert "measured on these parts" not in {own.basis for own in energy.energies().values()}
    still, *_ = energy.estimate(NETLIST, counted(0, 0), 4)
    assert energy.measured_share(still) == 0


def test_nothing_changes_at_rest_but_clocks() -> None:
    terms, _, _, idle = energy.estimate(NETLIST, counted(0, 0), 1)
    ticking = {"flip-flops clocked", "clock tree"}
    assert {term.kind for term in terms if term.events} == ticking
    assert idle == energy.total(term.nj for term in terms)


@pytest.mark.parametrize("name", energy.energies())
def test_more_for_an_event_is_more_in_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(energy.energies())
    *_, before, _ = energy.estimate(NETLIST, counted(5, 1), 1)
    own = known[name]
    assert own.range.low <= own.range.central <= own.range.high
    known[name] = Energy(own.range * 2.0, own.basis, own.source)
    monkeypatch.setattr(energy, "energies", lambda: known)
    *_, after, _ = energy.estimate(NETLIST, counted(5, 1), 1)
    assert after.low > before.low and after.central > before.central and after.high > before.high


def test_watts_of_few_tasks_are_those_without_any() -> None:
    nj, idle = Range(8, 10, 20), Range(1, 2, 3)
    full = power(nj, idle, 2, 100, None)
    assert full.rate == 50e6 and full.watts.central == pytest.approx(0.5)
    few = power(nj, idle, 2, 100, 1000)
    assert few.watts.central == pytest.approx(few.idle.central, rel=1e-3)
    assert few.task_nj.central == pytest.approx(few.watts.central * 1e6, rel=1e-6)
    assert power(nj, idle, 2, 100, 1e12) == full
    assert powers_at(nj, idle, 2, None, 1000) == ((), ())
    assert powers_at(nj, idle, 2, 100, None) == ((full,), ())
    assert powers_at(nj, idle, 2, 100, 1000) == ((full, few), ())
    more = "100 000 000 tasks/s are more than the core can do at 100 MHz: watts are of 50 000 000"
    assert powers_at(nj, idle, 2, 100, 1e8) == ((full,), (more,))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (9.65, "9.7"),
        (19.4, "19"),
        (123.4, "120"),
        (0.0456, "0.046"),
        (1234567, "1200000"),
    ],
)
def test_two_digits(value: float, said: str) -> None:
    assert two_digits(value) == said


def test_a_report_never_says_a_number_without_its_range() -> None:
    terms, regions, nj, idle = energy.estimate(NETLIST, counted(5, 1), 4)
    made = EnergyReport(
        *("core", "ecp5-85f", "LFE5U-85F", 300, 0, 4.0, 12, 8),
        *(tuple(terms), tuple(regions), nj, 0.1, idle, 0.1, 0.5, None, None),
        power=(power(nj, idle, 4, 100, None),),
    )
    assert EnergyReport.from_json(made.to_json()) == made
    lines = [line for line in str(made).splitlines() if re.search(r"\) (nJ|W)\b", line)]
    assert len(lines) == 3  # a result, without tasks, watts
    for line in lines:
        assert len(re.findall(r" (nJ|W)\b", line)) == len(re.findall(r"\(\S+ to \S+\)", line))
    assert "measured by us" in str(made) and "no board" in str(made)
    assert replace(made, nj=NOTHING).idle_share == 0


@pytest.mark.parametrize(
    ("watts", "rate", "mhz", "missed", "said"),
    [
        (None, 1e6, 100.0, False, ""),
        (4.0, None, 100.0, False, "wanted 4 W at most: reached, by the highest estimate (2.0 "),
        (3.9, None, 100.0, True, "wanted 3.9 W at most: MISSED, by the highest estimate"),
        (0.8, 1e6, 100.0, False, "at 100 MHz and 1 M tasks/s"),
        (0.5, 1e6, 100.0, True, "MISSED"),
        (1.0, None, None, False, "watts need a clock: add --frequency MHZ"),
    ],
)
def test_a_wished_power_is_judged_by_the_highest_estimate(
    watts: float | None, rate: float | None, mhz: float | None, missed: bool, said: str
) -> None:
    """200 nJ a result every 10 cycles, 20 nJ without a task; the high ends are twice that."""
    nj, idle = Range(100.0, 200.0, 400.0), Range(10.0, 20.0, 40.0)
    line, is_missed = power_verdict(Wishes(rate=rate, power=watts), nj, idle, 10.0, mhz)
    assert is_missed is missed and said in line and bool(line) == bool(said)
