"""A board beside the integer model."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from rbdgen.api.design_file import DESIGN
from rbdgen.api.folder import read_manifest
from rbdgen.api.recorded_states import states as sampled
from rbdgen.api.results import Mismatch
from rbdgen.design.arrays import given_coordinates, takes
from rbdgen.design.loading import load
from rbdgen.robot.variations import PAYLOAD
from rbdgen.shell.packets import SELF_TEST, TESTED
from rbdgen.system.quoting import Progress

from .defaults import DynamicsWarning
from .dynamics import Dynamics
from .links import TaskLink, Transport
from .ports import opened


def check_board(
    folder: str | Path,
    port: str | Transport,
    states: int = 1000,
    seed: int = 0,
    progress: Progress = lambda _: None,
    trust: bool = False,
) -> int:
    """The board's self-test, then so many random states of each function over the link.

    The number of results, each equal in every bit to the integer model's; Mismatch for the first
    that is not, or for a self-test that found a wrong word. ``port`` is closed at the end.
    """
    port = opened(port) if isinstance(port, str) else port
    try:
        progress(self_test(folder, port))
        return _checked(folder, port, states, seed, progress, trust)
    finally:
        port.close()


def self_test(folder: str | Path, transport: Transport) -> str:
    """Run the vectors on the board, and say what it says of them; Mismatch if they fail."""
    entry = read_manifest(Path(folder)).facts
    link = TaskLink.over(transport, {SELF_TEST: TESTED}, entry.identity, entry.name)
    ((answered, wrong, clocks),) = (own.words for own in link.ask([(SELF_TEST, ())]))
    if wrong or not answered:
        raise Mismatch(f"self-test of the board: {wrong} words are wrong of {answered} responses")
    return f"self-test on the board: {answered} tasks in {clocks} clocks, every bit equal"


def _checked(
    folder: str | Path,
    port: Transport,
    states: int,
    seed: int,
    progress: Progress,
    trust: bool,
) -> int:
    with warnings.catch_warnings():  # both are of the same numbers, whatever those leave out
        warnings.simplefilter("ignore", DynamicsWarning)
        there = Dynamics(folder, "board", port=port, trust=trust, on_overflow="ignore")
        here = Dynamics(folder, "integer", trust=trust, on_overflow="ignore", progress=progress)
    design = str(Path(folder) / DESIGN)
    filed, robot = load(design)
    results = 0
    for function in there.functions:
        taken = sampled(design, states, seed, functions=(function,))
        given = [taken[name] for name in takes(function, given_coordinates(filed, robot) > 0)]
        besides = {name: taken.get(name) for name in ("f_ext", PAYLOAD)}
        ours = here.submit(function, *given, **besides)
        theirs = there.submit(function, *given, **besides)
        for name, expected in ours.arrays.items():
            wrong = np.argwhere(theirs.arrays[name] != expected)
            if len(wrong):
                raise Mismatch(
                    f"board: {function}: {name} of state {wrong[0][0]} is not the model's"
                )
        if (theirs.overflow != ours.overflow).any():
            raise Mismatch(f"board: {function}: flags are not the model's")
        results += states
        progress(f"{function}: {states} states, every bit equal")
    return results
