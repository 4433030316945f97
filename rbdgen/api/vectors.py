"""States and their expected results as text, which every program's folder has to be tried with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..codegen.interface import Array, Interface
from ..compile.front import Front
from ..compile.samples import sample_states
from ..dynamics.interface import to_columns
from ..graph.evaluate import evaluate
from ..passes.registers import PARAMETER

STATES, SEED = 16, 11
VECTORS, EXPECTED = "states.txt", "expected.txt"
DIGITS = 12  # of what is expected: the last of a double differ from machine to machine


def vectors(front: Front, interface: Interface) -> dict[str, str]:
    """Two files: random states within the limits, and what the functions give there.

    A line for each state; in it all arrays, one behind another, row by row, as ``interface`` has
    them.
    """
    state = sample_states(front.design, front.canonical, STATES, SEED)
    if front.parameters and interface.same:
        state[PARAMETER] = np.tile(list(front.parameters.nominal.values()), (STATES, 1))
    elif front.parameters:  # of as many robots of the model
        state[PARAMETER] = front.parameters.of_drawn(STATES)
    columns = to_columns(front.canonical, front.graph.inputs, state)
    state |= _angles(columns, interface)
    found = evaluate(front.graph, columns)
    gives = {a.name: np.zeros((STATES, a.size)) for a in interface.gives}
    for name, values in found.items():
        for entry in interface.outputs[name]:
            gives[entry.array][:, entry.at] = values
    return {
        VECTORS: _text(state, interface.takes, 17),
        EXPECTED: _text(gives, interface.gives, DIGITS),
    }


def _angles(columns: Mapping[str, NDArray[np.float64]], interface: Interface) -> dict[str, NDArray]:
    """The arrays sin and cos, where they are inputs; zero for joints that have neither."""
    found = {
        a.name: np.zeros((STATES, a.size)) for a in interface.takes if a.name in ("sin", "cos")
    }
    for name, values in columns.items():
        entry = interface.inputs[name]
        if entry.array in found:
            found[entry.array][:, entry.at] = values
    return found


def _text(arrays: Mapping[str, NDArray], order: Sequence[Array], digits: int) -> str:
    rows = np.concatenate([arrays[a.name].reshape(STATES, -1) for a in order], axis=1)
    return "".join(" ".join(f"{x:.{digits}g}" for x in row) + "\n" for row in rows + 0.0)
