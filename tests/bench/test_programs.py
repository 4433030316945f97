"""C++ of robots that others have made, beside the golden model."""

import pytest

from rbdgen.bench.programs import TOGETHER, _row, example_robots
from rbdgen.design.choices import FUNCTIONS


def test_every_function_of_many_robots() -> None:
    assert sum(TOGETHER, ()) == tuple(sorted(FUNCTIONS, key=sum(TOGETHER, ()).index))
    assert len(list(example_robots())) > 60


@pytest.mark.slow
def test_a_robot_is_right() -> None:
    (path,) = (file for file in example_robots() if file.stem == "double_pendulum_simple")
    difference, array, _, verdict = _row(str(path), "fixed", ("id", "m"))
    assert verdict == "right" and array in ("tau", "M") and float(difference) < 1e-12
