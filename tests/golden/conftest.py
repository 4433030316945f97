"""Arithmetic in these tests may not divide by zero, overflow or make NaN, even silently."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def strict_arithmetic() -> Iterator[None]:
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield
