"""The stages that each function goes through, and the sources of their operands.

Dadu-RBD's modules (MICRO 2023, section IV), cut where functions part: RNEA and gradients are its
forward-backward module, M and M⁻¹ its backward-forward module, the two products and the steps of
rollouts its schedule module; what comes back, from `forward` to `rnea` for ΔFD and from `integrate`
to the beginning for rollouts, went through its feedback module.

Visits of a task to stages are called ``rnea`` or ``rnea_limbs_again``, as are modules, queues and
reports. Here alone these names are read and spelled.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from ..design.functions import AT_FRAMES, GIVEN_BASE, LAWS, OF_MASSES, REGRESSING
from ..graph.word import ROOT, indices, kind_of, renamed
from ..robot.model import BASE
from ..robot.variations import PAYLOAD

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


_ALL = ("id", "fd", "m", "minv", "did", "dfd", "difd", "euler", "rk4", "g", "nle", *GIVEN_BASE)
CODES = {name: k for k, name in enumerate(_ALL)}
ALONE = (*AT_FRAMES, *OF_MASSES, "step", "ddid", *REGRESSING, *LAWS)  # of no accelerator
CODES |= {name: 16 + k for k, name in enumerate(ALONE)}
CODE = 4  # bits of a function's code
ROLLOUTS = {"euler": 1, "rk4": 4}  # evaluations of forward dynamics in a step

RESULT = StageVisit("result")  # the task is done
CORE = StageVisit("core")  # of a stage that computes all functions, alone

# Function: for each stage that its task visits, the stages that the task goes to from there. Where
# two stages lead to the same place, the one written down leads, and the other is in WAITS.
_FORWARD = {
    "trig": ("rnea", "mass"),
    "rnea": ("forward",),
    "mass": ("inverse",),
    "inverse": (),
}
_ROLLOUT = {
    **_FORWARD,
    "forward": ("integrate",),
    "integrate": ("result", "trig_again"),  # after the last step; before
    "integrate_again": ("result", "trig_again"),
    "trig_again": ("rnea_again", "mass_again"),
    "rnea_again": ("forward",),
    "mass_again": ("inverse",),
}
_GRADIENT = {
    "trig": ("rnea", "mass"),
    "rnea": ("gradient",),
    "mass": (),
}
_ROUTES: dict[str, dict[str, tuple[str, ...]]] = {
    "id": {"trig": ("rnea",), "rnea": ("result",)},
    "fd": {**_FORWARD, "forward": ("result",)},
    "m": {"trig": ("mass",), "mass": ("result",)},
    "minv": {"trig": ("mass",), "mass": ("inverse",), "inverse": ("result",)},
    "did": {**_GRADIENT, "gradient": ("result",)},
    "dfd": {
        **_FORWARD,
        "forward": ("rnea_again",),  # at the acceleration that was found
        "rnea_again": ("gradient",),
        "gradient": ("product",),
        "product": ("result",),
    },
    "difd": {**_GRADIENT, "gradient": ("product",), "product": ("result",)},
    "euler": _ROLLOUT,
    "rk4": _ROLLOUT,
    "g": {"trig": ("rnea",), "rnea": ("result",)},
    "nle": {"trig": ("rnea",), "rnea": ("result",)},
}
ROUTES = {
    function: {parse(visit): tuple(map(parse, to)) for visit, to in own.items()}
    for function, own in _ROUTES.items()
}
ROUTES |= {function: ROUTES[free] for function, free in GIVEN_BASE.items()}
# The same where `gradient` reads no words of `rnea` and `mass`, see `stands_alone`.
_ALONE: dict[str, dict[str, tuple[str, ...]]] = {
    "did": {"trig": ("gradient",), "gradient": ("result",)},
    "dfd": {
        **_FORWARD,
        "forward": ("gradient",),
        "gradient": ("product",),
        "product": ("result",),
    },
    "difd": {"trig": ("gradient",), "gradient": ("product",), "product": ("result",)},
}
ROUTES_ALONE = ROUTES | {
    function: {parse(visit): tuple(map(parse, to)) for visit, to in own.items()}
    for function, own in _ALONE.items()
}
ROUTES_ALONE |= {function: ROUTES_ALONE[free] for function, free in GIVEN_BASE.items()}
STAGES = {visit.stage for own in ROUTES.values() for visit in own}
WAITS = {"gradient": "mass", "forward": "inverse"}  # what a task must have left besides
# they visit `rnea` first without acceleration
AT_REST = {"fd", "dfd", "fd_given", "dfd_given", *ROLLOUTS}
ZEROS = {"g": ("qd", "qdd", "f_ext"), "nle": ("qdd", "f_ext")}  # operands that are zero
CALLED = {"g": "tau", "nle": "tau"}  # what a stage calls such a result
LAST = {  # the stage that completes a function
    function: next(visit.stage for visit, to in route.items() if RESULT in to)
    for function, route in ROUTES.items()
}
# What else an operand may come from: the task; nothing, it is zero; which turn of a rollout it is;
# the function, which it tells by, being below zero.
HOST, NOTHING, TURN, TOLD = "host", "nothing", "turn", "told"


@dataclass(frozen=True)
class Source:
    """Where a stage's operand comes from: a stage's output, or a word of the task."""

    stage: str
    field: str = ""


def traced(functions: Iterable[str]) -> tuple[str, ...]:
    """The functions to trace together, so that the graph holds all stages of ``functions``."""
    functions = {GIVEN_BASE.get(function, function) for function in functions}
    visited = {visit.stage for f in functions for visit in ROUTES[f]}
    wanted = {
        "id": "rnea" in visited,
        "m": "inverse" in visited or "m" in functions,
        "minv": "minv" in functions or "dfd" in functions,
        "did": "gradient" in visited,
        "difd": "product" in visited,
        "effort": "forward" in visited,
    }
    return tuple(name for name, is_wanted in wanted.items() if is_wanted)


def stands_alone(reads: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether `gradient` makes for itself what it needs of others, but for q̈.

    ``reads``: stage → word from another stage → that stage.
    """
    senders = [
        parse(sender).step
        for stage, words in reads.items()
        if parse(stage).step == "gradient"
        for sender in words.values()
    ]
    return "gradient" in reads and set(senders) <= {"gradient"}


