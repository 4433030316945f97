"""Prefix networks over the depth of a tree, and sums over its subtrees, in logarithmic depth.

A network says which places of a row are combined level by level until place d holds what the
places 0 … d make together. Whatever reads smaller places only works unchanged on a tree, with
"place e" of a body = its ancestor at depth e: a path from the root is a row, and paths share their
trunk.

Sklansky (1960): fewest levels, some results read by many; Kogge and Stone (1973): as few levels,
each result read twice, more combinations; Brent and Kung (1982): fewest combinations, nearly twice
the levels. Sums go by threes: y_d = x_d + x_(d-s) + x_(d-2s), s = 1, 3, 9 …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from .scalars import Vector

Item = TypeVar("Item")
Level = Mapping[
    int, tuple[int, ...]
]  # place → the smaller places that it is combined with, in order
Add = Callable[[int, Vector, Vector], Vector]  # of a body, and two vectors

BY_THREES, ONE_BY_ONE = "threes", "serial"
NETWORKS = ("sklansky", "kogge-stone", "brent-kung")


def levels(network: str, places: int) -> Iterator[Level]:
    """The network's levels; within one, all places are read before any is written.

    One of `NETWORKS`, `BY_THREES`, or `ONE_BY_ONE`, which has a level for each place.
    """
    match network:
        case "sklansky":
            return _sklansky(places)
        case "kogge-stone":
            return _kogge_stone(places)
        case "brent-kung":
            return _brent_kung(places)
        case "threes":
            return _by_threes(places)
        case "serial":
            return ({d: (d - 1,)} for d in range(1, places))
    raise ValueError(f"no network {network!r}")


def _sklansky(places: int) -> Iterator[Level]:
    s = 1
    while s < places:
        yield {d: (d // s * s - 1,) for d in range(places) if d // s % 2}
        s *= 2


def _kogge_stone(places: int) -> Iterator[Level]:
    s = 1
    while s < places:
        yield {d: (d - s,) for d in range(s, places)}
        s *= 2


def _brent_kung(places: int) -> Iterator[Level]:
    s = 1
    while 2 * s <= places:
        yield {d: (d - s,) for d in range(2 * s - 1, places, 2 * s)}
        s *= 2
    while s > 1:
        s //= 2
        if level := {d: (d - s,) for d in range(3 * s - 1, places, 2 * s)}:
            yield level


def _by_threes(places: int) -> Iterator[Level]:
    s = 1
    while s < places:
        yield {d: tuple(e for e in (d - 2 * s, d - s) if e >= 0) for d in range(s, places)}
        s *= 3


def scan(
    items: Mapping[int, Item],
    parent: Mapping[int, int],
    combine: Callable[[int, Item, Item], Item],
    network: str,
) -> dict[int, Item]:
    """Each body's item combined with those of all its ancestors, the root's first.

    ``parent``: of each body, one without an item for the roots. ``combine`` takes the body that it
    is for, what is nearer to the root, and what comes after it.
    """
    paths: dict[int, list[int]] = {}

    def path(i: int) -> list[int]:
        """The ancestors of body i, from the root, and itself."""
        if i not in paths:
            above = path(parent[i]) if parent[i] in items else []
            paths[i] = [*above, i]
        return paths[i]

    depth = {i: len(path(i)) - 1 for i in items}
    found = dict(items)
    for level in levels(network, max(depth.values(), default=0) + 1):
        before = dict(found)
        for i in items:
            if depth[i] in level:
                first, *more = (paths[i][e] for e in level[depth[i]])
                found[i] = before[first]
                for e in (*more, i):
                    found[i] = combine(i, found[i], before[e])
    return found


def plus(a: Vector, b: Vector) -> Vector:
    """The sum of two vectors of any length."""
    return [x + y for x, y in zip(a, b, strict=True)]


def path_sums(
    items: Mapping[int, Vector], parent: Mapping[int, int], add: Add, network: str = BY_THREES
) -> dict[int, Vector]:
    """Each body's vector added to those of all its ancestors."""
    return scan(items, parent, add, network)


def subtree_sums(
    items: Mapping[int, Vector], parent: Mapping[int, int], add: Add, network: str = BY_THREES
) -> dict[int, Vector]:
    """Each body's vector added to those of its whole subtree: level k adds what the descendants
    3^k and 2·3^k below it have gathered, each of the 3^k generations from itself on. `ONE_BY_ONE`
    adds each sum to the parent's, leaves first, in the fewest additions."""
    if network == ONE_BY_ONE:
        gathered = dict(items)
        for i in sorted(items, reverse=True):
            if parent[i] in gathered:
                gathered[parent[i]] = add(parent[i], gathered[parent[i]], gathered[i])
        return gathered
    children: dict[int, list[int]] = {i: [] for i in items}
    for i in items:
        if parent[i] in children:
            children[parent[i]].append(i)

    def below(i: int, distance: int) -> list[int]:
        found = [i]
        for _ in range(distance):
            found = [c for b in found for c in children[b]]
        return found

    total, s = dict(items), 1
    while any(below(i, s) for i in items):
        before = dict(total)
        for i in items:
            for b in (*below(i, s), *below(i, 2 * s)):
                total[i] = add(i, total[i], before[b])
        s *= 3
    return total
