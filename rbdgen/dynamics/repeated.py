"""Common results of two passes over the joints, which the second pass need not compute again.

Forward dynamics goes out and back without acceleration; its gradients go once more, with the
acceleration that was found. Places and velocities are the same then. The second pass is recorded
like the first, as visits of its own, and each result that depends on nothing but what the first
one read, too, is the first visit's.

That must be so in all visits to a template, which are alike. So every result is taken for the
first visit's at the beginning, and those are left out that differ, until no more do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.visits import Scaled, Visit, VisitResult
from .kept import Kept, Leaf, input_name, mapped

Steps = Mapping[Visit, Sequence[Kept]]


class _Step(NamedTuple):
    """A step of a repeated visit.

    ``reads``: result → the step's inputs that it depends on. ``pairs``: input → what the first
    visit's step took in its place, and what this one takes, where the two are not equal; None: the
    first visit has no such step.
    """

    template: str
    reads: dict[str, frozenset[str]]
    pairs: list[tuple[str, Leaf, Leaf]] | None


def reading_once(steps: Steps, firsts: Mapping[Visit, Visit]) -> Callable[[str, Leaf], Leaf]:
    """A replacement for each leaf of a repeated visit; the path of the leaf is ignored.

    ``firsts``: each repeated visit → the one that it repeats.
    """
    pairs = [step for own, first in firsts.items() for step in _steps(own, first, steps)]
    same = {(step.template, name) for step in pairs for name in step.reads}

    def once(_: str, leaf: Leaf) -> Leaf:
        if isinstance(leaf, Scaled) and isinstance(leaf.of, VisitResult):
            return Scaled(_first(leaf.of), leaf.by)
        return _first(leaf) if isinstance(leaf, VisitResult) else leaf

    def _first(result: VisitResult) -> VisitResult:
        known = (result.visit.template, result.name) in same
        return VisitResult(firsts[result.visit], result.name) if known else result

    while other := {(s.template, n) for s in pairs for n in _differing(s, once)} & same:
        same -= other
    return once


def _steps(own: Visit, first: Visit, steps: Steps) -> Iterator[_Step]:
    before = steps.get(first, ())
    for number, kept in enumerate(steps[own]):
        pairs = None
        if number < len(before) and before[number].shape(first) == kept.shape(own):
            found = zip(_leaves(before[number]), _leaves(kept), strict=True)
            pairs = [(input_name(path, leaf), a, leaf) for (_, a), (path, leaf) in found]
            pairs = [(name, a, b) for name, a, b in pairs if a != b]
        yield _Step(own.template, _reads(kept.results), pairs)


def _leaves(kept: Kept) -> list[tuple[str, Leaf]]:
    found: list[tuple[str, Leaf]] = []

    def note(path: str, leaf: Leaf) -> Leaf:
        found.append((path, leaf))
        return leaf

    mapped(kept.args, note)
    return found


def _reads(results: Mapping[str, Node]) -> dict[str, frozenset[str]]:
    """Each result → the inputs that it depends on."""
    found: dict[Node, frozenset[str]] = {}
    for node in Graph((), dict(results)).nodes:
        own = {node.name} if node.op is Op.INPUT else set[str]()
        found[node] = frozenset(own.union(*(found[a] for a in node.args)))
    return {name: found[node] for name, node in results.items()}


def _differing(step: _Step, once: Callable[[str, Leaf], Leaf]) -> Iterator[str]:
    """The results that depend on what differs from the first visit's."""
    if step.pairs is None:
        yield from step.reads
        return
    others = {name for name, first, own in step.pairs if once("", own) != first}
    for name, reads in step.reads.items():
        if not reads.isdisjoint(others):
            yield name
