"""Between arrays of states and the named scalars of a graph: ``q[2]``, ``tau[0]``, ``M[1,0]``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..robot.design import Bounds
from ..robot.model import JointKind, Robot

Array = NDArray[np.float64]
Columns = dict[str, Array]  # graph input or output → (N,)

WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")


def joint_angle(robot: Robot, i: int, q: Array) -> Array:
    """Angle (N,) of revolute joint ``i``, mimic and offset applied, from q (N, nq)."""
    joint = robot.joints[i]
    multiplier = joint.mimic.multiplier if joint.mimic else 1.0
    offset = joint.offset + (joint.mimic.offset if joint.mimic else 0.0)
    return multiplier * q[:, robot.q_slices[i].start] + offset


def to_columns(robot: Robot, names: Sequence[str], state: Mapping[str, Array]) -> Columns:
    """The graph inputs ``names`` of a canonical robot from a batch of states.

    ``state`` holds q (N, nq), qd, qdd (N, nv) and, where an input asks for it, f_ext
    (N, len(robot.moving), 6), force then moment. ``sin[i]``, ``cos[i]`` are taken of joint i's
    own angle.
    """
    columns: Columns = {}
    for name in names:
        field, index, axis = _parts(name)
        if field in ("sin", "cos"):
            angle = joint_angle(robot, index[0], np.asarray(state["q"]))
            columns[name] = np.sin(angle) if field == "sin" else np.cos(angle)
        elif axis:
            columns[name] = np.asarray(state[field])[:, index[0], WRENCH.index(axis)]
        else:
            columns[name] = np.asarray(state[field])[:, index[0]]
    return columns


def input_limits(robot: Robot, names: Sequence[str], box: Bounds) -> dict[str, tuple[float, float]]:
    """Lower and upper limit of each graph input."""
    limits: dict[str, tuple[float, float]] = {}
    for name in names:
        field, index, axis = _parts(name)
        k = index[0]
        if field == "q":
            limits[name] = float(box.q_lower[k]), float(box.q_upper[k])
        elif field in ("sin", "cos"):
            limits[name] = -1.0, 1.0
        else:
            match field, axis[:1]:
                case "f_ext", "f":
                    largest = box.force
                case "f_ext", _:
                    largest = box.moment
                case _:
                    largest = float({"qd": box.qd, "qdd": box.qdd}[field][k])
            limits[name] = -largest, largest
    return limits


def from_columns(columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays (N, …) from graph outputs: ``tau[0]``, ``tau[1]`` … become tau (N, 2)."""
    grouped: dict[str, dict[tuple[int, ...], NDArray[Any]]] = {}
    for name, values in columns.items():
        field, index, _ = _parts(name)
        grouped.setdefault(field, {})[index] = values
    arrays = {}
    for field, entries in grouped.items():
        shape = tuple(np.max(list(entries), axis=0) + 1)
        first = next(iter(entries.values()))
        array = np.zeros((len(first), *shape), first.dtype)
        for index, values in entries.items():
            place: tuple[Any, ...] = (slice(None), *index)
            array[place] = values
        arrays[field] = array
    return arrays


def revolute(robot: Robot) -> list[int]:
    """Indices of the joints that turn."""
    return [i for i, joint in enumerate(robot.joints) if joint.kind is JointKind.REVOLUTE]


def _parts(name: str) -> tuple[str, tuple[int, ...], str]:
    """``f_ext[3].nx`` → ("f_ext", (3,), "nx")."""
    match = re.fullmatch(r"(\w+)\[([\d,]+)\](?:\.(\w+))?", name)
    if match is None:
        raise ValueError(f"no name of a graph input or output: {name!r}")
    field, index, axis = match.groups()
    return field, tuple(int(k) for k in index.split(",")), axis or ""
