"""Work in new processes: results in order, errors raised, one that is ended from outside told."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rbdgen.system.workers import WorkerError, cores, in_workers

SCRIPT = """
import math
from rbdgen.system.workers import in_workers
print(in_workers(math.gcd, [(12, 18), (7, 5)], 2))
"""


@pytest.mark.parametrize("workers", [1, 2, 9])
def test_results_come_in_order(workers: int) -> None:
    inputs = [(12, 18), (7, 5), (9, 6)]
    assert in_workers(math.gcd, inputs, workers) == [6, 1, 3]
    assert in_workers(math.gcd, [], workers) == []


def test_each_process_keeps_its_own_work() -> None:
    """What a method changes of its object is there for the next input, and nowhere else."""
    numbers = [3, 1, 2]
    assert in_workers(numbers.pop, [(), (), ()], 1) == [2, 1, 3]
    numbers = [3, 1, 2]
    popped = in_workers(numbers.pop, [(), (), ()], 2)
    assert set(popped) <= {1, 2, 3} and popped[0] == 2
    assert numbers == [3, 1, 2]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_raised(workers: int) -> None:
    with pytest.raises(ValueError, match="math domain error"):
        in_workers(math.sqrt, [(4.0,), (-1.0,), (9.0,)], workers)


def test_a_process_that_ends_is_an_error() -> None:
    with pytest.raises(WorkerError, match="ended with status 3"):
        in_workers(os._exit, [(3,), (3,)], 2)


def test_what_work_prints_is_no_result(capfd: pytest.CaptureFixture[str]) -> None:
    assert in_workers(print, [("one",), ("two",)], 2) == [None, None]
    out, err = capfd.readouterr()
    assert not out and sorted(err.split()) == ["one", "two"]


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[6, 1]\n", "")


def test_cores() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)
