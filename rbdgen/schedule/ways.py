"""How many rounds a task takes in which joints take turns, and how many cycles a round."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count

from ..design.target import Target
from ..passes.instances import FixedProgram
from ..passes.specialised import specialised, templates_of
from .datapaths import datapaths_of, datapaths_with
from .round_plan import GATHERING
from .units import Jobs

MOST_DATAPATHS = 2  # times the fewest: what more of them save in cycles is not worth their logic


@dataclass(frozen=True, order=True)
class Way:
    """A task every ``every`` = ``rounds`` · ``cycles``: with so many datapaths and multipliers."""

    datapaths: int
    multipliers: int
    every: int
    rounds: int
    cycles: int


class Ways:
    """All numbers of rounds that a task may take, and of cycles in a round."""

    def __init__(self, program: FixedProgram, target: Target, apart: bool = True) -> None:
        """``apart``: each datapath has what its own visits need, not what any of them might."""
        self._program, self._target, self._apart = program, target, apart
        visits = [len(program.real.of(name)) for name in program.templates]
        datapaths = {k: sum(-(-n // k) for n in visits) for k in range(1, max(visits) + 1)}
        # fewest datapaths first: the logic is in datapaths
        self._datapaths = dict(sorted(datapaths.items(), key=lambda item: (item[1], item[0])))
        self._jobs: dict[int, Jobs] = {}

    def leanest(self, every: int, budget: int) -> Way | None:
        """The way with the fewest datapaths at an interval; None: over the budget."""
        for rounds, datapaths in self._datapaths.items():
            if every % rounds == 0 and every >= rounds + GATHERING:
                multipliers = self._jobs_of(rounds).multipliers(every // rounds)
                if multipliers <= budget:
                    return Way(datapaths, multipliers, every, rounds, every // rounds)
        return None

    def soonest(self, budget: int) -> Way:
        """The way with the smallest interval within a budget of hardware multipliers.

        Raises:
            ValueError: one unit of each kind is already more; says how many that takes.
        """
        least = min(self._datapaths.values())
        tried = [
            rounds
            for rounds, datapaths in self._datapaths.items()
            if datapaths <= MOST_DATAPATHS * least
        ]
        ways: list[Way] = []
        for rounds in tried:
            jobs = self._jobs_of(rounds)
            first = 1 + -(-GATHERING // rounds)
            longest = max((len(own) for own in jobs.of.values()), default=1)
            for cycles in range(first, max(first, longest) + 1):
                multipliers = jobs.multipliers(cycles)
                if multipliers <= budget:
                    every = rounds * cycles
                    ways.append(Way(self._datapaths[rounds], multipliers, every, rounds, cycles))
                    break
        if not ways:
            fewest = min(self._jobs_of(rounds).multipliers(1 << 20) for rounds in tried)
            raise ValueError(f"it takes at least {fewest} hardware multipliers")
        return min(ways, key=lambda way: (way.every, way))

    def next(self, every: int, budget: int) -> int:
        """The next interval within a budget; one that is enough for ``soonest``."""
        longer = count(every + 1)
        return next(one for one in longer if self.leanest(one, budget) is not None)

    def leaner(self, budget: int, longest: int) -> list[int]:
        """Intervals within a budget, each with fewer datapaths than the one before."""
        try:
            every = self.soonest(budget).every
        except ValueError:
            return []
        found: list[int] = []
        fewest, least = math.inf, min(self._datapaths.values())
        while fewest > least and every <= longest:
            way = self.leanest(every, budget)
            if way is not None and way.datapaths < fewest:
                found.append(every)
                fewest = way.datapaths
            every += 1
        return found

    def program(self, rounds: int) -> FixedProgram:
        """The program whose datapaths take so many rounds."""
        return specialised(self._program, rounds) if self._apart else self._program

    def _jobs_of(self, rounds: int) -> Jobs:
        if rounds not in self._jobs:
            if self._apart:
                templates = templates_of(self._program, rounds)
                datapaths = datapaths_with(templates, dict.fromkeys(templates, 1))
            else:
                datapaths = datapaths_of(self._program, rounds)
            self._jobs[rounds] = datapaths.jobs(self._target)
        return self._jobs[rounds]
