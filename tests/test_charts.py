"""Charts show what stands in tables: names, numbers, units, and where they are on the page."""

from xml.etree import ElementTree as ET

import pytest

from tests.charts import COLUMNS, FIRST, Chart, number_of, picture, rows_of, table_of

PAGE = """# Title

## Speed, of both

| robot | base | `ours` | peer |
|---|---|---|---|
| **arm** | fixed | 2.5 µs, 4 M/s | 5e1 |
| | floating | 4.5 k | - |
| [dog](dog.md) | fixed | none | |
"""


def chart(names: tuple[str, ...], numbers: tuple[str, ...]) -> Chart:
    return Chart("c.svg", "page.md", "speed-of-both", "title", names, numbers, "µs", False)


def test_rows_are_read() -> None:
    own = chart(("robot", "base"), ("ours = us", "peer"))
    rows = rows_of(table_of(PAGE, own.heading, own), own)
    assert rows == {"arm, fixed": {"us": 2.5, "peer": 50.0}, "arm, floating": {"us": 4500.0}}


def test_tables_are_turned_over() -> None:
    own = chart((COLUMNS,), ("arm #2 = fast",))
    assert rows_of(table_of(PAGE, own.heading, own), own) == {"ours": {"fast": 4.0}}


def test_what_is_not_there_is_an_error() -> None:
    own = chart((FIRST,), ("theirs",))
    with pytest.raises(LookupError, match="speed-of-both has no table of theirs"):
        table_of(PAGE, own.heading, own)


@pytest.mark.parametrize(
    ("cell", "name", "number"),
    [
        ("0.11 µs, 9.1 M/s", "Pinocchio {M/s}", 9.1),
        ("132, 26.3 k", "LUTs #2", 26300.0),
        ("8.3e-04 tau[5]", "worst", 8.3e-4),
        ("124 (4)", "latency", 124.0),
        ("-", "latency", None),
        ("12", "latency #2", None),
    ],
)
def test_numbers(cell: str, name: str, number: float | None) -> None:
    assert number_of(cell, name) == number


@pytest.mark.parametrize("cell", ["2.1 M", "2.1M tasks", "-3", "−3", "+3 µs", "4×10³", "1 G"])
def test_numbers_that_no_chart_knows(cell: str) -> None:
    with pytest.raises(LookupError, match=r"of .* no chart knows"):
        number_of(cell, "ours")


def test_two_rows_of_one_name_are_an_error() -> None:
    own = chart((FIRST,), ("ours",))
    rows = [["robot", "ours"], ["arm", "1"], ["", "2"]]
    with pytest.raises(LookupError, match="two rows called arm"):
        rows_of(rows, own)


def test_bars_are_in_proportion() -> None:
    page = ET.fromstring(picture("t", "ns", {"a": {"x": 1.0, "y": 4.0}, "b": {"x": 2.0}}, False))
    bars = [float(bar.get("width", "")) for bar in page.findall("{*}g/{*}rect")]
    assert bars == pytest.approx([bars[1] / 4, bars[1], bars[1] / 2], abs=0.1)


def test_dots_are_in_decades() -> None:
    page = ET.fromstring(picture("t", "ns", {"a": {"x": 1.0, "y": 10.0, "z": 100.0}}, True))
    first, second, third = (float(dot.get("cx", "")) for dot in page.findall("{*}g/{*}circle"))
    assert second - first == pytest.approx(third - second, abs=0.3)
