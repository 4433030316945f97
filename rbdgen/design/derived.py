"""Values derived from the choices of a design, and designs derived from others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from .choices import WORDS
from .design import Design, promising
from .nested import JointDrivetrain, MotionLimits
from .options import OPTIONS
from .rule import broken
from .rules import RULES

FOLLOW = ("robot", "fitted", "formulated", "unsaid")  # fields that follow from the others


def is_left_open(design: Design) -> bool:
    """Whether nobody says how often the design takes a task, or how it shares hardware."""
    said = design.ii is not None or design.multipliers is not None or design.fold != "auto"
    return design.fit and not said


def formulation_of(design: Design) -> str:
    """The formulation that the design's functions are traced in."""
    if design.formulation != "auto":
        return design.formulation
    return design.formulated.formulation if design.formulated else "composite"


def is_unformulated(design: Design) -> bool:
    """Whether the fewest cycles are asked for, and nobody says in which formulation."""
    return design.style == "latency" and design.formulation == "auto" and not design.formulated


def as_fitted(design: Design) -> Design:
    """The design with what was chosen for it, as if it had been asked for."""
    chosen = design.fitted
    return replace(design, ii=chosen.ii, fold=chosen.fold, fitted=None) if chosen else design


def of_functions(design: Design, functions: Sequence[str]) -> Design:
    """The design of some of its functions, without the options that serve none of these."""
    chosen: dict[str, Any] = {"functions": tuple(functions), "mix": None}
    while keys := {key for key, _ in broken(RULES, design, **chosen)} - chosen.keys():
        chosen |= {key: OPTIONS[key].default for key in keys}
    return replace(design, **chosen)


def no_defaults(design: Design) -> dict[str, Any]:
    """The choices that make a design what it is, as JSON has them; without those of `load`."""
    left = {*FOLLOW, *WORDS}
    choices = {
        field.name: plain(value)
        for field, default in zip(fields(Design), vars(Design("")).values(), strict=True)
        if field.name not in left and (value := getattr(design, field.name)) != default
    }
    usual = promising(replace(design, width=Design("").width, error=None))
    if design.unsaid or (design.width, design.error) == (usual.width, usual.error):
        return choices
    return choices | ({"width": design.width} if design.error is None else {"error": design.error})


def plain(value: Any) -> Any:
    """The value of a choice as JSON has it."""
    if isinstance(value, MotionLimits | JointDrivetrain):
        return {key: plain(own) for key, own in vars(value).items() if own is not None}
    if isinstance(value, Mapping):
        return {key: plain(own) for key, own in value.items()}
    return [plain(own) for own in value] if isinstance(value, tuple) else value
