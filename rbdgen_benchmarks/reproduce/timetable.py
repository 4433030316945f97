"""When each vector operation of Lathrop's formulations can be done, processors without limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from rbdgen.dynamics.spatial import Operations
from rbdgen.graph.node import Region
from rbdgen.graph.visits import Visit
from rbdgen.system.records import Record

T = TypeVar("T")


class When(NamedTuple):
    """A point in time: so many multiplications and additions after the inputs."""

    multiplications: int = 0
    additions: int = 0

    @property
    def flops(self) -> int:
        return self.multiplications + self.additions


# One processor's time for each: a dot product is a product and two sums.
COSTS = {"mv": When(1, 2), "vc": When(1, 1), "va": When(0, 1), "sv": When(1, 0)}


@dataclass(frozen=True)
class Step(Record):
    """An operation of a timetable, in flops: one operation of one processor."""

    variable: str
    link: int
    operation: str
    start: int
    end: int


@dataclass
class Timetable:
    """Every operation as early as its operands are there; processors without limit."""

    steps: list[Step] = field(default_factory=list)
    still = When()
    _variable: str = ""
    _link: int = 0

    def __call__(self, _: Visit, region: Region, step: Callable[..., T], *args: Any) -> T:
        """A step of what is of a link, as a `Runner` is called."""
        self._link = region[1]
        return step(*args)

    @contextmanager
    def about(self, variable: str) -> Iterator[None]:
        self._variable = variable
        yield

    def mv(self, A: When, x: When) -> When:
        return self._after("mv", A, x)

    def mm(self, A: When, B: When) -> When:
        """Three columns at once."""
        for _ in range(2):
            self._after("mv", A, B)
        return self._after("mv", A, B)

    def vc(self, a: When, b: When) -> When:
        return self._after("vc", a, b)

    def va(self, a: When, b: When) -> When:
        return self._after("va", a, b)

    def sv(self, s: When | float, x: When) -> When:
        return self._after("sv", s, x)

    def dot(self, a: When, b: When) -> When:
        return self._after("mv", a, b)

    def transposed(self, A: When) -> When:
        return A

    def row(self, A: When, k: int) -> When:
        return A

    def along_z(self, s: When) -> When:
        return s

    def times(self, factor: float, s: When) -> When:
        return s

    def _after(self, operation: str, *ready: When | float) -> When:
        """Numbers are there from the start."""
        last = max(
            (x if isinstance(x, When) else When() for x in ready),
            key=lambda when: (when.flops, when),
        )
        cost = COSTS[operation]
        end = When(last.multiplications + cost.multiplications, last.additions + cost.additions)
        self.steps.append(Step(self._variable, self._link, operation, last.flops, end.flops))
        return end


_: type[Operations] = Timetable  # Lathrop's formulations run on it
