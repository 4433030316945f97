"""Random states of a robot, as `evaluate` reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np

from ..compile.samples import refuse_singular, sample_states
from ..design.functions import WHOLE
from ..design.keywords import DesignChoices
from ..design.loading import load, refuse_unknown
from ..robot.model import RobotError
from ..robot.payload import PAYLOAD
from ..system.progress import Progress
from .folder import InputError
from .results import Results

MOST = 2**32  # bytes of all arrays together


def states(
    robot: str,
    n: int = 1000,
    seed: int = 0,
    progress: Progress = lambda _: None,
    **choices: Unpack[DesignChoices],
) -> Results:
    """``n`` random states within the design's limits: the same for the same ``seed``.

    q (n, nq), qd, qdd, tau (n, nv), Minv (n, nv, nv) as the functions among ``choices``, fields of
    Design, need; of all functions where none is given. f_ext (n, bodies, 6) where links take
    forces, payload (n, 10) where one carries that; joint_names. SI units, order and frames as in
    `evaluate`, which takes them with the same choices. tau is what the drawn accelerations take.

    Raises RobotError; InputError for more states than memory is meant for.
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
    if choices.get("functions") is None:
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
