"""Which signals of a graph a search climbs on, in what order, and how far.

Of a graph that is small enough every signal is climbed, and again from the best state that was
found for any. Of a larger one first those signals that are unlike each other; in the states that
these have found the others are nearly as large as they get. Climbed are then those of the others
whose words their operands do not decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..graph.evaluate import Array, evaluate
from ..graph.graph import Graph
from ..graph.intervals import INTERVAL, Interval
from ..graph.node import Node, Op
from ..search.ascent import Progress, ascend, cones
from ..search.domain import Domain
from ..search.extents import extents
from .wordlength import integer_bits

STEPS, PATIENCE, FEWEST = 150, 30, 24  # of an ascent
STEPS_OPEN, PATIENCE_OPEN = 40, 20  # of one from a state that was found for a signal alike
WORK = 1e9  # nodes that a round may compute, of all signals and steps: some seconds of a core
SEED = 3
MANY = 7  # angles: a signal of more has the larger margin, and is searched once more
# Margins beyond the largest value that a search found: of few angles, of many, and of many where
# only signals that are unlike each other were searched to the end.
SEARCHED, SEARCHED_MANY, SEARCHED_UNLIKE = 0.05, 0.1, 0.15
ALIKE = 0.3  # cosine of the angle between two signals' values in random states
COMPARED = 256  # random states in which signals are compared
BLOCK = 256  # signals compared, or states looked at, at a time
NEARLY = 0.99  # of the largest value of a signal, which a state that is kept has to show


class Climber:
    """Climbs on signals of a graph over coordinates; each turn starts from all that was found.

    ``domain``: its samples grow by the states found. ``found``: those states, coordinates (N,).
    """

    def __init__(self, whole: Graph, domain: Domain, progress: Progress) -> None:
        self.whole, self.domain, self.progress = whole, domain, progress
        self.found: Mapping[str, Array] = {}
        self._turns = 0

    def climb(
        self, largest: Sequence[Node], lowest: Sequence[Node], steps: int, patience: int
    ) -> Mapping[str, Array]:
        """The states in which those signals are largest, and these smallest."""
        columns = ascend(
            self.whole,
            self.domain,
            largest,
            lowest,
            steps=steps,
            patience=patience,
            seed=SEED + self._turns,
            progress=self.progress,
        )
        self._turns += 1
        self.found = joined(self.found, columns)
        self.domain = replace(self.domain, samples=joined(self.domain.samples, columns))
        return columns

    def search(
        self, largest: Sequence[Node], lowest: Sequence[Node], rounds: int
    ) -> Mapping[Node, float]:
        """Climb on all the signals that need it; every node's margin beyond its largest value."""
        angles = self.domain.angles_read(self.whole)
        work = 1 + cones(self.whole, [*largest, *lowest])
        every = work * STEPS <= WORK
        many = SEARCHED_MANY if every else SEARCHED_UNLIKE
        margins = {node: many if n > MANY else SEARCHED for node, n in angles.items()}
        if every:
            self._every(largest, lowest, angles, rounds)
        else:
            self._unlike_first(largest, lowest, margins, rounds)
        return margins

    def _every(
        self,
        largest: Sequence[Node],
        lowest: Sequence[Node],
        angles: Mapping[Node, int],
        rounds: int,
    ) -> None:
        self.progress(f"ranges: {len(largest)} signals, each climbed in {STEPS} steps or fewer")
        for turn in range(rounds + 1):
            if turn == rounds:
                largest = [node for node in largest if angles[node] > MANY]
                lowest = [node for node in lowest if angles[node] > MANY]
            self.climb(largest, lowest, STEPS, PATIENCE)

    def _unlike_first(
        self,
        largest: Sequence[Node],
        lowest: Sequence[Node],
        margins: Mapping[Node, float],
        rounds: int,
    ) -> None:
        seen, values = self._seen(largest)
        first = [largest[i] for i in unlike(values)]
        work = 1 + cones(self.whole, [*first, *lowest])
        steps = max(FEWEST, min(STEPS, int(WORK / work)))
        self.progress(
            f"ranges: {len(largest)} signals, of which {len(first)} that are unlike each other are "
            f"climbed first, in {steps} steps or fewer"
        )
        columns = self.climb(first, lowest, steps, PATIENCE)
        for _ in range(rounds):
            self._see(seen, columns)
            rest = [node for node in largest if not decided(node, seen, margins)]
            self.progress(f"ranges: of {len(rest)} the operands do not decide the words")
            columns = self.climb(rest, lowest, STEPS_OPEN, PATIENCE_OPEN)
        self._see(seen, columns)
        self._keep_largest(seen, lowest)

    def _keep_largest(self, seen: Mapping[Node, float], lowest: Sequence[Node]) -> None:
        """Of the states that were found, keep as many as show each signal nearly as ``seen``."""
        if not self.found:
            return
        of = extents(self.whole, self.found, {*lowest})
        # the last first: in states of long sums what they are made of is large, too
        short = [node for node in reversed(self.whole.nodes) if of.largest[node] >= seen[node]]
        rows = set(of.smallest_at.values())
        new = sorted(rows)
        while short:
            if new:
                shown = extents(self.whole, _rows(self.found, new)).largest
                short = [node for node in short if shown[node] < NEARLY * seen[node]]
            new = list(dict.fromkeys(of.largest_at[node] for node in short))[:BLOCK]
            rows.update(new)
        some = sorted(rows)
        before = len(next(iter(self.found.values())))
        self.progress(f"ranges: {len(some)} of {before} states show every signal nearly as large")
        kept = _rows(self.found, some)
        given = {name: values[:-before] for name, values in self.domain.samples.items()}
        self.found, self.domain = kept, replace(self.domain, samples=joined(given, kept))

    def _seen(self, signals: Sequence[Node]) -> tuple[dict[Node, float], NDArray[np.float32]]:
        """The largest magnitude of each node in the samples; values of signals in some of them."""
        seen: dict[Node, float] = {}
        self._see(seen, self.domain.samples)
        some = {name: values[:COMPARED] for name, values in self.domain.samples.items()}
        row = {node: i for i, node in enumerate(signals)}
        values = np.empty((len(signals), len(next(iter(some.values())))), np.float32)

        def keep(node: Node, value: Array) -> None:
            if node in row:
                values[row[node]] = value

        evaluate(self.whole, some, keep)
        return seen, values

    def _see(self, seen: dict[Node, float], states: Mapping[str, Array]) -> None:
        if len(next(iter(states.values()))):
            for node, size in extents(self.whole, states).largest.items():
                seen[node] = max(seen.get(node, 0.0), size)


def unlike(values: NDArray[np.float32]) -> list[int]:
    """Rows of ``values`` (signals, states) of which none is like another, and to one of which every
    row is alike: the first from the end, where the longest sums are."""
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


def joined(first: Mapping[str, Array], second: Mapping[str, Array]) -> Mapping[str, Array]:
    """The states of both."""
    if not first or not second:
        return first or second
    return {name: np.concatenate([first[name], second[name]]) for name in first}


def _rows(states: Mapping[str, Array], rows: Sequence[int]) -> dict[str, Array]:
    return {name: values[rows] for name, values in states.items()}
