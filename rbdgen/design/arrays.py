"""The arrays that a design's functions take and give, by name."""

from __future__ import annotations

from ..graph.word import BASE_PARAMETERS, FAR, PARAMETERS, ROOT
from ..robot.base_parameters import SIZE, base_columns
from ..robot.model import BASE, Robot
from .choices import HELD
from .design import Design
from .functions import FOLLOWING, GIVEN_BASE, GIVES, INVERTING, NEEDS, ROLLOUTS, UNFORCED, UNLOADED


def needs(design: Design) -> tuple[str, ...]:
    """Names of the arrays that the design's functions take; f_ext besides, where it has inputs."""
    rollouts = [name for name in design.functions if name in ROLLOUTS]
    names = [
        name for f in design.functions if f not in rollouts for name in takes(f, *of_state(design))
    ]
    if design.accelerator and (rollouts or not {"fd", "dfd"}.isdisjoint(design.functions)):
        names += ["q", "qd", "qdd", "tau", "bias", "Minv"]  # between its stages
    if root_of(design) == "each":
        names.append(ROOT)
    names += gain_inputs(design)
    return tuple(dict.fromkeys(names))


def gain_inputs(design: Design) -> tuple[str, ...]:
    """The gains of the design's controller that come with each task."""
    if design.gains != "inputs":
        return ()
    follows = not set(FOLLOWING).isdisjoint(design.functions)
    return ("kp", "kd") if follows else ("kd",)


def is_loaded(design: Design) -> bool:
    """Whether a payload comes in: where there is one, and a function that it changes."""
    return design.payload is not None and not set(design.functions) <= set(UNLOADED)


def pushed(design: Design, robot: Robot) -> list[int]:
    """The joints whose bodies external forces may act on."""
    return [i for i in robot.moving if robot.joints[i].body in design.external_forces]


def is_pushed(design: Design) -> bool:
    """Whether forces come in: where bodies have any, and a function that they change."""
    return bool(design.external_forces) and not set(design.functions) <= set(UNFORCED)


def reads_links(design: Design) -> bool:
    """Whether anything is said of links' own frames: forces, a payload, named frames."""
    return bool(design.external_forces or design.payload or design.frames)


def named_links(design: Design) -> tuple[tuple[str, ...], str]:
    """The links of a design's frames, and the one that carries its payload, or ""."""
    return design.frames, design.payload or ""


def is_near(design: Design) -> bool:
    """Whether M⁻¹ is made from that of a state nearby."""
    return design.inverse == "near"


def of_state(design: Design) -> tuple[bool, bool]:
    """Flags for arrays that come with a state: the base's motion, and M⁻¹ of a state nearby."""
    return design.root == "given", is_near(design)


def held(design: Design) -> tuple[int, float]:
    """How many directions of each frame are held, three of its origin or its turn's besides, and
    the damping μ [1/kg]."""
    return HELD[design.contact], design.contact_damping


def takes(function: str, given: bool, near: bool = False) -> tuple[str, ...]:
    """Names of the arrays that a function takes; ``given`` and ``near`` as `of_state` has them.

    Forward dynamics needs the acceleration of a given base: the first entries of qdd.
    """
    names = NEEDS[function]
    if given and "tau" in names:
        names = (*names, "qdd")
    return (*names, "Minv") if near and function in INVERTING else names


def gives(design: Design, function: str) -> tuple[str, ...]:
    """Names of the arrays that a function of the design gives."""
    near = is_near(design) and function in INVERTING
    return (*GIVES[function], FAR) if near else GIVES[function]


def all_gives(design: Design) -> tuple[str, ...]:
    """Names of all arrays that the design's functions give, each once."""
    return tuple(dict.fromkeys(name for f in design.functions for name in gives(design, f)))


def given_coordinates(design: Design, robot: Robot) -> int:
    """How many of v's first entries are the base's, its motion being given: 6, else 0.

    They have no rows or columns in what the design's functions give, and none in tau and Minv.
    """
    return robot.joints[0].kind.nv if design.root == "given" else 0


def counts(design: Design, canonical: Robot) -> dict[str, int]:
    """The number of the bodies' inertial parameters, and of those that τ depends on."""
    found = {PARAMETERS: SIZE * len(canonical.moving)}
    if "base_regressor" in design.functions:
        found[BASE_PARAMETERS] = len(base_columns(canonical, given_coordinates(design, canonical)))
    return found


def root_of(design: Design) -> str:
    """The treatment of a floating base in the design's graph: free, given or each.

    One that is ignored has been left out when the robot was read.
    """
    return "free" if design.root == "ignored" else design.root


def left_out(function: str) -> int:
    """How many of v's first entries have no rows or columns in what a function of an accelerator
    gives, its base's motion being given where others' is free."""
    return BASE if function in GIVEN_BASE else 0
