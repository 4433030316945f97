"""The search over candidates by which every choice of the compiler's is made.

A candidate is a design changed in some fields, with what it costs and what is said of it; a choice
is a list of candidates and their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from ..design.design import Design

Cost = TypeVar("Cost")
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Candidate(Generic[Cost, Made]):
    """A design that may be chosen, and what was made of it to know its ``cost``.

    ``note``: what is said of it beside others. ``inexact``: the coordinate that is off by too much
    for it to be chosen by itself; empty if none is.
    """

    design: Design
    cost: Cost
    made: Made
    note: str = ""
    inexact: str = ""


@dataclass(frozen=True, eq=False)
class Search(Generic[Cost, Made]):
    """Candidates, each made when it is asked for, and their ``order``, the least first.

    Of equal ones the first is the better. After one that is good ``enough`` no more are made.
    """

    candidates: Iterable[Candidate[Cost, Made]]
    order: Callable[[Candidate[Cost, Made]], Any]
    enough: Callable[[Candidate[Cost, Made]], bool] = lambda _: False

    @cached_property
    def tried(self) -> list[Candidate[Cost, Made]]:
        """The candidates that were made, in the order in which they came."""
        tried = []
        for one in self.candidates:
            tried.append(one)
            if self.enough(one):
                break
        return tried

    @property
    def ranked(self) -> list[Candidate[Cost, Made]]:
        """The candidates that were made, the best first."""
        return sorted(self.tried, key=self.order)

    @property
    def best(self) -> Candidate[Cost, Made]:
        """The best of them; there is one at least."""
        return min(self.tried, key=self.order)
