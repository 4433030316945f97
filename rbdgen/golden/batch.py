"""The inputs of a batch: checked once at the door, then worked through a few states at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Robot

# Numbers that one chunk of states may hold in intermediate results (64 MB).
WORKSPACE = 2**23


def positions(robot: Robot, q: ArrayLike) -> Array:
    """``q`` as float64 (N, nq); ValueError on any other shape."""
    array = np.asarray(q, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != robot.nq:
        raise ValueError(f"q has shape {array.shape}; {robot.name} needs (N, {robot.nq})")
    return array


def tangents(robot: Robot, n: int, **vectors: ArrayLike) -> list[Array]:
    """Vectors such as qd, qdd, tau as float64 (n, nv); ValueError on any other shape."""
    arrays = []
    for name, vector in vectors.items():
        array = np.asarray(vector, dtype=np.float64)
        if array.shape != (n, robot.nv):
            raise ValueError(
                f"{name} has shape {array.shape}; {robot.name} with q of {n} states "
                f"needs ({n}, {robot.nv})"
            )
        arrays.append(array)
    return arrays


def external_forces(robot: Robot, n: int, f_ext: ArrayLike | None) -> Array:
    """``f_ext`` as float64 (n, moving bodies, 6), zeros for None; ValueError on other shapes."""
    shape = (n, len(robot.moving), 6)
    if f_ext is None:
        return np.broadcast_to(0.0, shape)
    array = np.asarray(f_ext, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(
            f"f_ext has shape {array.shape}; {robot.name} with q of {n} states needs {shape}: "
            "one force and moment for each moving body"
        )
    return array


def in_chunks(
    kernel: Callable[..., tuple[Array, ...]], robot: Robot, numbers: int, *arrays: Array
) -> tuple[Array, ...]:
    """``kernel(robot, *arrays)``, called on as many states at a time as fit the workspace.

    ``numbers`` is what the kernel holds for one state. States do not interact, so the result does
    not depend on where the chunks end.
    """
    n = len(arrays[0])
    step = max(1, WORKSPACE // max(1, numbers))
    parts = [
        kernel(robot, *(a[start : start + step] for a in arrays))
        for start in range(0, max(n, 1), step)
    ]
    return tuple(np.concatenate(pieces) for pieces in zip(*parts, strict=True))
