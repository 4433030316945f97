"""C++ of robots that others have made, beside the golden model."""

from pathlib import Path
from typing import Any

import pytest

from rbdgen.design.functions import WHOLE
from rbdgen_benchmarks.bench import programs
from rbdgen_benchmarks.bench.measurement import UnknownMeasurement
from rbdgen_benchmarks.bench.programs import CHOICES, TOGETHER, example_robots


def test_every_function_of_many_robots() -> None:
    assert sum(TOGETHER, ()) == tuple(sorted(WHOLE, key=sum(TOGETHER, ()).index))
    assert len(list(example_robots())) > 60
    assert CHOICES.keys() <= {file.stem for file in example_robots()}


@pytest.mark.slow
def test_a_robot_is_right_and_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file,) = (file for file in example_robots() if file.stem == "double_pendulum_simple")
    monkeypatch.setattr(programs, "TOGETHER", (("id", "m"),))
    found = programs.programs(tmp_path, lambda _: None, [file.stem])
    assert [row["verdict"] for row in found] == ["right", "right"]
    assert all(0 < row["apart"][name] < 1e-12 for row in found for name in ("tau", "M"))

    def no(*given: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(programs, "_found", no)
    assert programs.programs(tmp_path, lambda _: None, [file.stem]) == found


def test_a_robot_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnknownMeasurement, match=r'^--only: no robot "z2" is measured'):
        programs.programs(tmp_path, lambda _: None, ["z2"])
