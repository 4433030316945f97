"""An accelerator whose joints take turns: one function, and one stage from angles to results."""

from __future__ import annotations

from ..design.design import given_coordinates
from ..passes.instances import FixedProgram
from ..passes.pieces import Piece
from ..robot.model import RobotError
from ..tasks.stages import Stage
from .front import Front
from .plans import refuse_joints, rounds

STAGES = {"id": "rnea", "m": "mass"}  # function: the stage, the first of its route and the last


def refuse_apart(front: Front) -> None:
    """RobotError for what has no such stage."""
    functions = front.design.functions
    if len(functions) != 1 or functions[0] not in STAGES:
        raise RobotError(
            f"{front.robot.name}: fold: joints: an accelerator whose joints take turns computes "
            f"{' or '.join(STAGES)} alone, not {', '.join(functions)}"
        )
    refuse_joints(front.design, front.robot.name)


def joints_stage(front: Front, program: FixedProgram) -> tuple[Stage, str]:
    """The stage at the interval that the design asks for, and a note of what takes turns."""
    refuse_apart(front)
    plan, note = rounds(front.design, program, front.target)
    given = given_coordinates(front.design, front.robot)
    return Stage(STAGES[front.design.functions[0]], Piece(plan.whole, {}), plan, given), note
