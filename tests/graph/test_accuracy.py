"""Errors by coordinate: by what each is itself, and what those are compared with that are 0."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.graph.accuracy import Accuracy
from rbdgen.graph.evaluate import Array


def found(exact: dict[str, Array], off: float) -> Accuracy:
    """All entries as far off, at the limits and at a tenth of them."""
    accuracy = Accuracy({})
    for scale, share in enumerate((1.0, 0.1)):
        own = {name: share * x for name, x in exact.items()}
        accuracy.add(scale, {name: x + off for name, x in own.items()}, own)
    return accuracy


def test_each_coordinate_by_its_own_size() -> None:
    signs = np.array([1.0, -1.0, 1.0, 1.0])
    errors = found({"tau[0]": 100 * signs, "tau[1]": 0.01 * signs}, 1e-3)
    assert errors.error("tau[0]", 0) == pytest.approx(1e-5)
    assert errors.error("tau[1]", 0) == pytest.approx(0.1)
    assert errors.error("tau[1]", 1) == pytest.approx(1.0)
    assert errors.absolute("tau[1]", 0) == pytest.approx((1e-3, 1e-3))


def test_a_coordinate_that_is_rounding_alone_by_the_largest_of_its_array() -> None:
    """As of gravity's effort at a vertical axis; its error is as much of nothing as one likes."""
    errors = found({"g[0]": np.full(4, 3e-15), "g[1]": np.full(4, 40.0)}, 4e-3)
    for scale, size in ((0, 40.0), (1, 4.0)):
        assert errors.size("g[0]", scale) == pytest.approx(size)
        assert errors.error("g[0]", scale) == pytest.approx(4e-3 / size)
        assert not errors.moves("g[0]", scale) and errors.moves("g[1]", scale)
