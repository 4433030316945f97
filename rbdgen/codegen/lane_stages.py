"""The stages of one state alone, some of which have visits side by side: what a template writes."""

from __future__ import annotations

from dataclasses import dataclass

from ..system.records import Record


@dataclass(frozen=True)
class Stage:
    """Visits to a template: one, or several side by side in ``groups`` of ``lanes``.

    ``first``: statements that fill rows before; ``parts``: those of each function, between which
    are ``slots`` values; ``last``: statements that give outputs. Rows that are read begin at word
    ``read``, results at ``given``: each has the numbers of one group behind those of another.
    ``constants``: rows of numbers.
    """

    name: str
    visits: int
    parts: tuple[tuple[str, ...], ...]
    slots: int
    operations: int
    lanes: int = 1
    groups: int = 1
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    read: int = 0
    given: int = 0
    constants: tuple[tuple[str, ...], ...] = ()
    divides: bool = False


@dataclass(frozen=True)
class Lanes:
    """Stages of one state, in their order, and the number of words between them.

    ``zeros``: the first word of rows, and their lanes, that are zero before the first stage.
    """

    stages: tuple[Stage, ...]
    words: int
    zeros: tuple[tuple[int, int], ...] = ()

    @property
    def facts(self) -> LaneFacts:
        """The manifest's entry of one state."""
        return LaneFacts(
            tuple(own.name for own in self.stages),
            tuple(own.visits for own in self.stages),
            sum(own.operations * own.groups for own in self.stages),
            sum(len(own.first) + len(own.last) for own in self.stages),
            self.words,
        )


@dataclass(frozen=True)
class LaneFacts(Record):
    """Counts of one state, some of whose visits are lanes.

    Template and visits of each stage; operations, those of a register's lanes counted once; moves
    of numbers between stages and to outputs; the words between stages.
    """

    stages: tuple[str, ...]
    visits: tuple[int, ...]
    operations: int
    moves: int
    words: int

    @property
    def cost(self) -> int:
        """Operations and moves."""
        return self.operations + self.moves
