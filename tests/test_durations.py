"""The list of long tests names tests and fixtures that are there, and marks what asks for them."""

import re

import pytest

from tests.durations import LEAST, PLACE, ROOT, listed, names


def test_what_is_listed_is_there() -> None:
    """``make durations`` writes the list anew; a line whose test has another name is edited."""
    found = listed(PLACE.read_text())
    gone = []
    for name in found:
        file, *_, function = name.split("::")
        source = (ROOT / file).read_text() if (ROOT / file).is_file() else ""
        if not re.search(rf"^ *def {function}\(", source, re.MULTILINE):
            gone.append(name)
    assert not gone, f"{PLACE.name}: no such tests"
    assert list(found) == sorted(found)
    assert min(found.values()) >= LEAST


@pytest.mark.parametrize("number", [1, 2])
def test_names_of_a_test(number: int, request: pytest.FixtureRequest) -> None:
    """Its function for all parameters, and its fixtures wherever they may be defined."""
    found = names(request.node)
    here = "tests/test_durations.py"
    assert found >= {
        f"{here}::test_names_of_a_test",
        f"{here}::request",
        "tests/conftest.py::request",
    }
