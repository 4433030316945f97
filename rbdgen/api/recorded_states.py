"""States for ``evaluate``: recorded, and completed by dynamics in float64, or random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from .. import golden
from ..compile.samples import refuse_singular, sample_states
from ..design.arrays import held
from ..design.bounds import bounds
from ..design.design import Design
from ..design.functions import WHOLE
from ..design.loading import load, refuse_unknown
from ..design.options import DesignChoices
from ..graph.word import spell
from ..robot.model import Robot, RobotError
from ..robot.variations import PAYLOAD
from ..robot.xml_lines import did_you_mean
from ..system.quoting import Progress
from .folder import InputError
from .results import Results

Arrays = dict[str, NDArray[np.float64]]
Rows = dict[str, list[float | None]]  # what → [recorded, limit before, none yet]
LEAST = 100  # states
ARRAYS = ("q", "qd", "qdd", "tau")
IGNORED = ("joint_names", "Minv", "f_ext", PAYLOAD)  # of what `states` draws


def checked_states(robot: Robot, states: Mapping[str, Any]) -> Arrays:
    """The arrays, each as it should be; InputError."""
    given = {name: array for name, array in states.items() if name not in IGNORED}
    if (names := states.get("joint_names")) is not None:
        recorded, own = [str(name) for name in names], list(robot.joint_names)
        if recorded != own:
            raise InputError(
                f"joint_names: {', '.join(recorded)}, and the robot's are {', '.join(own)}; "
                "put the columns in that order"
            )
    for name in given:
        if name not in ARRAYS:
            hint = did_you_mean(name, ARRAYS, f"; there are {', '.join(ARRAYS)}")
            raise InputError(f"{name}: no array of states{hint}")
    if "q" not in given or len(given) < 2:
        raise InputError(f"states: need q and some of {', '.join(ARRAYS[1:])}")
    found: Arrays = {}
    for name, array in given.items():
        width = robot.nq if name == "q" else robot.nv
        if (
            np.ndim(array) != 2
            or np.shape(array)[1] != width
            or np.asarray(array).dtype.kind in "cOSUV"
        ):
            raise InputError(f"{name}: shape {np.shape(array)}, not (N, {width}) numbers")
        found[name] = np.asarray(array, np.float64)
        if not np.isfinite(found[name]).all():
            state, k = (int(x) for x in np.argwhere(~np.isfinite(found[name]))[0])
            raise InputError(f"{spell(name, k)} of state {state} is {found[name][state, k]}")
    counts = {name: len(array) for name, array in found.items()}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} {n}" for name, n in counts.items())
        raise InputError(f"states: not as many of each array: {said}")
    if counts["q"] < LEAST:
        raise InputError(f"states: {counts['q']} are too few to set limits by; at least {LEAST}")
    _within(robot, found)
    return found


def _within(robot: Robot, arrays: Arrays) -> None:
    """InputError for the first state beyond what the robot's file lets a joint do."""
    for i in robot.free:
        joint = robot.joints[i]
        if joint.kind.nv != 1:
            continue
        said = joint.limits
        k, v = robot.q_slices[i].start, robot.v_slices[i].start
        checks = [
            ("q", k, said.lower, said.upper),
            ("qd", v, -said.speed, said.speed),
            ("tau", v, -said.effort, said.effort),
        ]
        for name, column, lower, upper in checks:
            if name not in arrays:
                continue
            values = arrays[name][:, column]
            if (out := np.flatnonzero((values < lower) | (values > upper))).size:
                raise InputError(
                    f"{name} of {joint.name} in state {out[0]} is {values[out[0]]:g}, and the "
                    f"robot's file has {lower:g} to {upper:g}: mend the one or the other"
                )


def with_missing(robot: Robot, arrays: Arrays) -> tuple[Arrays, list[str]]:
    """Complete accelerations from efforts, or efforts from accelerations, if one is missing."""
    q, qd = arrays["q"], arrays.get("qd")
    if qd is None:
        return arrays, ["No qd was recorded: velocities keep their limits."]
    if "qdd" in arrays and "tau" in arrays:
        return arrays, []
    if "tau" in arrays:
        qdd = golden.aba(robot, q, qd, arrays["tau"])
        return arrays | {"qdd": qdd}, ["qdd was not recorded: it is what tau makes of the robot."]
    if "qdd" in arrays:
        tau = golden.rnea(robot, q, qd, arrays["qdd"])
        return arrays | {"tau": tau}, ["tau was not recorded: it is what qdd takes of the robot."]
    return arrays, ["Neither qdd nor tau was recorded: accelerations keep their limits."]


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
        *held(design),
    )
    limits, forces = bounds(design, robot).contact, np.abs(found.forces)
    rows: Rows = {
        "contact_force": [float(forces[..., :3].max()), limits.force, None],
        "contact_moment": [float(forces[..., 3:].max()), limits.moment, None],
    }
    rows = {key: row for key, row in rows.items() if row[0]}
    if "qdd" in arrays:
        return arrays, rows, []
    said = "qdd was not recorded: it is what tau makes of the robot, its frames held."
    return arrays | {"qdd": found.qdd}, rows, [said]


MOST = 2**32  # bytes of all arrays together


def states(
    robot: str,
    n: int = 1000,
    seed: int = 0,
    progress: Progress = lambda _: None,
    **choices: Unpack[DesignChoices],
) -> Results:
    """``n`` random states within the design's limits: the same for the same ``seed``.

    They have the arrays that the functions among ``choices`` need, or those of all functions: q (n,
    nq); qd, qdd, tau (n, nv); Minv (n, nv, nv). f_ext (n, bodies, 6) is added where links take
    forces, and payload (n, 10) where one carries a payload. joint_names, SI units, order and frames
    are those of `evaluate`, which takes the states with the same choices. tau is the effort of the
    drawn accelerations.

    Raises RobotError, and InputError for more states than fit into memory.
    """
    refuse_unknown(choices, states)
    if n < 1:
        raise InputError(f"n: at least 1 state, not {n}")
    design, loaded = load(robot, **choices)
    if not loaded.nv:
        raise RobotError(f"{loaded.name}: no joint moves, so there are no states")
    numbers = loaded.nq + 3 * loaded.nv + loaded.nv**2 + 6 * len(loaded.moving)
    if 8 * n * numbers > MOST:
        most = MOST // (8 * numbers)
        raise InputError(f"n: {n} states of {loaded.name} are too many at a time; up to {most}")
    if choices.get("functions") is None and choices.get("controller") in (None, "none"):
        design = replace(design, functions=WHOLE, accelerator=False, mix=None, inverse="computed")
        try:
            refuse_singular(design, loaded)
        except RobotError as error:
            progress(f"note: no Minv: {error}")
            rest = tuple(name for name in WHOLE if name != "difd")
            design = replace(design, functions=rest)
    drawn = sample_states(design, loaded, n, seed)
    if not design.external_forces:
        del drawn["f_ext"]
    if design.payload is None:
        del drawn[PAYLOAD]
    return Results(drawn, joint_names=np.array(loaded.joint_names, dtype=np.str_))
