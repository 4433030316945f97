"""The shortest words of one width that keep an error, for time-multiplexed joints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.compile.flow import compile_design, compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.design.coordinates import worst_share
from rbdgen.robot.model import RobotError
from rbdgen.words.precision import smallest_width
from rbdgen.words.wordlength import PrecisionError
from tests.support.word_errors import error_of

ERROR = 1e-4


@pytest.mark.parametrize(
    ("halving", "wanted", "width"),
    [(2.0, 1e-2, 18), (2.0, 1e-4, 22), (2.05, 1e-4, 22), (1.7, 1e-4, 23), (1.1, 1e-6, None)],
)
def test_smallest_width(halving: float, wanted: float, width: int | None) -> None:
    """The same as trying every width, with fewer tries, and none twice."""
    asked = []

    def error(bits: int) -> float:
        asked.append(bits)
        return 1e-3 / halving ** (bits - 18)

    found, tried = smallest_width(error, wanted, {18: 1e-3}, 18)
    each = [bits for bits in range(18, 33) if error(bits) <= wanted]
    assert found == width == min(each, default=None)
    searched = asked[:-15]
    assert len(searched) == len(set(searched)) and 18 not in searched
    assert set(tried) == {18, *searched}


def joints(robot: str, **choices: Any) -> Product:
    return compile_front(front_end(robot, fold="joints", **choices))


@pytest.mark.parametrize(("robot", "function"), [("iiwa14", "id"), ("pendulum", "fd")])
def test_the_shortest_words_that_keep_it(robot: str, function: str) -> None:
    """In states that no pass has seen; words of a bit less do not."""
    choices = {"functions": (function,), "ii": 24, "target": "xcup"}
    made = joints(robot, error=ERROR, **choices)
    said = re.search(r"error 0.0001 takes words of (\d+) bits", " ".join(made.notes))
    assert said is not None
    width = int(said[1])
    assert max(error_of(made, 11).values()) <= ERROR
    assert error_of(made, 11) == error_of(joints(robot, width=width, **choices), 11)
    assert max(error_of(joints(robot, width=width - 1, **choices), 11).values()) > 0.9 * ERROR


def test_it_is_simulated(tmp_path: Path) -> None:
    """Every bit, and the error that was promised."""
    choices = {"functions": ("id",), "fold": "joints", "ii": 6, "error": 1e-6, "target": "xcup"}
    place = api.generate("pendulum", tmp_path / "design", **choices)
    report = api.simulate(place, 500)
    assert report["bit_exact"] and report["overflows"] == 0 and report["promised"] == 1e-6
    assert 1e-7 < worst_share(report.facts.coordinates) <= 1e-6


def test_chosen_by_itself() -> None:
    """Where time-multiplexed joints that keep the error take much less logic."""
    choices = {"functions": ("id",), "ii": 24, "error": ERROR, "target": "xcup"}
    made = compile_design("iiwa14", **choices)
    assert made.plan.turns is not None and made.plan.turns.what == "joints"
    assert any("fewer LUTs" in note and "smaller errors" not in note for note in made.notes)


def test_what_no_words_keep() -> None:
    says = "error 1e-07 takes words of more than 32 bits where joints are time-multiplexed"
    with pytest.raises(PrecisionError, match=says):
        joints("iiwa14", functions=("fd",), ii=64, error=1e-7)


def test_not_in_an_accelerator() -> None:
    with pytest.raises(
        RobotError, match="error: time-multiplexed joints in an accelerator have words of"
    ):
        compile_design("gantry", fold="joints", ii=16, error=ERROR, accelerator=True)
