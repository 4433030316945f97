"""The search over candidates: which is the best, and which are made at all."""

from __future__ import annotations

from collections.abc import Iterator

from rbdgen.compile.fitting import Candidate, Search
from rbdgen.design.design import Design


class Shop:
    """Candidates of these costs, called by their places, and which of them were made."""

    def __init__(self, *costs: int) -> None:
        self.costs, self.made = costs, list[int]()

    def __iter__(self) -> Iterator[Candidate[int, int]]:
        for place, cost in enumerate(self.costs):
            self.made.append(place)
            yield Candidate(Design("", ii=place + 1), cost, place)


def cost(one: Candidate[int, int]) -> int:
    return one.cost


def test_of_equal_ones_the_first_is_the_best() -> None:
    search = Search(Shop(3, 1, 2, 1), cost)
    assert search.best.made == 1
    assert [one.made for one in search.ranked] == [1, 3, 2, 0]
    assert [one.made for one in search.tried] == [0, 1, 2, 3]


def test_each_is_made_once_and_none_after_one_that_is_enough() -> None:
    shop = Shop(3, 2, 1, 0)
    search = Search(shop, cost, enough=lambda one: one.cost < 3)
    assert search.best.made == search.ranked[0].made == 1
    assert shop.made == [0, 1]
    nothing = Search(Shop(3, 2), cost, enough=lambda one: one.cost < 1)
    assert nothing.best.made == 1
