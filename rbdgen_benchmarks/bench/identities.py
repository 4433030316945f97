"""Operations that the pass for identities saves, of every shipped robot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rbdgen.compile.flow import front_end
from rbdgen.compile.front import Rows as Counts
from rbdgen.design.loading import shipped_robots
from rbdgen.system.quoting import Progress

from .measurement import Row, Rows, measurement

FUNCTIONS = ("id", "did", "dfd", "minv", "fd")
PASS = "identities"
KINDS = {"mul": "products", "mulc": "by constants", "add": "sums"}
HEAD = ("robot", "function", *KINDS.values())
ALL = "all"  # robots together


@measurement("identities", "minutes", robots=shipped_robots)
def saved(place: Path, progress: Progress, only: Sequence[str] = ()) -> Any:
    """Operations of each function before and after the pass for identities; all shipped robots."""
    found: list[dict[str, Any]] = []
    rows = Rows(HEAD, place / "identities.md")
    for robot in only or sorted(shipped_robots()):
        for function in FUNCTIONS:
            progress(f"{robot} {function}")
            counts = front_end(robot, functions=(function,), fit=False).counts
            found.append({"robot": robot, "function": function, **_both(counts)})
            rows.add(_row(found[-1]))
    for function in FUNCTIONS:
        found.append({"robot": ALL, "function": function, **_sum(found, function)})
        rows.add(_row(found[-1]))
    rows.close()
    return found


def _row(own: Mapping[str, Any]) -> Row:
    return [own["robot"], own["function"], *(f"{a} → {b}" for a, b in map(own.__getitem__, KINDS))]


def _both(counts: Counts) -> dict[str, tuple[int, int]]:
    (_, traced), (name, after), *_ = counts
    assert name == PASS
    return {kind: (traced[kind], after[kind]) for kind in KINDS}


def _sum(found: Sequence[dict[str, Any]], function: str) -> dict[str, tuple[int, int]]:
    before, after = Counter[str](), Counter[str]()
    for own in found:
        if own["function"] == function:
            before.update({kind: own[kind][0] for kind in KINDS})
            after.update({kind: own[kind][1] for kind in KINDS})
    return {kind: (before[kind], after[kind]) for kind in KINDS}
