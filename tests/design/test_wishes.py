"""Wishes as text, and what they make of a design's time."""

import pytest

from rbdgen.design.clock import Span
from rbdgen.design.wishes import Wishes, hertz, seconds, watts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3us", 3e-6),
        ("250 ns", 2.5e-7),
        ("1.5ms", 1.5e-3),
        ("2µs", 2e-6),
        ("2\u03bcs", 2e-6),
        ("2 US", 2e-6),
        (1e-6, 1e-6),
        (2, 2),
    ],
)
def test_times(text: object, value: float) -> None:
    assert seconds(text) == pytest.approx(value)


@pytest.mark.parametrize(("text", "value"), [("1MHz", 1e6), ("500 kHz", 5e5), (1e6, 1e6)])
def test_rates(text: object, value: float) -> None:
    assert hertz(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["", "us", "3", "3 furlongs", "-1us", "0", "1e400", "1.2.3us", "nan"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="expected a time such as 3us"):
        seconds(text)


def test_the_slow_end_of_a_range_counts() -> None:
    us, rate = Span(1.0, 0.8, 1.25), Span(4.0, 3.2, 5.0)
    assert Wishes(1.25e-6, 3.2e6).missed(us, rate) == {}
    assert Wishes(1.0e-6).missed(us, rate) == {"latency": pytest.approx(1.25)}
    assert Wishes(None, 4e6).missed(us, rate) == {"rate": pytest.approx(1.25)}
    assert not Wishes() and Wishes(rate=1.0)
    assert Wishes(0.8e-6, 5e6).surely_missed(us, rate) == {}
    assert Wishes(0.4e-6, 4e6).surely_missed(us, rate) == {"latency": pytest.approx(2)}


def test_verdicts() -> None:
    own = Wishes(2e-6, 1e6)
    assert own.verdict(1.0, 1.22) == (
        "wanted a result within 2 µs and 1 M tasks/s: reached, 22 % to spare (1 µs, 1.22 M tasks/s "
        "of the core)"
    )
    assert "MISSED by 50 %" in own.verdict(3.0, 2.0)


@pytest.mark.parametrize(("text", "value"), [("1W", 1.0), ("200 mW", 0.2), ("5uW", 5e-6), (2, 2.0)])
def test_powers(text: object, value: float) -> None:
    assert watts(text) == pytest.approx(value)


def test_a_power_is_missed_by_the_highest_estimate() -> None:
    us, rate = Span(1.0, 0.8, 1.25), Span(4.0, 3.2, 5.0)
    own = Wishes(power=0.5)
    assert own and own.missed(us, rate, Span(0.2, 0.1, 0.5)) == {}
    assert own.missed(us, rate, Span(0.2, 0.1, 1.0)) == {"power": 2.0}
    assert own.surely_missed(us, rate, Span(1.0, 0.5, 2.0)) == {}
    assert own.missed(us, rate) == {}  # where no energy is known
    said = own.verdict(1.0, 4.0)  # of a placement
    assert said.startswith("wanted 0.5 W at most; rbdgen energy estimates watts (1 µs")
