"""Work in several processes: results in order, each told once, errors raised."""

import math
import signal
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from rbdgen.api import parallel
from rbdgen.api.parallel import in_parallel


@pytest.mark.parametrize("jobs", [1, 2])
def test_in_parallel(jobs: int) -> None:
    told: dict[int, int] = {}
    inputs = [(12, 18), (7, 5), (9, 6)]
    assert in_parallel(math.gcd, inputs, jobs, told.__setitem__) == [6, 1, 3]
    assert told == {0: 6, 1: 1, 2: 3}
    with pytest.raises(ValueError, match="math domain error"):
        in_parallel(math.sqrt, [(-1.0,), (4.0,)], jobs, lambda *_: None)
    assert in_parallel(math.sqrt, [], jobs, lambda *_: None) == []


def test_an_interruption_waits_for_what_is_half_made(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: list[bool] = []

    class Pool(ProcessPoolExecutor):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            signal.raise_signal(signal.SIGINT)
            super().__init__(*arguments, **options)
            whole.append(True)

    monkeypatch.setattr(parallel, "ProcessPoolExecutor", Pool)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            in_parallel(math.sqrt, [(1.0,), (4.0,)], 2, lambda *_: pytest.fail("it went on"))
    finally:
        signal.signal(signal.SIGINT, before)
    assert whole == [True]
