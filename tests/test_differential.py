"""Random designs say the same through all exits, or are refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential import EXITS, Outcome, examine, summary
from tests.support.drawn_designs import FUNCTIONS, SHARINGS, dealt, drawn

SEED, DESIGNS = 1, 24  # each function once, and each way to share hardware twice
TOGETHER = 8  # designs of a test: the last keeps whatever choices it was dealt


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, DESIGNS, TOGETHER))
def test_designs_say_the_same_through_all_exits(first: int, tmp_path: Path) -> None:
    outcomes: list[Outcome] = []
    for number in range(first, first + TOGETHER):
        (folder := tmp_path / str(number)).mkdir()
        outcomes.append(examine(SEED, number, folder))
        assert not outcomes[-1].difference, f"--seed {SEED} --only {number}: {outcomes[-1]}"
    said = summary(outcomes)
    assert sum("verilog" in own.checked for own in outcomes) > len(outcomes) / 2, said
    for name in EXITS:
        assert sum(name in own.checked for own in outcomes) > len(outcomes) / 4, said


def test_a_design_says_the_same_through_all_exits(tmp_path: Path) -> None:
    outcome = examine(SEED, 9, tmp_path)
    assert not outcome.difference and not outcome.refused, outcome
    assert outcome.checked == [*EXITS]


@pytest.mark.parametrize("values", [FUNCTIONS, SHARINGS], ids=["functions", "sharings"])
def test_every_value_is_dealt_equally_often(values: tuple[object, ...]) -> None:
    for start in (0, len(values)):
        places = range(start, start + len(values))
        found = [dealt("own", range(len(values)), 5, number) for number in places]
        assert sorted(found) == [*range(len(values))]
    assert found != [dealt("other", range(len(values)), 5, number) for number in places]


def test_a_number_has_one_design(tmp_path: Path) -> None:
    first, again = (drawn(2, 3, tmp_path) for _ in range(2))
    assert first.choices == again.choices and str(first) == str(again)
    assert first.choices != drawn(3, 3, tmp_path).choices
