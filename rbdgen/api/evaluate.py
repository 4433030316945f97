"""A batch of states through any of the models: golden, float graph, integer graph, RTL."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import golden
from ..compiler import Core, Front, compile_core, front_end
from ..dynamics.interface import from_columns, to_columns
from ..graph.evaluate import evaluate as evaluate_graph
from ..graph.fixed import Format, evaluate_fixed
from ..robot.design import Design, load
from ..robot.model import Robot
from ..schedule.channels import flagged
from .folder import InputError
from .rtl import build_core

Array = NDArray[np.float64]
Progress = Callable[[str], None]
MODELS = ("golden", "float", "fixed", "rtl")
NEEDS = {
    "id": ("q", "qd", "qdd"),
    "m": ("q",),
    "minv": ("q",),
    "fd": ("q", "qd", "tau"),
    "did": ("q", "qd", "qdd"),
    "dfd": ("q", "qd", "tau"),
}


def evaluate(
    robot: str,
    states: Mapping[str, Any],
    model: str = "golden",
    progress: Progress = lambda _: None,
    **choices: Any,
) -> dict[str, NDArray]:
    """Evaluate the design's function for a batch.

    ``states``: q (N, nq), qd, qdd, tau (N, nv), f_ext (N, bodies, 6; force then moment in the
    link's frame), as the function needs. Returns tau, M, Minv, dtau_dq, dtau_dqd, qdd, dqdd_dq,
    dqdd_dqd (N, …), as the function gives, joint_names, and for the fixed and rtl models
    ``overflow`` (N, outputs): whether the result is wrong because a word was too short.

    Raises InputError for states of a wrong shape or outside the input words' ranges.
    """
    if model not in MODELS:
        raise InputError(f"no model {model!r}; one of {', '.join(MODELS)}")
    design, loaded = load(robot, **choices)
    arrays = checked(design, loaded, states)
    if model == "golden":  # of every function, hardware or not
        results = golden_model(design, loaded, arrays)
    else:
        front = front_end(robot, **choices)
        if model == "float":
            columns = to_columns(front.canonical, front.graph.inputs, arrays)
            results = from_columns(evaluate_graph(front.graph, columns))
        else:
            core = compile_core(front, progress)
            words = to_words(core, arrays)
            if model == "fixed":
                results = fixed_model(core, words)
            else:
                with tempfile.TemporaryDirectory(prefix="rbdgen-") as folder:
                    results = rtl_model(core, words, Path(folder), progress)
    return {**results, "joint_names": np.array(loaded.joint_names, dtype=np.str_)}


def checked(design: Design, robot: Robot, states: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays that the functions need, as float64, shapes checked."""
    width = {"q": (robot.nq,), "f_ext": (len(robot.moving), 6)}
    needed = list(dict.fromkeys(name for f in design.functions for name in NEEDS[f]))
    arrays: dict[str, Array] = {}
    n = None
    for name in (*needed, "f_ext"):
        if name not in states:
            if name in needed:
                raise InputError(
                    f"--function {', '.join(design.functions)} needs {name}; the input has "
                    f"{', '.join(sorted(states)) or 'nothing'}"
                )
            continue
        array = np.asarray(states[name])
        shape = width.get(name, (robot.nv,))
        if array.dtype.kind not in "fiu" or array.shape[1:] != shape or array.ndim == 0:
            want = ", ".join(["N", *map(str, shape)])
            raise InputError(f"{name} is {array.dtype} {array.shape}; expected numbers ({want})")
        if n is not None and len(array) != n:
            raise InputError(f"{name} has {len(array)} states, {needed[0]} has {n}")
        n = len(array)
        finite = np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
        bad = np.flatnonzero(~finite)
        if bad.size:
            raise InputError(f"{name} of state {bad[0]} is not finite")
        arrays[name] = array.astype(np.float64)
    arrays.setdefault("f_ext", np.zeros((n or 0, len(robot.moving), 6)))
    return arrays


def golden_model(design: Design, robot: Robot, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The float64 reference, for every function."""
    results: dict[str, Array] = {}
    for function in design.functions:
        results |= _golden(function, robot, arrays)
    return results


def _golden(function: str, robot: Robot, arrays: Mapping[str, Array]) -> dict[str, Array]:
    q, qd, qdd, tau = (arrays.get(name, np.zeros(0)) for name in ("q", "qd", "qdd", "tau"))
    f_ext = arrays["f_ext"] if arrays["f_ext"].any() else None
    match function:
        case "id":
            return {"tau": golden.rnea(robot, q, qd, qdd, f_ext)}
        case "m":
            return {"M": golden.crba(robot, q)}
        case "minv":
            return {"Minv": golden.minv(robot, q)}
        case "fd":
            return {"qdd": golden.aba(robot, q, qd, tau, f_ext)}
        case "did":
            inverse = golden.rnea_derivatives(robot, q, qd, qdd, f_ext)
            return {"dtau_dq": inverse.dtau_dq, "dtau_dqd": inverse.dtau_dqd, "M": inverse.M}
        case "dfd":
            forward = golden.aba_derivatives(robot, q, qd, tau, f_ext)
            return {
                "dqdd_dq": forward.dqdd_dq,
                "dqdd_dqd": forward.dqdd_dqd,
                "Minv": forward.Minv,
            }
    raise InputError(f"no golden model of {function}")


def to_words(core: Core, arrays: Mapping[str, Array]) -> dict[str, NDArray[np.int64]]:
    """Integer inputs of the hardware; InputError names the first state outside a word's range."""
    front = core.front
    _refuse_missing_forces(front, core, arrays["f_ext"])
    columns = to_columns(front.canonical, core.fixed.graph.inputs, arrays)
    words = {}
    for name, values in columns.items():
        word = core.fixed.inputs[name]
        if not name.startswith(("sin", "cos")):
            _refuse_outside(name, values, word, front.robot)
        words[name] = word.quantize(values)
    return words


def _refuse_outside(name: str, values: Array, word: Format, robot: Robot) -> None:
    limit = 2.0 ** (word.width - 1 - word.fraction)
    bad = np.flatnonzero(np.abs(values) > limit)
    if bad.size:
        raise InputError(
            f"{name} of state {bad[0]} is {values[bad[0]]:g}, outside ±{limit:g}, the range of its "
            f"{word.width}-bit word; widen the design's limits, or wrap angles to ±π"
        )


def _refuse_missing_forces(front: Front, core: Core, f_ext: Array) -> None:
    for body, i in enumerate(front.canonical.moving):
        name = front.canonical.joints[i].body
        if f_ext[:, body].any() and f"f_ext[{body}].fx" not in core.fixed.inputs:
            raise InputError(
                f'f_ext acts on "{name}", which has no force input; add it to external_forces'
            )


def fixed_model(core: Core, words: Mapping[str, NDArray[np.int64]]) -> dict[str, NDArray]:
    """The integer model, as numbers."""
    outputs, flags = integer_results(core, words)
    return {**as_numbers(core, outputs), "overflow": flags}


def integer_results(
    core: Core, words: Mapping[str, NDArray[np.int64]]
) -> tuple[dict[str, NDArray[np.int64]], NDArray[np.bool_]]:
    """Output words (N,) by name, and the overflow flag (N, outputs) of each."""
    result = evaluate_fixed(core.fixed, words)
    n = len(next(iter(words.values()))) if words else 0
    return result.outputs, flagged(core.plan, result.overflowed, n)


def as_numbers(core: Core, outputs: Mapping[str, NDArray[np.int64]]) -> dict[str, NDArray]:
    formats = core.fixed.formats
    nodes = core.fixed.graph.outputs
    return from_columns({n: formats[nodes[n]].real(w) for n, w in outputs.items()})


def rtl_model(
    core: Core,
    words: Mapping[str, NDArray[np.int64]],
    folder: Path,
    progress: Progress = lambda _: None,
) -> dict[str, NDArray]:
    """The Verilated design, as numbers."""
    model, names = build_core(core, folder, progress)
    run = model.run(np.stack([words[n] for n in core.fixed.inputs], axis=1))
    outputs = {n: run.outputs[:, k] for k, n in enumerate(names)}
    flags = run.outputs[:, len(names) :].astype(bool)
    return {**as_numbers(core, outputs), "overflow": flags}
