"""Arrays of calls, their names, and the steps of rollouts as words have them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rbdgen.api.folder import InputError

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SPELT = {"qd": "v", "qdd": "a"}  # as Pinocchio calls what comes in


def step_sizes(h: Array) -> Array:
    """h (N,) as rollouts take it (N, 2): the nearest multiple of 2^-22 s, and 4/3 of that.

    InputError for steps that are not positive, or too long.
    """
    from rbdgen.tasks.integration import LONGEST, STEP  # of accelerators, as all of that room

    nearest = STEP.real(STEP.quantize(h))
    bad = (nearest <= 0) | (h > LONGEST)
    if bad.any():
        state, shortest = int(np.argmax(bad)), float(STEP.real(np.array(1)))
        raise InputError(
            f"h of state {state} is {h[state]:g} s; a step lasts from {shortest:.3g} to "
            f"{LONGEST:.3g} s"
        )
    return np.stack([nearest, nearest * 4 / 3], axis=1)


def step_counts(steps: Array) -> Array:
    """How many steps (N,) as rollouts take them (N, 1); InputError for what is no such number."""
    from rbdgen.tasks.stages import COUNT

    most = (1 << COUNT) - 1
    bad = (steps != np.floor(steps)) | (steps < 1) | (steps > most)
    if bad.any():
        state = int(np.argmax(bad))
        raise InputError(
            f"steps of state {state} is {steps[state]:g}; expected a whole number from 1 to {most}"
        )
    return steps[:, None]
