"""Work in several processes: results in order, each told once, errors raised."""

import math

import pytest

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