def route(
    function: str, stages: Collection[str], alone: bool = False
) -> dict[StageVisit, tuple[StageVisit, ...]]:
    """A function's route through the ``stages`` that there are; `trig` is its entry, there or not.

    What a robot has no use for has no stage: no sines without angles, no mass matrix apart where
    only the gradients need it. Of a core there is nothing but `CORE`. ``alone``: whether `gradient`
    `stands_alone`.
    """
    if CORE.stage in stages:
        return {CORE: (RESULT,)}
    there = {*stages, RESULT.stage, "trig"}
    own = (ROUTES_ALONE if alone else ROUTES)[function]
    beginning = StageVisit("trig", again=True)

    def leads(visit: StageVisit) -> tuple[StageVisit, ...]:
        past = [(to,) if to != beginning or "trig" in stages else own[to] for to in own[visit]]
        return tuple(v for own in past for to in own if to.stage in there for v in first(to, there))

    found: dict[StageVisit, tuple[StageVisit, ...]] = {}
    for visit in own:
        if visit.stage in there:
            for own_parts, to in pairwise(levels(visit, there)):
                found |= {part: tuple(to) if part == own_parts[0] else () for part in own_parts}
            found[visit] = leads(visit)
    return found


def levels(visit: StageVisit, stages: Container[str]) -> list[list[StageVisit]]:
    """The visits that one to a stage consists of where it is split at the hips, last itself.

    Those of a level are beside each other: the first one leads on, and what comes then waits for
    the others.
    """
    own = [[replace(visit, part=part) for part in level] for level in LEVELS]
    there = [[part for part in level if part.stage in stages or part == visit] for level in own]
    return [level for level in there if level]


def first(visit: StageVisit, stages: Container[str]) -> list[StageVisit]:
    """The visits that one to a stage begins with."""
    return levels(visit, stages)[0]


