"""Shipped designs with what is proven of them, made once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import front_end
from rbdgen.graph.evaluate import Interval
from rbdgen.graph.fixed import FixedGraph
from rbdgen.words.factor_bounds import PivotBounds
from rbdgen.words.input_domain import InputDomain
from rbdgen.words.proven_ranges import Proof, prove


@cache
def made(robot: str, function: str) -> tuple[FixedGraph, InputDomain, Proof, dict[str, Interval]]:
    """Words, the states that a search found largest in, what is proven, and within which limits."""
    words = FixedFunctions(front_end(robot, functions=(function,), width=18))
    ranges, fixed = words.whole
    given, _ = words.given.searched(fixed.graph)
    return fixed, given, prove(fixed, ranges.limits), dict(given.limits)


@cache
def made_with_pivot_bounds(
    robot: str, function: str
) -> tuple[FixedGraph, InputDomain, PivotBounds, Proof, dict[str, Interval]]:
    """The same, with what joints feel, of functions that divide by it."""
    front = front_end(robot, functions=(function,), width=18)
    words = FixedFunctions(front)
    ranges, fixed = words.whole
    given, _ = words.given.searched(fixed.graph)
    limits = dict(ranges.limits)
    return fixed, given, front.pivot_bounds, prove(fixed, limits, (), front.pivot_bounds), limits


def found_largest(given: InputDomain, every: int) -> Iterator[dict[str, float]]:
    """Every so many of the states that the search found."""
    n = len(next(iter(given.extremes.values())))
    for k in range(0, n, every):
        yield {name: float(values[k]) for name, values in given.extremes.items()}
