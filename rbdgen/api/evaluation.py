"""A batch of states through any of the models: golden, float graph, programs, integers, RTL."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..codegen.c_file import float_batch
from ..codegen.compiled import Results as IntegerResults
from ..codegen.interface import angle_arrays, inverted
from ..codegen.library import Singular
from ..compile.flow import compile_front, front_of
from ..compile.front import Front
from ..compile.product import Product
from ..design.arrays import all_gives, counts, given_coordinates, needs
from ..design.choices import COMPILED, MODELS
from ..design.design import Design
from ..design.effects import notes_of_use, refuse_design
from ..design.loading import load, refuse_unknown
from ..design.options import DesignChoices
from ..design.rules import ONE_TASK
from ..dynamics.interface import SAMPLED, from_columns, to_columns, turning_inputs
from ..graph.evaluate import Array
from ..graph.evaluate import evaluate as evaluate_graph
from ..graph.fixed import Format
from ..graph.word import kind_of, not_registers, shape_of
from ..robot.angles import wrapped
from ..robot.model import Robot
from ..robot.variations import PAYLOAD, SIZE
from ..robot.xml_lines import did_you_mean
from ..system.compiler import c_library
from ..system.quoting import Progress
from ..tasks.model import DesignedRobot, Specification
from .arrays import completed, refuse_missing_forces, refuse_missing_payload
from .folder import InputError
from .integer_model import IntegerModel, word_program
from .native_programs import compiled
from .output_paths import design_name
from .program_folder import interface_of
from .reference import golden_model
from .results import Results

OF_WORDS = ("fixed", "c", "hls", "rtl")  # models


def evaluate(
    robot: str,
    states: Mapping[str, Any],
    model: str = "golden",
    progress: Progress = lambda _: None,
    **choices: Unpack[DesignChoices],
) -> Results:
    """Evaluate the design's functions for a batch of N states.

    ``states`` has the arrays that the functions need: q (N, nq); qd, qdd, tau (N, nv); Minv (N, nv,
    nv). For inputs of its own a design also needs f_ext (N, bodies, 6), force then moment in the
    link's frame, or payload (N, 10), as Pinocchio's `toDynamicParameters`. All arrays refer to the
    design's base link, in the order of joint_names.

    Returns the arrays that the functions give, by name: tau, qdd (N, nv); M, Minv, dtau_dq,
    dtau_dqd, dqdd_dq, dqdd_dqd (N, nv, nv); joint_names. Models of words (fixed, c, hls, rtl) also
    give ``overflow`` (N, hardware outputs), with names in ``overflow_names``. It is true where a
    result is wrong because a word was too short. If the base's motion is given, tau, Minv and all
    results have nv − 6 in place of nv. The forward functions then read the first six entries of
    qdd. With ``inverse="near"``, Minv is M⁻¹ of a state nearby, and far (N,) is 1 where that was
    too far.

    Raises InputError for states of a wrong shape or outside the input words' ranges. Compiled
    programs also raise Singular for a state whose mass matrix is singular. Without a compiler, GPU
    or headers of HLS they raise NoCompiler, NoGpu or NoHeaders.
    """
    refuse_unknown(choices, evaluate)
    if model not in MODELS:
        hint = did_you_mean(str(model), MODELS, f"; one of {', '.join(MODELS)}")
        raise InputError(f"no model {model!r}{hint}")
    said: list[str] = []
    design, loaded = load(robot, notes=said, **choices)
    arrays = checked(design, loaded, states)
    in_float = model == "c" and design.real == "float"
    uses = model in OF_WORDS and not in_float, model in COMPILED, not in_float, model == "c"
    for note in notes_of_use(f"model {model}", choices, *uses):
        progress(f"note: {note}")
    if model == "golden":  # of every function, hardware or not
        results = golden_model(design, loaded, arrays)
    elif model in COMPILED:
        found = compiled(design, loaded, model, progress)(arrays)
        results = {name: values.astype(np.float64, copy=False) for name, values in found.items()}
    elif in_float:
        front = front_of(design, loaded, said, progress, in_floats=True)
        results = float_c_model(front, arrays, progress)
    else:
        front = front_of(design, loaded, said, progress)
        if model == "float":
            results = graph_model(front, arrays)
        else:
            refuse_design(front.design, front.robot.name, ONE_TASK)
            core = compile_front(front, progress)
            for note in core.notes:
                progress(f"note: {note}")
            words = to_words(core, arrays)
            if model == "fixed":
                results = fixed_model(core, words, progress)
            elif model == "rtl":
                with tempfile.TemporaryDirectory(prefix="rbdgen-") as folder:
                    results = rtl_model(core, words, Path(folder), progress)
            else:
                results = word_model(core, words, model, progress)
    return Results(results, joint_names=np.array(loaded.joint_names, dtype=np.str_))


def graph_model(
    front: Front, arrays: Mapping[str, Array], dtype: Any = np.float64
) -> dict[str, NDArray]:
    """The graph over real numbers, of the robot itself; ``dtype``: what it is computed in.

    In np.longdouble, which has 64 bits beside float64's 53 on x86-64, it shows how much of an error
    each other model's rounding is.
    """
    columns = to_columns(front.canonical, not_registers(front.graph.inputs), arrays)
    if front.parameters is not None:
        columns |= {name: np.array(x) for name, x in front.parameters.nominal.items()}
    return as_arrays(front, evaluate_graph(front.graph, columns, dtype=dtype), len(arrays["q"]))


def float_c_model(
    front: Front, arrays: Mapping[str, Array], progress: Progress
) -> dict[str, NDArray]:
    """The program in C that computes in float, compiled, as float64; Singular."""
    from .programs import c_program

    refuse_missing_forces(front.design, front.canonical, arrays["f_ext"])
    interface, name = interface_of(front), design_name(front.robot.name, front.design)
    own = c_program(front, progress)
    files = {file: own[file] for file in (f"{name}.h", f"{name}.c")}
    files["batch.c"] = float_batch(name, interface)
    progress(f"c: {name}, {len(front.graph.nodes)} nodes")
    library = c_library(files)
    assert library is not None
    n = len(arrays["q"])
    columns = to_columns(front.canonical, not_registers(front.graph.inputs), arrays)
    given = {**arrays, **angle_arrays(interface, columns, n)}
    takes = [np.ascontiguousarray(given[own.name], np.float32) for own in interface.takes]
    gives = [np.empty((n, *own.shape), np.float32) for own in interface.gives]
    call = library[f"{name}_batch"]
    call.restype = ctypes.c_longlong
    pointers = (
        (ctypes.c_void_p * len(own))(*(array.ctypes.data for array in own))
        for own in (takes, gives)
    )
    if singular := call(ctypes.c_longlong(n), *pointers):
        raise Singular(singular - 1, inverted(interface))
    found = zip(interface.gives, gives, strict=True)
    return {own.name: values.astype(np.float64) for own, values in found}


def checked(design: Design, robot: Robot, states: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays that the functions need, as float64, shapes checked, quaternions normalised."""
    free = robot.nv - given_coordinates(design, robot)
    shapes = {"q": (robot.nq,), "q_ref": (robot.nq,), "tau": (free,), "Minv": (free, free)}
    shapes |= {"f_ext": (len(robot.moving), 6), PAYLOAD: (SIZE,)}
    needed = needs(design)
    arrays: dict[str, Array] = {}
    n = None
    for name in (*needed, "f_ext", PAYLOAD):
        if name not in states:
            if name in needed:
                raise InputError(
                    f"--function {', '.join(design.functions)} needs {name}; the input has "
                    f"{', '.join(sorted(states)) or 'nothing'}"
                )
            continue
        array = np.asarray(states[name])
        shape = shapes.get(name, (robot.nv,))
        if array.dtype.kind not in "fiu" or array.shape[1:] != shape or array.ndim == 0:
            want = ", ".join(["N", *map(str, shape)])
            raise InputError(
                f"{name} is {array.dtype} {array.shape}; expected numbers ({want}) of "
                f"{robot.name} on a {design.base} base, as rbdgen states writes them"
            )
        if n is not None and len(array) != n:
            raise InputError(f"{name} has {len(array)} states, {needed[0]} has {n}")
        n = len(array)
        finite = np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
        bad = np.flatnonzero(~finite)
        if bad.size:
            raise InputError(f"{name} of state {bad[0]} is not finite")
        arrays[name] = array.astype(np.float64)
    arrays = completed(robot, arrays)
    refuse_missing_payload(design, arrays[PAYLOAD])
    return arrays


