"""A design: which robot, and the choices that turn it into hardware.

Written as a short YAML file that names a URDF (path relative to the YAML)::

    robot: iiwa14.urdf
    functions: [id]
    error: 1e-3
    limits:
      velocity: 10            # every joint, in place of the URDF's [rad/s, m/s]
      acceleration: 10
      joints:
        slide: {velocity: 1.5, position: [0, 2]}

Values derived from the choices of a design, and designs derived from others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ..robot.canonical import stages
from ..robot.model import Robot, RobotError
from .checks import mix
from .choices import ERROR, LATHROP, WORDS
from .effects import refused
from .function_options import FunctionOptions
from .functions import HOLDING, PROGRAMS, ROLLOUTS, SOLVING
from .hardware_options import HardwareOptions
from .nested import (
    FORMULATED,
    PROMISED,
    Choice,
    JointDrivetrain,
    MotionLimits,
)
from .options import CHECKS, OPTIONS
from .robot_options import RobotOptions
from .rule import broken
from .rules import RULES


@dataclass(frozen=True)
class Design(HardwareOptions, FunctionOptions, RobotOptions):
    """The choices. Construction checks each of them (RobotError, one line).

    ``robot`` is the path of the URDF. Each option stands beside its field, in `RobotOptions`,
    `FunctionOptions` and `HardwareOptions`; docs/options.md lists them.

    ``chosen``: what rbdgen chose for this very design where nobody had: a design of other choices
    is searched anew. It is the words, by `load` (those that cannot keep `ERROR` have 18 bits, with
    a note), the formulation of style latency, and what makes the design fit its part.
    """

    chosen: tuple[Choice, ...] = ()

    def __post_init__(self) -> None:
        for key, check in CHECKS.items():
            try:
                object.__setattr__(self, key, check(getattr(self, key)))
            except ValueError as error:
                raise RobotError(f"{key}: {error}") from None
        own_joints = {name: JointDrivetrain.of(name, said) for name, said in self.joints.items()}
        object.__setattr__(self, "joints", own_joints)
        if line := refused(self):
            raise RobotError(line)
        for name in mix(self.mix) if self.mix else ():
            if name not in self.functions:
                raise RobotError(
                    f"mix: {name} is none of the functions, {', '.join(self.functions)}"
                )


def promising(design: Design) -> Design:
    """The design with words for an error of `ERROR`, unless other choices ask for one width.

    An accelerator's limbs on a trunk, joints and columns are time-multiplexed in words of one width
    alone.
    """
    if design.accelerator or design.guard != 1 or design.proven != "none":
        return with_choice(design, Choice(PROMISED))
    return with_choice(replace(design, error=ERROR), Choice(PROMISED))


def choice_of(design: Design, what: str) -> Choice | None:
    """The design's choice of that kind, one of `CHOICES`; None where rbdgen made none."""
    return next((choice for choice in design.chosen if choice.what == what), None)


def with_choice(design: Design, choice: Choice) -> Design:
    """The design with a choice in place of the one of the same kind, if it has one."""
    others = (own for own in design.chosen if own.what != choice.what)
    return replace(design, chosen=(*others, choice))


def as_chosen(design: Design, what: str) -> Design:
    """The design with the options of one choice as if they had been asked for."""
    choice = choice_of(design, what)
    others = tuple(own for own in design.chosen if own is not choice)
    return replace(design, **choice.options, chosen=others) if choice else design


def is_looped(design: Design) -> bool:
    """Whether programs are loops over visits."""
    return design.code == "loops"


def is_predictive(design: Design) -> bool:
    """Whether the design is a controller that plans ahead, in place of functions."""
    return design.controller in PROGRAMS


def has_least_latency(design: Design) -> bool:
    """Whether the fewest cycles are asked for, in place of the most tasks."""
    return design.style == "latency"


def has_registers(design: Design) -> bool:
    """Whether what differs between robots of one model is in registers."""
    return design.parameters == "registers"


def rewritten(
    design: Design,
    robot: Robot,
    bodies: bool = False,
    notes: list[str] | None = None,
    in_floats: bool = False,
) -> Iterator[tuple[str, Robot]]:
    """The robot after each of the rewrites, as the design asks for them; see `stages`.

    ``in_floats``: for a program in floating point, which snaps no angle unless the design says so,
    or which base parameters there are depends on it.
    """
    exact = in_floats and "base_regressor" not in design.functions
    snap = design.snap or 0.0 if exact else design.snap
    return stages(robot, snap, notes, bodies, design.alike, has_registers(design))


def canonical_of(design: Design, bodies: bool = False) -> Callable[[Robot], Robot]:
    """All of these rewrites, which robots of a model share."""

    def canonical(robot: Robot) -> Robot:
        *_, (_, last) = rewritten(design, robot, bodies)
        return last

    return canonical


def holds(design: Design) -> bool:
    """Whether frames are held in the design's states."""
    return not set(HOLDING).isdisjoint(design.functions)


def stays(design: Design) -> bool:
    """Whether the frames that are held do not move in any state."""
    return set(HOLDING).issuperset(design.functions)


def has_rollouts(design: Design) -> bool:
    """Whether tasks may ask for steps of integration."""
    return not set(ROLLOUTS).isdisjoint(design.functions)


FOLLOW = ("robot", "chosen")  # fields that follow from the others


def is_left_open(design: Design) -> bool:
    """Whether nobody says how often the design takes a task, or how it shares hardware."""
    said = design.ii is not None or design.multipliers is not None or design.fold != "auto"
    return design.fit and not said


def chooses_fold(design: Design) -> bool:
    """Whether it is left to the compiler who is time-multiplexed."""
    if has_registers(design):  # limbs and joints that are have constants of their own
        return False
    folded = design.ii is not None or design.multipliers is not None
    return folded and design.fold == "auto" and not has_least_latency(design)


def chooses_joints(design: Design) -> bool:
    """Whether joints may be time-multiplexed without being asked to."""
    if has_registers(design) or design.proven != "none":  # their words are searched
        return False
    if design.formulation in LATHROP:  # with themselves
        return False
    # one binary point for all joints costs more digits of M⁻¹ than logic is worth
    return not set(SOLVING).intersection(design.functions)


def formulation_of(design: Design) -> str:
    """The formulation that the design's functions are traced in."""
    own = as_chosen(design, FORMULATED).formulation
    return "composite" if own == "auto" else own


def is_unformulated(design: Design) -> bool:
    """Whether the fewest cycles are asked for, and nobody says in which formulation."""
    open_yet = design.formulation == "auto" and not choice_of(design, FORMULATED)
    return open_yet and has_least_latency(design)


def of_functions(design: Design, functions: Sequence[str], **choices: Any) -> Design:
    """The design of some functions and with ``choices``, without the options that serve none of
    these."""
    chosen: dict[str, Any] = {"functions": tuple(functions), "mix": None, **choices}
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
    if choice_of(design, PROMISED) or (design.width, design.error) == (usual.width, usual.error):
        return choices
    return choices | ({"width": design.width} if design.error is None else {"error": design.error})


def plain(value: Any) -> Any:
    """The value of a choice as JSON has it."""
    if isinstance(value, MotionLimits | JointDrivetrain):
        return {key: plain(own) for key, own in vars(value).items() if own is not None}
    if isinstance(value, Mapping):
        return {key: plain(own) for key, own in value.items()}
    return [plain(own) for own in value] if isinstance(value, tuple) else value
