"""How long tests take: ``make durations`` measures, tests/durations.txt keeps.

A line for each test function of ``make test``, and for each fixture that several tests share, that
takes a second or more of processor time: its own and that of processes it starts, so that a busy
machine measures nearly what an idle one does. A function's seconds are those of all its parameters
together, without those of the fixtures that it shares. ``make fast`` leaves out what is listed, and
what asks for a fixture that is listed.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "tests/durations.txt"
LEAST = 1.0  # seconds


def listed(text: str) -> dict[str, float]:
    """The seconds of each name, as ``tests/folder/test_file.py::function``."""
    lines = (line.split() for line in text.splitlines())
    return {name: float(seconds) for seconds, name in lines}


def names(item: pytest.Item) -> set[str]:
    """The test's function, and all that the fixtures it asks for may be called in the file."""
    file = item.nodeid.partition("::")[0]
    places = (file, *(f"{folder}/conftest.py" for folder in Path(file).parents))
    fixtures = getattr(item, "fixturenames", ())
    return {
        function_of(item.nodeid),
        *(f"{place}::{name}" for place in places for name in fixtures),
    }


def function_of(test: str) -> str:
    return test.partition("[")[0]


def spent() -> float:
    """Seconds of processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


class Stopwatch:
    """A plugin that measures; the fixtures that others share are not counted to who asks first."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.shared = 0.0  # in fixtures of the test that runs

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.shared, start = 0.0, spent()
        result = yield
        self.seconds[function_of(item.nodeid)] += spent() - start - self.shared
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        start = spent()
        result = yield
        if fixturedef.scope != "function":
            place = fixturedef.baseid.removesuffix("/")
            file = place if place.endswith(".py") else f"{place}/conftest.py"
            self.seconds[f"{file}::{fixturedef.argname}"] += spent() - start
            self.shared += spent() - start
        return result


def main(arguments: list[str]) -> int:
    """Measure the tests that the arguments choose; others keep their lines."""
    stopwatch = Stopwatch()
    status = pytest.main(["-q", "-m", "not slow", *arguments], plugins=[stopwatch])
    if status:
        return int(status)
    found = (listed(PLACE.read_text()) if PLACE.exists() else {}) | stopwatch.seconds
    long = sorted(name for name, seconds in found.items() if seconds >= LEAST)
    PLACE.write_text("".join(f"{found[name]:6.1f} {name}\n" for name in long))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
