"""The visits of a task to an accelerator's stages by name: ``rnea``, ``rnea_limbs_again``.

Stages, modules, queues and reports are called so. Here alone these names are read and spelled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

# Where limbs on a trunk that moves are time-multiplexed, a stage is split at the hips: what each
# limb computes is a stage before it, one for each group of limbs that are alike, and what they read
# of the trunk another one, before those. Of a product whose columns come in parts, the columns are
# a stage before the one that adds them up; of M⁻¹ by columns, M's factors are one before it.
TRUNK, LIMBS, COLUMNS = "trunk", ("limbs", "limbs2", "limbs3", "limbs4"), "columns"
FACTORS = "factors"
LEVELS = (
    (TRUNK,),
    LIMBS,
    (FACTORS,),
    (COLUMNS,),
    ("",),
)  # of visits, beside each other; last the stage itself
PARTS = tuple(part for level in LEVELS for part in level)
OF_TRUNK = "rnea", TRUNK  # the one that is called by its part alone
AGAIN = "again"


@dataclass(frozen=True)
class StageVisit:
    """A visit to the stage of a ``step``, or of a ``part`` of it; ``again``: by a task that reads
    what has come back."""

    step: str
    part: str = ""
    again: bool = False

    @property
    def stage(self) -> str:
        """The stage's name."""
        return str(replace(self, again=False))

    def __str__(self) -> str:
        own = [TRUNK] if (self.step, self.part) == OF_TRUNK else [self.step, self.part]
        return "_".join(word for word in (*own, AGAIN * self.again) if word)


@cache
def parse(name: str) -> StageVisit:
    """``rnea_limbs_again`` → ("rnea", "limbs", again); ValueError for what is no name."""
    step, *rest = name.split("_")
    again = rest[-1:] == [AGAIN]
    part = "_".join(rest[:-1] if again else rest)
    if (step, part) == (TRUNK, ""):
        step, part = OF_TRUNK
    found = StageVisit(step, part, again)
    if not step or part not in PARTS or str(found) != name:
        raise ValueError(f"no name of a stage: {name!r}")
    return found


def part_of(step: str, part: str) -> str:
    """The name of the stage of a step's part: ("rnea", LIMBS) → ``rnea_limbs``."""
    return StageVisit(step, part).stage