def to_words(core: Specification, arrays: Mapping[str, Array]) -> dict[str, NDArray[np.int64]]:
    """Integer inputs of the hardware; InputError names the first state outside a word's range.

    Angles that a word cannot hold are taken whole turns back, where that changes nothing.
    """
    front = core.front
    refuse_missing_forces(front.design, front.canonical, arrays["f_ext"])
    columns = to_columns(front.canonical, core.fixed.graph.inputs, arrays)
    words = {}
    around = turning_inputs(front.design, front.canonical)
    for name, values in columns.items():
        word = core.fixed.inputs[name]
        values = wrapped(values, word.limits[1], around.get(name))
        if kind_of(name) not in ("sin", "cos"):
            _refuse_outside(name, values, word)
        words[name] = word.quantize(values)
    return words


def _refuse_outside(name: str, values: Array, word: Format) -> None:
    limit = 2.0 ** (word.width - 1 - word.fraction)
    bad = np.flatnonzero(np.abs(values) > limit)
    if bad.size:
        cure = "widen the design's limits"
        if kind_of(name) in SAMPLED:
            cure = "it is sized by what random states within the design's limits take; widen them"
        raise InputError(
            f"{name} of state {bad[0]} is {values[bad[0]]:g}, outside ±{limit:g}, the range of its "
            f"{word.width}-bit word; {cure}"
        )


def fixed_model(
    core: Product,
    words: Mapping[str, NDArray[np.int64]],
    progress: Progress = lambda _: None,
) -> dict[str, NDArray]:
    """The integer model, as numbers."""
    return _numbers(core, IntegerModel(core, progress)(words))


def word_model(
    core: Product,
    words: Mapping[str, NDArray[np.int64]],
    language: str,
    progress: Progress,
) -> dict[str, NDArray]:
    """The model in C, or for high-level synthesis, as numbers."""
    return _numbers(core, word_program(core, language, progress)(words))


def _numbers(core: Product, found: IntegerResults) -> dict[str, NDArray]:
    outputs, flags = found
    return {**as_numbers(core, outputs, len(flags)), **_overflow(flags, list(outputs))}


def as_numbers(
    core: Specification, outputs: Mapping[str, NDArray[np.int64]], n: int
) -> dict[str, NDArray]:
    """Arrays (n, …) from output words."""
    formats = core.fixed.formats
    nodes = core.fixed.graph.outputs
    columns = {name: formats[nodes[name]].real(w) for name, w in outputs.items()}
    return as_arrays(core.front, columns, n)


def as_arrays(front: DesignedRobot, columns: Mapping[str, Array], n: int) -> dict[str, NDArray]:
    """All that the functions give, (n, …), from the graph's outputs; omitted entries are zero."""
    robot, given = front.robot, given_coordinates(front.design, front.robot)
    frames = len(front.design.frames)
    many = counts(front.design, front.canonical)
    found = from_columns(columns, robot.nv, given, frames, robot.nq, many)
    arrays = {}
    for name in all_gives(front.design):
        shape = shape_of(name, robot.nv - given, frames, robot.nq, many)
        arrays[name] = found.get(name, np.zeros((n, *shape)))
    return arrays


def rtl_model(
    core: Product,
    words: Mapping[str, NDArray[np.int64]],
    folder: Path,
    progress: Progress = lambda _: None,
) -> dict[str, NDArray]:
    """The Verilated design, as numbers."""
    from .integer_model import build_core

    model, names = build_core(core, folder, progress=progress)
    run = model.run(np.stack([words[n] for n in core.fixed.inputs], axis=1))
    outputs = {n: run.outputs[:, k] for k, n in enumerate(names)}
    flags = run.outputs[:, len(names) :].astype(bool)
    return {**as_numbers(core, outputs, len(flags)), **_overflow(flags, names)}


def _overflow(flags: NDArray[np.bool_], names: list[str]) -> dict[str, NDArray]:
    return {"overflow": flags, "overflow_names": np.array(names, dtype=np.str_)}
