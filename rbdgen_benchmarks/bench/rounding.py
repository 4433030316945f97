"""Accelerations in float: the condition of M, and what a step of refinement leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.api.evaluation import checked
from rbdgen.api.native_programs import compiled
from rbdgen.api.recorded_states import states
from rbdgen.api.reference import golden_model
from rbdgen.design.design import Design
from rbdgen.design.loading import load
from rbdgen.robot.model import Array, Robot
from rbdgen.system.quoting import Progress

from .measurement import Row, measurement

ROBOTS = (("iiwa14", "fixed"), ("hyq", "floating"), ("humanoid", "floating"))
STATES = 1000
HEAD = (
    *("", "condition of M", "times 2^-24", "error in double", "in float", "as effort"),
    *("refined, residual in float", "in double"),
)
LEGEND = (
    "The largest of random states within the limits. Errors of accelerations from efforts, by the\n"
    "largest entry of the golden model's, of states as float has them; in float alone. As effort:\n"
    "M times the error, by the largest entry of |M| |acceleration|. Refined: M^-1 times what its\n"
    "effort lacks is added once, in float; that effort is computed in float, or in double."
)


@measurement("rounding", "minutes", HEAD, cases=lambda: ROBOTS, legend=LEGEND, page=True)
def rounding(place: Path, progress: Progress, robot: str, base: str) -> Iterator[Row]:
    """Accelerations in float: condition of the mass matrix, and a step of refinement."""
    name = f"{robot}{' floating' * (base == 'floating')}"
    progress(name)
    yield [name, *(f"{x:.1e}" for x in of_robot(robot, base, STATES, progress).values())]


def of_robot(robot: str, base: str, n: int, progress: Progress) -> dict[str, float]:
    """The numbers of ``HEAD``, of n states."""
    choices: dict[str, Any] = {"base": base, "functions": ("id", "fd", "m", "minv")}
    choices["float_error"] = 1  # float alone
    design, loaded = load(robot, **choices)
    single, double = (compiled(design, loaded, kind, progress) for kind in ("cpp32", "cpp"))
    state = checked(design, loaded, states(robot, n, **choices))
    state = {name: values.astype(np.float32).astype(np.float64) for name, values in state.items()}
    golden = golden_model(design, loaded, state)
    wanted, M = golden["qdd"], golden["M"]
    own = single(state)
    qdd = own["qdd"].astype(np.float64)
    condition = float(np.linalg.cond(M).max())
    efforts = {
        "float": single(state | {"qdd": qdd})["tau"],
        "double": _efforts(design, loaded, state | {"qdd": qdd}),
    }
    refined = {kind: _refined(own, state["tau"], tau) for kind, tau in efforts.items()}
    return {
        "condition": condition,
        "condition_ulps": condition * 2.0**-24,
        "double": _apart(double(state)["qdd"], wanted),
        "float": _apart(qdd, wanted),
        "effort": _largest(_times(M, qdd - wanted)) / _largest(_times(abs(M), abs(wanted))),
        **{f"refined_{kind}": _apart(values, wanted) for kind, values in refined.items()},
    }


def _efforts(design: Design, robot: Robot, state: Mapping[str, Array]) -> Array:
    """The efforts of the golden model."""
    return golden_model(replace(design, functions=("id",)), robot, dict(state))["tau"]


def _refined(own: Mapping[str, Array], tau: Array, effort: Array) -> Array:
    """q̈ and a step, which is computed in float as M⁻¹ is."""
    lacks = (tau - effort).astype(np.float32)
    step: Array = _times(own["Minv"].astype(np.float32), lacks)
    return own["qdd"].astype(np.float32) + step


def _times(matrices: NDArray[Any], vectors: NDArray[Any]) -> Any:
    return np.einsum("nij,nj->ni", matrices, vectors)


def _apart(values: Array, wanted: Array) -> float:
    return _largest(values - wanted) / _largest(wanted)


def _largest(values: Array) -> float:
    return float(np.abs(values).max())
