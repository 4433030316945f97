"""How far the integer model is from the golden one, and the width that a given error takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..api.errors import Error
from ..api.evaluation import to_words
from ..api.integer_model import IntegerModel
from ..api.kept import kept
from ..api.names import design_text
from ..api.simulation import batches, outputs_and_golden
from ..compile.flow import Core, Front
from ..graph.text import to_text

SEED = 0
SMALLEST = 1e-300  # no division by zero
Report = dict[str, Any]


def redesigned(front: Front, **choices: Any) -> Front:
    """The same graph at another ``width``, or under other ``limits``: neither enters it."""
    return replace(front, design=replace(front.design, **choices))


def errors(core: Core, states: int, place: Path) -> Report:
    """The integer model's errors over random states within the design's limits.

    ``arrays``: of each array the relative RMS over all states and entries, the largest error,
    absolute and against the largest value, and the median and the worst state's relative error,
    ‖error‖ / ‖value‖. ``overflows``: states with one. Kept in ``place``.
    """
    of = f"{to_text(core.fixed)}{design_text(core.front.design)}{states} {SEED}"
    return dict(kept(place, "errors", of, lambda: _measured(core, states)))


def _measured(core: Core, states: int) -> Report:
    sums: dict[str, Error] = {}
    by_state: dict[str, list[NDArray]] = {}
    overflows = 0
    integers = IntegerModel(core)
    for state in batches(core, states, SEED):
        expected, flags = integers(to_words(core, state))
        overflows += int(flags.any(axis=1).sum())
        for name, values, reference in outputs_and_golden(core, state, expected):
            sums.setdefault(name, Error()).add(values, reference)
            far, size = (
                np.linalg.norm(x.reshape(len(x), -1), axis=1)
                for x in (values - reference, reference)
            )
            by_state.setdefault(name, []).append(far / np.maximum(size, SMALLEST))
    arrays = {}
    for name, error in sums.items():
        relative = np.concatenate(by_state[name])
        own = {"median_state": float(np.median(relative)), "worst_state": float(relative.max())}
        arrays[name] = {**error.report().to_json(), **own}
    return {"states": states, "overflows": overflows, "arrays": arrays}


def worst(report: Report, key: str = "relative_rms") -> float:
    """The largest of all arrays' figures."""
    return max(array[key] for array in report["arrays"].values())
