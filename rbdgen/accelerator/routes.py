"""Which stages each function goes through, and where each of their operands comes from.

Dadu-RBD's modules (MICRO 2023, section IV), cut where functions part: RNEA and gradients are its
forward-backward module, M and M⁻¹ its backward-forward module, the two products its schedule
module; ΔFD comes back from `forward` to `rnea`, which is its feedback module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

CODES = {name: k for k, name in enumerate(("id", "fd", "m", "minv", "did", "dfd", "difd"))}

# in an order in which each only reads of those before it, but for `rnea`, the second time
STAGES = ("trig", "rnea", "mass", "inverse", "forward", "gradient", "product")
AGAIN = "again"  # `rnea` a second time, at the acceleration that `forward` found
RESULT = "result"  # the task is done

# Function: for each stage that its task visits, the stages that the task goes to from there. Where
# two stages lead to the same place, the one written down leads, and the other is in WAITS.
ROUTES: dict[str, dict[str, tuple[str, ...]]] = {
    "id": {"trig": ("rnea",), "rnea": (RESULT,)},
    "fd": {
        "trig": ("rnea", "mass"),
        "rnea": ("forward",),
        "mass": ("inverse",),
        "inverse": (),
        "forward": (RESULT,),
    },
    "m": {"trig": ("mass",), "mass": (RESULT,)},
    "minv": {"trig": ("mass",), "mass": ("inverse",), "inverse": (RESULT,)},
    "did": {
        "trig": ("rnea", "mass"),
        "rnea": ("gradient",),
        "mass": (),
        "gradient": (RESULT,),
    },
    "dfd": {
        "trig": ("rnea", "mass"),
        "rnea": ("forward",),
        "mass": ("inverse",),
        "inverse": (),
        "forward": (AGAIN,),
        AGAIN: ("gradient",),
        "gradient": ("product",),
        "product": (RESULT,),
    },
    "difd": {
        "trig": ("rnea", "mass"),
        "rnea": ("gradient",),
        "mass": (),
        "gradient": ("product",),
        "product": (RESULT,),
    },
}
WAITS = {"gradient": "mass", "forward": "inverse"}  # what a task must have left besides
AT_REST = {"fd", "dfd"}  # they visit `rnea` first without acceleration
LAST = {  # the stage that completes a function
    function: next(stage for stage, to in route.items() if RESULT in to)
    for function, route in ROUTES.items()
}
HOST, NOTHING = "host", "nothing"  # what else an operand may come from; nothing: it is zero


@dataclass(frozen=True)
class Source:
    """Where a stage's operand comes from: a stage's output, or a word of the task."""

    stage: str
    field: str = ""


def stage_of(visit: str) -> str:
    """The stage that a visit is to."""
    return "rnea" if visit == AGAIN else visit


def traced(functions: Iterable[str]) -> tuple[str, ...]:
    """What to trace together, so that the graph holds all stages of ``functions``."""
    visited = {stage_of(visit) for f in functions for visit in ROUTES[f]}
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
    there = {*stages, RESULT, AGAIN, "trig"}
    return {
        visit: tuple(to for to in leads if to in there)
        for visit, leads in ROUTES[function].items()
        if visit in there
    }


def visits(function: str, stages: Iterable[str]) -> dict[str, int]:
    """How often a task of ``function`` visits each of the ``stages``."""
    there = list(stages)
    visited = [stage_of(visit) for visit in route(function, there)]
    return {stage: visited.count(stage) for stage in there if stage in visited}


def origin(field: str, function: str, visit: str, crossing: Mapping[str, str]) -> Source:
    """Where ``field`` of a visit comes from; ``crossing``: words that another stage gives."""
    if field in crossing:
        return Source(crossing[field], field)
    match kind_of(field):
        case "bias":
            return Source("rnea", field.replace("bias", "tau"))
        case "Minv" if function != "difd":
            return Source("inverse", field)
        case "qdd" if function in AT_REST:
            return Source(NOTHING) if visit == "rnea" else Source("forward", field)
    return Source(HOST, place(field))


def place(field: str) -> str:
    """The word of a task that a field comes in: acceleration and effort have the same."""
    return re.sub(r"^(qdd|tau)\[", "u[", field)


def kind_of(field: str) -> str:
    """``qdd[3]`` → qdd."""
    return field.partition("[")[0]


# The words of a task in their order, by kind; each function takes the first of them.
ORDER = ("sin", "cos", "q", "qd", "u", "f_ext", "Minv")
_AT_MOST = {"m": "q", "minv": "q", "difd": "Minv"}


def words_taken(function: str, words: Iterable[str]) -> list[str]:
    """Of a task's words, those that a function takes: the first so many."""
    last = ORDER.index(_AT_MOST.get(function, "f_ext"))
    return [word for word in words if ORDER.index(kind_of(word)) <= last]
