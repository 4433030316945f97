"""Records: to JSON and back, and what is said of data that is none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from rbdgen.system.records import NoRecord, Record


@dataclass(frozen=True)
class Word(Record):
    name: str
    width: int
    turns: int | None = None


@dataclass(frozen=True)
class Channel(Record):
    LAST = ("bits", "depth")

    from_: str
    words: tuple[Word, ...]
    depth: float
    by_name: Mapping[str, Word]
    clock: float | None
    choices: Mapping[str, Any]
    pairs: tuple[tuple[str, ...], ...] = ()
    clocks: int | Mapping[str, int] | None = None

    @property
    def bits(self) -> int:
        return sum(word.width for word in self.words)


WORD = {"name": "q[0]", "width": 18}
DATA: dict[str, Any] = {
    "from": "forward",
    "words": [WORD, {"name": "sin[0]", "width": 17, "turns": 2}],
    "by_name": {"q[0]": WORD},
    "clock": None,
    "choices": {"ii": 4, "gravity": [0.0, 0.0]},
    "pairs": [["a", "b"], []],
    "bits": 35,
    "depth": 3,
}


def test_there_and_back() -> None:
    channel = Channel.from_json(DATA)
    assert (channel.from_, channel.words[1].turns) == ("forward", 2)
    assert channel.pairs == (("a", "b"), ())
    assert json.dumps(channel.to_json()) == json.dumps(DATA)  # in the same order
    assert Channel.from_json(channel.to_json()) == channel


def test_what_may_be_missing_and_what_is_more() -> None:
    less = {key: value for key, value in DATA.items() if key not in ("pairs", "bits")}
    channel = Channel.from_json({**less, "of a later version": 1})
    assert channel.pairs == ()
    assert "turns" not in channel.to_json()["words"][0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"from": 3}, "from: '3', which is no str"),
        ({"clock": "fast"}, "clock: 'fast', which is no float"),
        ({"depth": True}, "depth: 'True', which is no float"),
        ({"words": "q"}, "words: 'q', which is no tuple"),
        ({"words": [WORD, {"name": "q[1]"}]}, "no words[1].width"),
        ({"by_name": {"a": {**WORD, "width": 18.5}}}, "by_name.a.width: '18.5', which is no int"),
        ({"by_name": {"a": []}}, "by_name.a: not an object"),
        ({"choices": None}, "choices: 'None', which is no Mapping"),
        ({"clock": float("nan")}, "clock: 'nan': a number that is not finite"),
        ({"depth": float("-inf")}, "depth: '-inf': a number that is not finite"),
        (
            {"choices": {"gravity": [0.0, float("inf")]}},
            "choices.gravity: '[0.0, inf]': a number that is not finite",
        ),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(NoRecord) as error:
        Channel.from_json({**DATA, **changes})
    assert str(error.value) == said


def test_what_is_missing_is_named() -> None:
    with pytest.raises(NoRecord, match=r"^no words$"):
        Channel.from_json({key: value for key, value in DATA.items() if key != "words"})
    with pytest.raises(NoRecord, match="all of it: not an object"):
        Channel.from_json([])


@pytest.mark.parametrize("clocks", [3, {"id": 3}])
def test_the_first_type_that_fits(clocks: Any) -> None:
    found = Channel.from_json({**DATA, "clocks": clocks})
    assert found.clocks == clocks and found.to_json()["clocks"] == clocks


@pytest.mark.parametrize(
    ("clocks", "said"), [("3", "clocks: '3'"), ({"id": "3"}, "clocks.id: '3'")]
)
def test_no_type_that_fits(clocks: Any, said: str) -> None:
    with pytest.raises(NoRecord, match=re.escape(said)):
        Channel.from_json({**DATA, "clocks": clocks})
