"""The schedule of ascents: the signals of a graph to search, their order and their steps.

In a small graph there is an ascent for every signal, then another one from the best state that was
found for any. In a larger one the signals that are least alike come first; in the states that these
ascents find, the others are nearly as large as they get. Of the others, those signals follow whose
words their operands leave open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..graph.evaluate import INTERVAL, Array, Interval, evaluate
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..system.quoting import Progress
from .ascent import WAYS, Domain, ascend, cones
from .value_range import extents
from .value_range import joined as in_both
from .wordlength import integer_bits

STEPS, PATIENCE, FEWEST = 150, 30, 48  # of an ascent
STEPS_OPEN, PATIENCE_OPEN = 40, 20  # of one from a state that was found for a signal alike
SOME_WAYS = 4  # of each where not all signals are climbed
NEAR = 1.5  # times its bound, at most, is what a second climb of an open signal finds
WORK = 1e9  # nodes that a round may compute, of all signals and steps: some seconds of a core
SEED = 3
MANY = 7  # angles: a signal of more has the larger margin, and is searched once more
# Margins beyond the largest value that a search found: of few angles, of many, and of many where
# only signals that are unlike each other were searched to the end.
SEARCHED, SEARCHED_MANY, SEARCHED_UNLIKE = 0.05, 0.1, 0.15
ALIKE = 0.3  # cosine of the angle between two signals' values in random states
COMPARED = 256  # random states in which signals are compared
BLOCK = 256  # signals compared, or states looked at, at a time; of many states one of PARTS
PARTS = 8
NEARLY = 0.99  # of the largest value of a signal, which a state that is kept has to show


class Climber:
    """Climbs on signals of a graph over coordinates; each turn starts from all that was found.

    ``lowest``: operands of reciprocals, whose smallest values are looked for, too. ``domain``: its
    samples grow by the states found; ``seen``: how large signals are in them. ``found``: those
    states, coordinates (N,).
    """

    def __init__(
        self, whole: Graph, domain: Domain, lowest: Sequence[Node], progress: Progress
    ) -> None:
        self.whole, self.domain, self.lowest = whole, domain, lowest
        self.progress = progress
        self.seen = extents(whole, domain.samples, {*lowest})
        self.found: Mapping[str, Array] = {}
        self._turns = 0

    def climb(
        self,
        largest: Sequence[Node],
        lowest: Sequence[Node],
        steps: int,
        patience: int,
        ways: int = WAYS,
        gain: float = 0.0,
    ) -> None:
        """Find the states in which those signals are largest, and these smallest.

        With ``gain``, those in which a signal is larger than was seen by such a share.
        """
        columns = ascend(
            self.whole,
            self.domain,
            largest,
            lowest,
            steps=steps,
            patience=patience,
            seed=SEED + self._turns,
            ways=ways,
            best=self.seen,
            gain=gain,
        )
        self._turns += 1
        if not len(next(iter(columns.values()))):
            return
        found = extents(self.whole, columns, {*self.lowest})
        self.seen = in_both(self.seen, found, len(next(iter(self.domain.samples.values()))))
        self.found = joined(self.found, columns)
        self.domain = replace(self.domain, samples=joined(self.domain.samples, columns))

    def search(self, largest: Sequence[Node], rounds: int) -> Mapping[Node, float]:
        """Climb on all the signals that need it; every node's margin beyond its largest value."""
        angles = self.domain.angles_read(self.whole)
        work = 1 + cones(self.whole, [*largest, *self.lowest])
        every = work * STEPS <= WORK
        many = SEARCHED_MANY if every else SEARCHED_UNLIKE
        margins = {node: many if n > MANY else SEARCHED for node, n in angles.items()}
        if every:
            self._every(largest, angles, rounds)
        else:
            self._unlike_first(largest, margins, rounds)
        return margins

    def _every(self, largest: Sequence[Node], angles: Mapping[Node, int], rounds: int) -> None:
        self.progress(f"ranges: {len(largest)} signals, an ascent of up to {STEPS} steps for each")
        lowest = self.lowest
        for turn in range(rounds + 1):
            if turn == rounds:
                largest = [node for node in largest if angles[node] > MANY]
                lowest = [node for node in lowest if angles[node] > MANY]
            self.climb(largest, lowest, STEPS, PATIENCE)

    def _unlike_first(
        self, largest: Sequence[Node], margins: Mapping[Node, float], rounds: int
    ) -> None:
        first = [largest[i] for i in unlike(self._values(largest))]
        work = 1 + cones(self.whole, [*first, *self.lowest]) * SOME_WAYS / WAYS
        steps = max(FEWEST, min(STEPS, int(WORK / work)))
        self.progress(
            f"ranges: {len(largest)} signals; the {len(first)} that are least alike are searched "
            f"first, by ascents of up to {steps} steps"
        )
        self.climb(first, self.lowest, steps, PATIENCE, SOME_WAYS, 1 - NEARLY)
        for turn in range(rounds):
            seen = self.seen.largest
            rest = [node for node in largest if not decided(node, seen, margins)]
            self.progress(f"ranges: {len(rest)} signals whose words their operands leave open")
            if turn:
                rest = [node for node in rest if near(seen[node] * (1 + margins[node]))]
                self.progress(f"ranges: {len(rest)} of them are near to the ends of theirs")
            self.climb(rest, self.lowest, STEPS_OPEN, PATIENCE_OPEN, SOME_WAYS, 1 - NEARLY)
        self._keep_largest()

    def _keep_largest(self) -> None:
        """Keep as many of the states of the search as show each signal nearly as large."""
        if not self.found:
            return
        before = len(next(iter(self.found.values())))
        start = len(next(iter(self.domain.samples.values()))) - before  # of those found
        seen, at = self.seen.largest, self.seen.largest_at
        # the last first: in states of long sums what they are made of is large, too
        short = [node for node in reversed(self.whole.nodes) if at[node] >= start]
        rows = {k - start for k in self.seen.smallest_at.values() if k >= start}
        new = sorted(rows)
        while short:
            if new:
                shown = extents(self.whole, _rows(self.found, new)).largest
                short = [node for node in short if shown[node] < NEARLY * seen[node]]
            most = max(BLOCK, before // PARTS)
            new = list(dict.fromkeys(at[node] - start for node in short))[:most]
            rows.update(new)
        some = sorted(rows)
        self.progress(f"ranges: {len(some)} of {before} states show every signal nearly as large")
        kept = _rows(self.found, some)
        given = {name: values[:-before] for name, values in self.domain.samples.items()}
        self.found, self.domain = kept, replace(self.domain, samples=joined(given, kept))

    def _values(self, signals: Sequence[Node]) -> NDArray[np.float32]:
        """The values of signals in some of the samples."""
        some = {name: values[:COMPARED] for name, values in self.domain.samples.items()}
        row = {node: i for i, node in enumerate(signals)}
        values = np.empty((len(signals), len(next(iter(some.values())))), np.float32)

        def keep(node: Node, value: Array) -> None:
            if node in row:
                values[row[node]] = value

        evaluate(self.whole, some, keep)
        return values


def unlike(values: NDArray[np.float32]) -> list[int]:
    """Rows of ``values`` (signals, states) of which none is like another, and to one of which every
    row is alike: the first from the end, where the longest sums are."""
    with np.errstate(over="ignore"):  # of errors that outgrow float32: the row is like none
        size = np.linalg.norm(values, axis=1, keepdims=True)
    left = values / np.where(size > 0, size, 1)
    rows = np.arange(len(left))  # of those that are like none so far
    chosen: list[int] = []
    while len(rows):
        block = left[-BLOCK:]
        among = np.abs(block @ block.T)
        new: list[int] = []
        for i in reversed(range(len(block))):
            if not (among[i, new] >= ALIKE).any():
                new.append(i)
        chosen += rows[-len(block) :][new].tolist()
        left, rows = left[: -len(block)], rows[: -len(block)]
        alone = (np.abs(left @ block[new].T) < ALIKE).all(axis=1)
        left, rows = left[alone], rows[alone]
    return sorted(chosen)


def decided(node: Node, seen: Mapping[Node, float], margins: Mapping[Node, float]) -> bool:
    """Whether operands as large as seen, and their margins, make no more bits than are needed."""
    if node.op not in (Op.ADD, Op.SUB, Op.MUL):
        return False

    def bound(of: Node) -> float:
        return seen[of] * (1 + margins[of])

    operands: list[Interval] = [(-bound(arg), bound(arg)) for arg in node.args]
    return integer_bits(INTERVAL[node.op](node, *operands)[1]) <= integer_bits(bound(node))


def near(bound: float) -> bool:
    """Whether an ascent of an open signal may show that a word for ``bound`` is too short."""
    return integer_bits(bound * NEAR) > integer_bits(bound)


def joined(first: Mapping[str, Array], second: Mapping[str, Array]) -> Mapping[str, Array]:
    """The states of both."""
    if not first or not second:
        return first or second
    return {name: np.concatenate([first[name], second[name]]) for name in first}


def _rows(states: Mapping[str, Array], rows: Sequence[int]) -> dict[str, Array]:
    return {name: values[rows] for name, values in states.items()}
