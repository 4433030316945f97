"""Which parameters of a test are of ``make test``, and which take the time of ``make test-all``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pytest


def fast_at(places: Collection[int], values: Sequence[Any]) -> list[Any]:
    """The values as parameters, which are slow but at these places."""
    return [value if k in places else slow(value) for k, value in enumerate(values)]


def slow(value: Any) -> Any:
    """A parameter, or several in a tuple, for ``make test-all``."""
    if isinstance(value, type(pytest.param())):
        return pytest.param(*value.values, id=value.id, marks=pytest.mark.slow)
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
