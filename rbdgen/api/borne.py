"""Contact forces of held frames in recorded states, and the limits that follow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import golden
from ..design.bounds import bounds
from ..design.choices import HELD
from ..design.design import Design
from ..robot.model import Robot

Arrays = dict[str, NDArray[np.float64]]
Rows = dict[str, list[float | None]]  # what → [recorded, limit before, none yet]


def with_accelerations(
    design: Design, robot: Robot, arrays: Arrays
) -> tuple[Arrays, Rows, list[str]]:
    """The arrays with qdd, if it was not recorded, the largest components of what holds the frames,
    and notes: dynamics in float64 has both from q, qd and tau.

    RobotError where held directions are dependent and not damped.
    """
    if "tau" not in arrays or "qd" not in arrays:
        return arrays, {}, ["Without qd and tau it is not known what holds the frames."]
    found = golden.constraint_dynamics(
        robot,
        arrays["q"],
        arrays["qd"],
        arrays["tau"],
        design.frames,
        HELD[design.contact],
        design.contact_damping,
    )
    limits, forces = bounds(design, robot).contact, np.abs(found.forces)
    rows: Rows = {"contact_force": [float(forces[..., :3].max()), limits.force, None]}
    if design.contact == "surface":
        rows["contact_moment"] = [float(forces[..., 3:].max()), limits.moment, None]
    rows = {key: row for key, row in rows.items() if row[0]}
    if "qdd" in arrays:
        return arrays, rows, []
    said = "qdd was not recorded: it is what tau makes of the robot, its frames held."
    return arrays | {"qdd": found.qdd}, rows, [said]
