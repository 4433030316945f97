"""The choices that need another one to have an effect: one table, for Python and command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..robot.model import JointKind, Robot
from ..system.notes import idle
from .choices import (
    AT_FRAMES,
    FRICTIONLESS,
    INVERTING,
    NEARBY,
    OF_HARDWARE,
    OF_MOTION,
    STEP,
    TOLERANCE,
)
from .choices import NEEDS as TAKES

Design = Any  # of `design.py`, which refuses by this table
FACTORING = (*INVERTING, "cfd")
OF_SCHEDULES = ("scheduler", "slots", "order")  # choices that words do not follow from
OF_TEXTS = ("code", "float_error")  # choices of programs that are written
SLOPES = ("did", "dfd", "difd", "ddid", "step")  # functions that have gradients


@dataclass(frozen=True)
class Need:
    """A choice, what it is unless said, and what it is for: where ``there`` says no, nothing reads
    it. ``cure``: what would be right; it is refused, or, if ``noted``, a note says so: where a
    design of several functions has it for one of them, and each is made by itself."""

    key: str
    default: Any
    serves: str
    there: Callable[[Any], bool]
    cure: str = "leave it out"
    noted: bool = False

    def unmet(self, design: Design, of: object = None) -> str:
        """A line on the choice if it has no effect; empty if it has, or was not made. ``of``: whom
        ``there`` asks, if not the design."""
        value = getattr(design, self.key)
        if value == self.default or self.there(design if of is None else of):
            return ""
        said = f"{value:g}" if isinstance(value, float) else str(value)
        if isinstance(value, tuple):
            said = ", ".join(map(str, value))
        unit = " s" if self.key == "step" else ""
        return idle(self.key, f"{said}{unit}", self.serves, self.cure)


def _has(*functions: str) -> Callable[[Design], bool]:
    return lambda design: not set(functions).isdisjoint(design.functions)


def _other_than(*functions: str) -> Callable[[Design], bool]:
    return lambda design: not set(functions).issuperset(design.functions)


def _takes(*states: str) -> Callable[[Design], bool]:
    return lambda own: any(not set(states).isdisjoint(TAKES[name]) for name in own.functions)


def _turns(robot: Robot) -> bool:
    return any(joint.kind in (JointKind.REVOLUTE, JointKind.PLANAR) for joint in robot.joints)


FOLDED = "folded designs, and this one takes a task every cycle"
TO_FOLD = "--ii, --multipliers, or leave it out"


def _folds(design: Design) -> bool:
    """Whether the design folds, as far as that is known before it is scheduled."""
    if design.ii is not None:
        return design.ii > 1
    return design.multipliers is not None or design.fit or design.fold in ("limbs", "joints")


def _logarithmic(design: Design) -> bool:
    return design.formulation == "logarithmic"


def _accelerator(design: Design) -> bool:
    return design.accelerator


NAME_IT = "name that, too"
LOGARITHMIC = "formulation logarithmic", _logarithmic, "--formulation logarithmic"
OF_ACCELERATOR = "an accelerator", _accelerator, "--accelerator, or leave it out"
OF_CFD = "the function cfd", _has("cfd"), NAME_IT
OF_STEP = "the function step", _has("step"), NAME_IT

OF_FRICTION = "functions that friction changes"

NEEDS = (
    Need("network", "sklansky", *LOGARITHMIC),
    Need("products", "plain", *LOGARITHMIC),
    Need("products", "plain", f"gradients, of {', '.join(SLOPES)}", _has(*SLOPES), noted=True),
    Need("frame", None, *LOGARITHMIC),
    Need("inverse", "computed", *LOGARITHMIC),
    Need("nearby", NEARBY, "inverse near", lambda own: own.inverse == "near", "--inverse near"),
    Need("frames", (), f"functions of them, {', '.join(AT_FRAMES)}", _has(*AT_FRAMES), NAME_IT),
    Need("contact", "point", *OF_CFD),
    Need("contact_damping", 0.0, *OF_CFD),
    Need("step", STEP, *OF_STEP),
    Need("integrator", "euler", *OF_STEP),
    Need(
        "tolerance",
        TOLERANCE,
        "parameters in registers",
        lambda own: own.parameters == "registers",
        "--parameters registers",
    ),
    Need(
        "factorisation",
        "auto",
        f"functions that invert the mass matrix, {', '.join(FACTORING)}",
        _has(*FACTORING),
        "name one, or leave it out",
        noted=True,
    ),
    Need("slots", None, *OF_ACCELERATOR, noted=True),
    Need("mix", None, *OF_ACCELERATOR, noted=True),
    Need("order", "finished", *OF_ACCELERATOR, noted=True),
    Need("clock", None, "style latency", lambda own: own.style == "latency", "--style latency"),
    Need(
        "scheduler",
        "list",
        FOLDED,
        _folds,
        TO_FOLD,
        noted=True,
    ),
    Need(
        "width",
        18,
        "designs whose words have one width",
        lambda own: own.error is None,
        "error says how many bits each word has",
        noted=True,
    ),
    Need(
        "fit",
        True,
        "designs that do not say how they share hardware",
        lambda own: own.ii is None and own.multipliers is None and own.fold == "auto",
        "ii, multipliers or fold says it",
        noted=True,
    ),
    Need(
        "formulation",
        "auto",
        f"gradients, of {', '.join(SLOPES)}",
        lambda own: own.formulation != "recursive" or _has(*SLOPES)(own),
        noted=True,
    ),
    Need("gravity", None, "functions that it changes", _other_than(*OF_MOTION), noted=True),
    Need("friction", True, OF_FRICTION, _other_than(*FRICTIONLESS), noted=True),
    Need("friction_width", None, OF_FRICTION, _other_than(*FRICTIONLESS), noted=True),
    Need("velocity", None, "functions of velocities, qd", _takes("qd"), noted=True),
    Need(
        "acceleration",
        None,
        "functions of accelerations or efforts, qdd or tau",
        _takes("qdd", "tau"),
        noted=True,
    ),
)
# What the robot is asked for.
OF_ROBOTS = (
    Need("rotation", 4, "robots with joints that turn", _turns, noted=True),
    Need("angles", "on-chip", "robots with joints that turn", _turns, noted=True),
)


def refused(design: Design) -> str:
    """A line on the first choice that nothing reads, and that nobody can have meant; or empty."""
    lines = (need.unmet(design) for need in NEEDS if not need.noted)
    return next((line for line in lines if line), "")


def notes_of_effects(design: Design, robot: Robot) -> list[str]:
    """A note on each other choice that nothing reads."""
    lines = [need.unmet(design) for need in NEEDS if need.noted]
    lines += [need.unmet(design, robot) for need in OF_ROBOTS]
    return [line for line in lines if line]


def notes_of_interval(design: Design, interval: int) -> list[str]:
    """A note on the scheduler of a design that was left open, and takes a task so often."""
    if design.scheduler == "list" or interval > 1:
        return []
    return [f"scheduler: {design.scheduler} is for {FOLDED}; {TO_FOLD}"]


def notes_of_use(
    what: str,
    choices: Mapping[str, Any],
    words: bool = False,
    texts: bool = False,
    clocks: bool = True,
) -> list[str]:
    """Notes on those of the ``choices`` that have no effect on ``what``, a language, a model or a
    command. ``words``: it has words or hardware; ``texts``: it is a program over real numbers;
    ``clocks``: if it has words, it has a schedule, too."""
    found = []
    for there, keys, why in (
        (words, OF_HARDWARE, "has neither words nor hardware"),
        (texts, OF_TEXTS, "is no program over real numbers"),
        (clocks, OF_SCHEDULES, "has no schedule"),
    ):
        given = [key for key in keys if choices.get(key) is not None and not there]
        if given:
            found.append(f"{what} {why}: no effect of {', '.join(given)}")
    return found
