"""Lists in sentences, and progress in steps."""

import re
import threading

import pytest

from rbdgen.system.quoting import Steps, listed


@pytest.mark.parametrize(
    ("words", "text"),
    [(("a",), "a"), (("a", "b"), "a or b"), (("a", "b", "c"), "a, b or c")],
)
def test_the_last_two_are_joined_by_a_word(words: tuple[str, ...], text: str) -> None:
    assert listed(words, "or") == text


def test_steps_have_numbers_and_the_time_that_is_left() -> None:
    said: list[str] = []
    steps = Steps(said.append, ("map", "place", "pack"))
    steps.expected |= {"place": 200.0, "pack": 2.0}
    steps.begin("map")
    steps("twelve modules")
    steps.begin("place")
    assert said == [
        "step 1 of 3, map",
        "twelve modules",
        "step 2 of 3, place: about 200 s; about 202 s until the end",
    ]


def test_a_step_that_is_quiet_says_so() -> None:
    said, heard = [], threading.Event()

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 3:
            heard.set()

    with Steps(say, ("map", "place"), quiet=0.02) as steps:
        steps.expected["place"] = 0.0
        steps.begin("place")
        heard.wait(60)
    far = re.compile(r"step 2 of 2, place: \d+ s so far; about 0 s until the end")
    assert all(map(far.fullmatch, said[1:3])), said
