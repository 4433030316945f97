"""The runner: cases in order, each row printed when it is measured, what is checked."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from rbdgen_benchmarks.bench.measurement import Measurement, Row, UnknownMeasurement, measurement

CASES = (("one", 1), ("three", 3), ("twelve", 12345))


def refused(found: list[dict[str, Any]]) -> None:
    if any(row["number"] == 3 for row in found):
        raise ValueError("three")


@measurement(
    "numbers",
    "no time",
    ("name", "number"),
    cases=lambda: CASES,
    legend="That is all.",
    page=True,
    check=refused,
    robots=lambda: {name for name, _ in CASES},
)
def numbers(place: Path, progress: Any, name: str, number: int) -> Iterator[Row]:
    """Names and numbers.

    Not many.
    """
    progress(name)
    yield [name, number]


def test_each_row_is_printed_when_it_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed: list[str] = []
    own = Measurement(**{**vars(numbers), "check": lambda _: None})
    found = own(tmp_path, lambda _: printed.append(capsys.readouterr().out))
    printed.append(capsys.readouterr().out)
    assert printed == [
        "",
        "name  number\n----  ------\none        1\n",
        "three       3\n",  # a column grows, and stays so
        "twelve   12345\n\nThat is all.\n",
    ]
    assert found == [{"name": name, "number": number} for name, number in CASES]
    page = (tmp_path / "numbers.md").read_text()
    assert page.startswith("| name | number |\n| --- | --- |\n| one | 1 |\n")
    assert page.endswith("\n\nThat is all.\n")
    assert own.about == "Names and numbers."


def test_only_some_and_the_check(tmp_path: Path) -> None:
    assert numbers(tmp_path, print, only=["twelve"]) == [{"name": "twelve", "number": 12345}]
    with pytest.raises(ValueError, match="three"):
        numbers(tmp_path, print)
    with pytest.raises(UnknownMeasurement, match='no robot "twelf" is measured'):
        numbers(tmp_path, print, only=["twelf"])


def test_a_text_that_a_case_returns_stands_below_the_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    @measurement("sums", "no time", ("name", "number"), cases=lambda: CASES[:2], legend="Sums.")
    def sums(place: Path, progress: Any, name: str, number: int) -> Generator[Row, None, str]:
        """Numbers and what is said of them."""
        yield [name, number]
        return f"{name} is {number}"

    assert [row["number"] for row in sums(tmp_path, print)] == [1, 3]
    assert capsys.readouterr().out.endswith("three       3\n\none is 1\nthree is 3\nSums.\n")
