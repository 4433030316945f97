"""How many rounds a task takes in which joints are time-multiplexed, and how many cycles a round.

In rounds of several cycles the products of a datapath share multipliers. In rounds of one cycle
each has its own and nothing is multiplexed: the most joints meet in one datapath, so its logic is
the least there is, but products that find no multiplier in the part are logic, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count

from ..design.target import Target
from ..words.instances import FixedProgram
from .round_plan import GATHERING
from .specialise import datapaths_of, datapaths_with, jobs_of, specialised, templates_of
from .units import Jobs

MOST_DATAPATHS = 2  # times the fewest: what more of them save in cycles is not worth their logic
# What ways cost beside the logic around one product of a datapath, some 90 LUTs of iiwa 14's did
MULTIPLIER = 2
IN_LOGIC = 4  # a product of 18 x 18 bits in carry chains, about 380 LUTs


@dataclass(frozen=True, order=True)
class Candidate:
    """A task every ``every`` = ``rounds`` · ``cycles``: with so many datapaths and multipliers.

    ``products``: of all datapaths, of which ``in_logic`` find no multiplier.
    """

    datapaths: int
    multipliers: int
    every: int
    rounds: int
    cycles: int
    products: int = 0
    in_logic: int = 0

    @property
    def cost(self) -> int:
        """The approximate cost in logic around a product."""
        return self.products + MULTIPLIER * self.multipliers + IN_LOGIC * self.in_logic


class Candidates:
    """All numbers of rounds that a task may take, and of cycles in a round."""

    def __init__(self, program: FixedProgram, target: Target, apart: bool = True) -> None:
        """``apart``: each datapath has what its own visits need, not what any of them might."""
        self._program, self._target, self._apart = program, target, apart
        visits = [len(program.real.of(name)) for name in program.templates]
        datapaths = {k: sum(-(-n // k) for n in visits) for k in range(1, max(visits) + 1)}
        # fewest datapaths first: the logic is in datapaths
        self._datapaths = dict(sorted(datapaths.items(), key=lambda item: (item[1], item[0])))
        self._jobs: dict[int, Jobs] = {}

    def leanest(self, every: int, budget: int) -> Candidate | None:
        """The way that takes least at an interval; None: over the budget."""
        ways = self._of_shared(every, budget), self._of_one_cycle(every, budget)
        return min((way for way in ways if way), key=lambda way: way.cost, default=None)

    def _of_shared(self, every: int, budget: int) -> Candidate | None:
        """The way with the fewest datapaths in whose rounds multipliers are shared."""
        for rounds, datapaths in self._datapaths.items():
            cycles = every // rounds
            if every % rounds == 0 and cycles > 1 and every >= rounds + GATHERING:
                jobs = self._jobs_of(rounds)
                multipliers = jobs.multipliers(cycles)
                if multipliers <= budget:
                    return Candidate(datapaths, multipliers, every, rounds, cycles, len(jobs.kind))
        return None

    def _of_one_cycle(self, every: int, budget: int) -> Candidate | None:
        """The way in rounds of one cycle, if no more products are in logic than in hardware."""
        if every not in self._datapaths or every <= GATHERING:
            return None
        jobs = self._jobs_of(every).in_logic(budget)
        multipliers = jobs.multipliers(1)
        logic = sum(kind.style == "logic" for kind in jobs.kind.values())
        if multipliers > budget or logic > multipliers:
            return None
        return Candidate(
            self._datapaths[every], multipliers, every, every, 1, len(jobs.kind), logic
        )

    def soonest(self, budget: int) -> Candidate:
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
        ways: list[Candidate] = []
        for rounds in tried:
            jobs = self._jobs_of(rounds)
            first = 1 + -(-GATHERING // rounds)
            longest = max((len(own) for own in jobs.of.values()), default=1)
            for cycles in range(first, max(first, longest) + 1):
                multipliers = jobs.multipliers(cycles)
                if multipliers <= budget:
                    every = rounds * cycles
                    own = self._datapaths[rounds], multipliers, every, rounds, cycles
                    ways.append(Candidate(*own, len(jobs.kind)))
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
        """Intervals at which shared multipliers are within a budget, each with fewer datapaths
        than the one before."""
        try:
            every = self.soonest(budget).every
        except ValueError:
            return []
        found: list[int] = []
        fewest, least = math.inf, min(self._datapaths.values())
        while fewest > least and every <= longest:
            way = self._of_shared(every, budget)
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
            self._jobs[rounds] = jobs_of(datapaths, self._target)
        return self._jobs[rounds]
