"""The front holds what nothing beats, and for all else something that does."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rbdgen.api.pareto import beats, front

COSTS = st.lists(st.tuples(*[st.integers(0, 5)] * 3), max_size=12)


@given(COSTS)
def test_front(costs: list[tuple[int, ...]]) -> None:
    on = [own for own, is_on in zip(costs, front(costs), strict=True) if is_on]
    off = [own for own, is_on in zip(costs, front(costs), strict=True) if not is_on]
    assert not any(beats(a, b) for a in on for b in on)
    assert all(any(beats(a, b) for a in on) for b in off)
    assert bool(on) == bool(costs)


@given(COSTS, st.randoms(use_true_random=False))
def test_order_does_not_matter(costs: list[tuple[int, ...]], random: Random) -> None:
    order = list(range(len(costs)))
    random.shuffle(order)
    assert front([costs[k] for k in order]) == [front(costs)[k] for k in order]


def test_by_hand() -> None:
    assert front([(1, 5), (2, 2), (5, 1), (2, 3), (2, 2)]) == [True, True, True, False, True]
