"""Which stages each function goes through, and where each of their operands comes from.

Dadu-RBD's modules (MICRO 2023, section IV), cut where functions part: RNEA and gradients are its
forward-backward module, M and M⁻¹ its backward-forward module, the two products and the steps of
rollouts its schedule module; what comes back, from `forward` to `rnea` for ΔFD and from `integrate`
to the beginning for rollouts, went through its feedback module.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from ..graph.word import indices, kind_of, renamed

_ALL = ("id", "fd", "m", "minv", "did", "dfd", "difd", "euler", "rk4")
CODES = {name: k for k, name in enumerate(_ALL)}
CODE = 4  # bits of a function's code
ROLLOUTS = {"euler": 1, "rk4": 4}  # evaluations of forward dynamics in a step

AGAIN = "_again"  # ends the name of a visit that reads what comes back
# Where limbs on a trunk that moves take turns, a stage is cut at the hips: what each limb computes
# is a stage before it, and what RNEA and gradients read of the trunk another one, before those.
TRUNK, LIMBS = "trunk", "_limbs"
COLUMNS = "_columns"  # of a product, where columns come in parts that the rest adds up
RESULT = "result"  # the task is done

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
    "integrate": (RESULT, "trig_again"),  # after the last step; before
    "integrate_again": (RESULT, "trig_again"),
    "trig_again": ("rnea_again", "mass_again"),
    "rnea_again": ("forward",),
    "mass_again": ("inverse",),
}
_GRADIENT = {
    "trig": ("rnea", "mass"),
    "rnea": ("gradient",),
    "mass": (),
}
ROUTES: dict[str, dict[str, tuple[str, ...]]] = {
    "id": {"trig": ("rnea",), "rnea": (RESULT,)},
    "fd": {**_FORWARD, "forward": (RESULT,)},
    "m": {"trig": ("mass",), "mass": (RESULT,)},
    "minv": {"trig": ("mass",), "mass": ("inverse",), "inverse": (RESULT,)},
    "did": {**_GRADIENT, "gradient": (RESULT,)},
    "dfd": {
        **_FORWARD,
        "forward": ("rnea_again",),  # at the acceleration that was found
        "rnea_again": ("gradient",),
        "gradient": ("product",),
        "product": (RESULT,),
    },
    "difd": {**_GRADIENT, "gradient": ("product",), "product": (RESULT,)},
    "euler": _ROLLOUT,
    "rk4": _ROLLOUT,
}
STAGES = {visit.removesuffix(AGAIN) for own in ROUTES.values() for visit in own}
WAITS = {"gradient": "mass", "forward": "inverse"}  # what a task must have left besides
AT_REST = {"fd", "dfd", *ROLLOUTS}  # they visit `rnea` first without acceleration
LAST = {  # the stage that completes a function
    function: next(stage for stage, to in route.items() if RESULT in to)
    for function, route in ROUTES.items()
}
# What else an operand may come from: the task; nothing, it is zero; which turn of a rollout it is.
HOST, NOTHING, TURN = "host", "nothing", "turn"


@dataclass(frozen=True)
class Source:
    """Where a stage's operand comes from: a stage's output, or a word of the task."""

    stage: str
    field: str = ""


def stage_of(visit: str) -> str:
    """The stage that a visit is to."""
    return visit.removesuffix(AGAIN)


def traced(functions: Iterable[str]) -> tuple[str, ...]:
    """What to trace together, so that the graph holds all stages of ``functions``."""
    visited = {visit for f in functions for visit in ROUTES[f]}
    wanted = {
        "id": "rnea" in visited,
        "m": "inverse" in visited or "m" in functions,
        "minv": "minv" in functions or "dfd" in functions,
        "did": "gradient" in visited,
        "difd": "product" in visited,
        "effort": "forward" in visited,
    }
    return tuple(name for name, is_wanted in wanted.items() if is_wanted)


def route(function: str, stages: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """A function's route through the ``stages`` that there are; `trig` is its entry, there or not.

    What a robot has no use for has no stage: no sines without angles, no mass matrix apart where
    only the gradients need it.
    """
    there = {*stages, RESULT, "trig"}
    own = ROUTES[function]

    def leads(visit: str) -> tuple[str, ...]:
        past = [to if to != f"trig{AGAIN}" or "trig" in stages else own[to] for to in own[visit]]
        flat = [t for to in past for t in ((to,) if isinstance(to, str) else to)]
        return tuple(parts(to, there)[0] for to in flat if stage_of(to) in there)

    found: dict[str, tuple[str, ...]] = {}
    for visit in own:
        if stage_of(visit) in there:
            own_parts = parts(visit, there)
            found |= {part: (to,) for part, to in pairwise(own_parts)}
            found[visit] = leads(visit)
    return found


def parts(visit: str, stages: Container[str]) -> list[str]:
    """The visits that one to a stage consists of, where it is cut at the hips."""
    stage = stage_of(visit)
    names = [TRUNK] * (stage == "rnea") + [stage + LIMBS, stage + COLUMNS]
    return [n + visit.removeprefix(stage) for n in names if n in stages] + [visit]


def waits(stages: Container[str]) -> dict[str, str]:
    """Stage → what a task must have left besides, of the ``stages`` that there are."""
    return {parts(stage, stages)[0]: other for stage, other in WAITS.items() if stage in stages}


def visits(function: str, stages: Iterable[str]) -> dict[str, int]:
    """How often a task of ``function`` visits each of the ``stages``; in a step, of a rollout."""
    there = list(stages)
    visited = [stage_of(visit) for visit in route(function, there)]
    counts = {stage: visited.count(stage) for stage in there if stage in visited}
    return dict.fromkeys(counts, ROLLOUTS[function]) if function in ROLLOUTS else counts


def origin(
    field: str, function: str, visit: str, crossing: Mapping[str, str], given: int = 0
) -> Source:
    """Where ``field`` of a visit comes from; ``crossing``: words that another stage gives,
    ``given``: how many of v's first entries are the base's, its motion being given."""
    if field in crossing:
        return Source(crossing[field], field)
    if stage_of(visit) == "integrate":
        return _integrated(field, visit)
    kind, again = kind_of(field), visit.endswith(AGAIN)
    match kind:
        case "bias":
            return Source("rnea", renamed(field, "tau"))
        case "Minv" if function != "difd":
            return Source("inverse", field)
        case "qdd" if function in AT_REST and indices(field)[0] >= given:
            still = visit in (TRUNK, f"rnea{LIMBS}", "rnea") or function in ROLLOUTS
            return Source(NOTHING) if still else Source("forward", field)
        case "q" | "qd" if again and function in ROLLOUTS:
            return Source("integrate", field)
    return Source(HOST, place(field))


# What `integrate` reads of its own: word of the task at first, and what it gave before.
_CARRIED = {"q0": ("q", "q0"), "v0": ("qd", "v0"), "v": ("qd", "qd"), "aq": ("", "aq")}
_CARRIED |= {"av": ("", "av")}


def _integrated(field: str, visit: str) -> Source:
    kind = kind_of(field)
    if kind in _CARRIED:
        word, before = _CARRIED[kind]
        if visit.endswith(AGAIN):
            return Source("integrate", renamed(field, before))
        return Source(HOST, renamed(field, word)) if word else Source(NOTHING)
    if kind == "qdd":
        return Source("forward", field)
    return Source(HOST, field) if kind == "h" else Source(TURN, field)


def place(field: str) -> str:
    """The word of a task that a field comes in: acceleration and effort have the same."""
    return renamed(field, "u") if kind_of(field) in ("qdd", "tau") else field


# The words of a task in their order, by kind; each function takes the first of them.
ORDER = ("sin", "cos", "q", "qd", "u", "f_ext", "steps", "h", "Minv")
STEPS = "steps[0]"  # of a rollout
_AT_MOST = {"m": "q", "minv": "q", "euler": "h", "rk4": "h", "difd": "Minv"}


def words_taken(function: str, words: Iterable[str]) -> list[str]:
    """Of a task's words, those that a function takes: the first so many."""
    last = ORDER.index(_AT_MOST.get(function, "f_ext"))
    return [word for word in words if ORDER.index(kind_of(word)) <= last]
