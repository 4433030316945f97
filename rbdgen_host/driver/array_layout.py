"""Arrays of a call, looked at and brought to one shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbdgen.api.arrays import completed
from rbdgen.api.folder import InputError
from rbdgen.codegen.library import on_device
from rbdgen.robot.model import Robot
from rbdgen.robot.variations import PAYLOAD, SIZE

from .words import SPELT, Array, step_counts, step_sizes

TRACED = " (jax.pure_callback calls this with numbers; rbdgen_host.parallel can be traced)"
FOR_ALL = ("h", "steps", PAYLOAD)  # what may be one of all states


def numbers(call: str, said: str, values: Any) -> NDArray[Any]:
    """Convert an argument to a NumPy array: numbers, arrays that NumPy can read, or DLPack.

    InputError for all else, such as values that JAX traces.
    """
    try:
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return np.from_dlpack(values)
        return np.asarray(values)
    except Exception as error:  # whatever another package raises
        kind, first = type(values), str(error).strip().partition("\n")[0]
        raise InputError(
            f"{call}: {said} is a {kind.__module__}.{kind.__qualname__}, of which NumPy makes no "
            f"array of numbers: {first}{TRACED if kind.__module__.startswith('jax') else ''}"
        ) from None


def flat_states(
    robot: Robot, free: int, call: str, given: Mapping[str, ArrayLike], on_gpu: bool = False
) -> tuple[tuple[int, ...], dict[str, Array]]:
    """The leading shape that all arrays have, and the arrays (N, …), completed.

    What a state has one number of may be one number for all. ``free``: coordinates of v whose
    motion is not given. ``on_gpu``: the back end computes where arrays of a GPU are, and does not
    copy them to the host unasked; for others NumPy reads what it can. InputError for arrays that
    are none of the call's.
    """
    shapes: dict[str, tuple[int, ...]] = {"q": (robot.nq,), "tau": (free,)}
    shapes |= {"Minv": (free, free), "f_ext": (len(robot.moving), 6), "h": (), "steps": ()}
    shapes[PAYLOAD] = (SIZE,)
    leading: tuple[int, ...] | None = None
    flat = {}
    for name, values in given.items():
        own = shapes.get(name, (robot.nv,))
        said = SPELT.get(name, name)
        if on_gpu and on_device(values):
            raise InputError(
                f"{call}: {said} is on a GPU; its arrays are taken where all are there, "
                "C-contiguous, of one leading shape, by cuda (float64) or cuda32 (float32); those "
                "of PyTorch and JAX where the base is fixed and no force or payload is filled in"
            )
        array = numbers(call, said, values)
        before = array.shape[: max(array.ndim - len(own), 0)]
        if array.dtype.kind not in "fiu" or array.shape != before + own:
            several = ", ".join(map(str, ("N", *own)))
            raise InputError(
                f"{call}: {said} is {array.dtype} {array.shape}; expected numbers "
                f"{own} or ({several})"
            )
        if leading and name in FOR_ALL and not before:
            before, array = leading, np.broadcast_to(array, leading + own)
        if leading is not None and before != leading:
            raise InputError(
                f"{call}: {said} is {array.shape}; q is {(*leading, robot.nq)}, which is "
                "another number of states"
            )
        leading = before
        array = array.reshape(math.prod(before), *own)
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            state, *at = map(int, bad[0])
            raise InputError(f"{call}: {said}{at} of state {state} is {array[tuple(bad[0])]}")
        flat[name] = array.astype(np.float64)
    assert leading is not None
    if "h" in flat:
        flat |= {"h": step_sizes(flat["h"]), "steps": step_counts(flat["steps"])}
    return leading, completed(robot, flat)


def into(call: str, out: Any, found: Any) -> Any:
    """A call's results, copied to the arrays of ``out``, which come back in their place.

    ``out``: None, an array where there is one result, or a sequence of an array, or None, for each.
    InputError for arrays of another shape or type, or that cannot be written.
    """
    if out is None:
        return found
    if not isinstance(found, tuple):
        return _copied(call, out, found)
    if not isinstance(out, list | tuple) or len(out) != len(found):
        raise InputError(f"{call}: out: expected {len(found)} arrays, one for each result")
    return tuple(
        values if own is None or values is None else _copied(call, own, values)
        for own, values in zip(out, found, strict=True)
    )


def _copied(call: str, own: Any, values: Any) -> Any:
    shape, dtype = getattr(own, "shape", None), getattr(own, "dtype", None)
    if shape != values.shape or dtype != values.dtype:
        what = f"{dtype} {shape}" if shape is not None else type(own).__name__
        raise InputError(f"{call}: out is {what}; the result is {values.dtype} {values.shape}")
    try:
        own[...] = values
    except ValueError as error:  # to be read only
        raise InputError(f"{call}: out: {error}") from None
    return own
