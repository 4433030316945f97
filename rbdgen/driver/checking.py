"""A board beside the integer model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..api.errors import Mismatch
from ..api.names import DESIGN
from ..api.sampling import states as sampled
from ..design.design import given_coordinates, takes
from ..design.loading import load
from .dynamics import Dynamics
from .links import Transport

Progress = Callable[[str], None]


def check_board(
    folder: str | Path,
    port: str | Transport,
    states: int = 1000,
    seed: int = 0,
    progress: Progress = lambda _: None,
    trust: bool = False,
) -> int:
    """Compare so many random states of each function on a board with the integer model.

    The number of results, each equal in every bit; Mismatch for the first that is not.
    """
    there = Dynamics(folder, "board", port=port, trust=trust, on_overflow="ignore")
    here = Dynamics(folder, "integer", trust=trust, on_overflow="ignore", progress=progress)
    design = str(Path(folder) / DESIGN)
    filed, robot = load(design)
    results = 0
    for function in there.functions:
        taken = sampled(design, states, seed, functions=(function,))
        given = [taken[name] for name in takes(function, given_coordinates(filed, robot) > 0)]
        ours = here.submit(function, *given, f_ext=taken.get("f_ext"))
        theirs = there.submit(function, *given, f_ext=taken.get("f_ext"))
        for name, expected in ours.arrays.items():
            wrong = np.argwhere(theirs.arrays[name] != expected)
            if len(wrong):
                raise Mismatch(
                    f"{port}: {function}: {name} of state {wrong[0][0]} is not the model's"
                )
        if (theirs.overflow != ours.overflow).any():
            raise Mismatch(f"{port}: {function}: flags are not the model's")
        results += states
        progress(f"{function}: {states} states, every bit equal")
    return results
