"""The table of options: every choice of a design by its name."""

from __future__ import annotations

from dataclasses import fields

from .function_options import FunctionOptions
from .hardware_options import HardwareOptions
from .option import HARDWARE, NUMBERS, REGISTERS, SCHEDULES, TEXTS, Option, option_of
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
OF_REGISTERS = used_by(REGISTERS)
OF_PROGRAMS = used_by(NUMBERS, TEXTS)  # what a program over real numbers depends on