def waits(stages: Collection[str], alone: bool = False) -> dict[str, tuple[str, ...]]:
    """Stage → those that a task must have left besides, of the ``stages`` that there are.

    ``alone``: as for `route`.
    """
    there, found = list(stages), dict[str, tuple[str, ...]]()
    for step, other in WAITS.items():
        if step in there and not (alone and step == "gradient"):
            found |= {visit.stage: (other,) for visit in first(StageVisit(step), there)}
    for step in dict.fromkeys(parse(stage).step for stage in there):
        for before, after in pairwise(levels(StageVisit(step), there)):
            if beside := tuple(visit.stage for visit in before[1:]):
                found |= {visit.stage: beside for visit in after}
    return found


def visit_counts(function: str, stages: Collection[str], alone: bool = False) -> dict[str, int]:
    """How often a task of ``function`` visits each of the ``stages``; in a step, of a rollout.

    ``alone``: as for `route`.
    """
    there = list(stages)
    visited = [visit.stage for visit in route(function, there, alone)]
    counts = {stage: visited.count(stage) for stage in there if stage in visited}
    return dict.fromkeys(counts, ROLLOUTS[function]) if function in ROLLOUTS else counts


def origin(
    field: str, function: str, visit: StageVisit, crossing: Mapping[str, str], given: int = 0
) -> Source:
    """Where ``field`` of a visit comes from; ``crossing``: words that another stage gives,
    ``given``: how many of v's first entries are the base's, its motion being given."""
    if field in crossing:
        return Source(crossing[field], field)
    if visit == CORE:
        return Source(HOST, field)
    if visit.step == "integrate":
        return _integrated(field, visit)
    kind = kind_of(field)
    if kind in ZEROS.get(function, ()):
        return Source(NOTHING)
    if function in GIVEN_BASE:
        given = BASE
    match kind:
        case _ if kind == ROOT:
            return Source(TOLD if function in GIVEN_BASE else NOTHING)
        case "tau" | "bias" if function in GIVEN_BASE and indices(field)[0] < given:
            return Source(NOTHING)  # nothing accelerates it besides what the task says
        case "bias":
            return Source("rnea", renamed(field, "tau"))
        case "Minv" if function != "difd":
            return Source("inverse", field)
        case "qdd" if function in AT_REST and indices(field)[0] >= given:
            still = function in ROLLOUTS or (visit.step == "rnea" and not visit.again)
            return Source(NOTHING) if still else Source("forward", field)
        case "q" | "qd" if visit.again and function in ROLLOUTS:
            return Source("integrate", field)
    return Source(HOST, place(field))


# What `integrate` reads of its own: word of the task at first, and what it gave before.
_CARRIED = {"q0": ("q", "q0"), "v0": ("qd", "v0"), "v": ("qd", "qd"), "aq": ("", "aq")}
_CARRIED |= {"av": ("", "av")}


def _integrated(field: str, visit: StageVisit) -> Source:
    kind = kind_of(field)
    if kind in _CARRIED:
        word, before = _CARRIED[kind]
        if visit.again:
            return Source("integrate", renamed(field, before))
        return Source(HOST, renamed(field, word)) if word else Source(NOTHING)
    if kind == "qdd":
        return Source("forward", field)
    return Source(HOST, field) if kind == "h" else Source(TURN, field)


def place(field: str) -> str:
    """The word of a task that a field comes in: acceleration and effort have the same."""
    return renamed(field, "u") if kind_of(field) in ("qdd", "tau") else field


# The words of a task in their order, by kind; each function takes the first of them.
OF_ROLLOUTS = ("steps", "h")
UNREAD = "u"  # an operand of that kind: the function does not read the word, which is the others'
ORDER = ("sin", "cos", "q", PAYLOAD, "qd", "u", "f_ext", *OF_ROLLOUTS, "Minv")
STEPS = "steps[0]"  # of a rollout
_AT_MOST = {"m": PAYLOAD, "minv": PAYLOAD, "minv_given": PAYLOAD, "g": PAYLOAD, "nle": "qd"}
_AT_MOST |= {"euler": "h", "rk4": "h", "difd": "Minv"}


def words_taken(function: str, words: Iterable[str]) -> list[str]:
    """The words of a task that a function takes: the first so many."""
    last = ORDER.index(_AT_MOST.get(function, "f_ext"))
    return [word for word in words if ORDER.index(kind_of(word)) <= last]
