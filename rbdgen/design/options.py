"""The table of options: every choice of a design by its name, and as a keyword of Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TypedDict

from .function_options import FunctionOptions
from .hardware_options import HardwareOptions
from .nested import Choice, JointDrivetrain, MotionLimits
from .option import HARDWARE, IN_C, NUMBERS, REGISTERS, SCHEDULES, TEXTS, Option, option_of
from .robot_options import RobotOptions

OPTIONS: dict[str, Option] = {
    said.key: said
    for kind in (RobotOptions, FunctionOptions, HardwareOptions)
    for own in fields(kind)
    if (said := option_of(own))
}
CHECKS = {key: said.check for key, said in OPTIONS.items() if said.check}


def used_by(*uses: str) -> tuple[str, ...]:
    """The options that these read, by their names."""
    return tuple(key for key, said in OPTIONS.items() if said.use in uses)


OF_HARDWARE = used_by(HARDWARE, SCHEDULES)  # nothing else reads them
OF_SCHEDULES = used_by(SCHEDULES)  # words do not follow from them
OF_TEXTS = used_by(TEXTS)
OF_C = used_by(IN_C)
OF_REGISTERS = used_by(REGISTERS)
OF_PROGRAMS = used_by(NUMBERS, TEXTS)  # what a program over real numbers depends on


class DesignChoices(TypedDict, total=False):
    """Options of a design as Python takes them; None, or a keyword that is left out: no opinion.

    What each of them means stands in the table, `options`, of which a test holds this to be a copy.
    """

    base: str | None
    mimic: str | None
    open_loops: bool | None
    xacro: Mapping[str, object] | Sequence[str] | None
    root: str | None
    base_link: str | None
    friction: bool | None
    friction_width: float | str | Mapping[str, float] | None
    joints: Mapping[str, JointDrivetrain | Mapping[str, float]] | None
    gravity: Sequence[float] | None
    snap: float | None
    alike: float | None
    velocity: float | str | Mapping[str, float] | None
    acceleration: float | str | Mapping[str, float] | None
    effort: float | str | Mapping[str, float] | None
    limits: MotionLimits | None
    joint_limits: Mapping[str, MotionLimits] | None
    functions: str | Sequence[str] | None
    formulation: str | None
    network: str | None
    products: str | None
    frame: str | None
    factorisation: str | None
    inverse: str | None
    nearby: float | None
    step: float | None
    integrator: str | None
    external_forces: str | Sequence[str] | None
    payload: str | None
    parameters: str | None
    tolerance: float | None
    frames: str | Sequence[str] | None
    kp: float | str | Mapping[str, float] | None
    kd: float | str | Mapping[str, float] | None
    gains: str | None
    reference: str | None
    contact: str | None
    contact_damping: float | None
    angles: str | None
    code: str | None
    real: str | None
    float_error: float | None
    rotation: int | None
    controller: str | None
    knots: int | None
    width: int | None
    guard: int | None
    proven: str | None
    error: float | None
    target: str | None
    ii: int | None
    multipliers: int | None
    fold: str | None
    fit: bool | None
    scheduler: str | None
    style: str | None
    clock: float | None
    tick: int | None
    watchdog: int | None
    accelerator: bool | None
    slots: int | None
    mix: str | None
    order: str | None
    name: str | None
    chosen: tuple[Choice, ...] | None
