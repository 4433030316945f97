"""The places of a graph's scalars in arrays of states, which programs take and give.

Functions of rows have arrays with a row of numbers for each state, as hosts have them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..system.records import Record

ANGLES = ("sin", "cos")  # arrays of each joint of the canonical robot


@dataclass(frozen=True)
class Array(Record):
    """An array of one state: ``shape`` numbers, row by row. The next state's follow it."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Numbers of one state."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class ArrayEntry(Record):
    """A number of an array: ``at`` counts from the state's first, row by row."""

    array: str
    at: int


@dataclass(frozen=True)
class ArrayInterface(Record):
    """The arrays that a program takes and gives, and the entries that a graph's scalars are.

    ``outputs``: an entry of a symmetric matrix stands in two places; entries that none is at are
    zero in every state. ``same``: an array without states, whose numbers all of them share.
    """

    takes: tuple[Array, ...]
    gives: tuple[Array, ...]
    inputs: Mapping[str, ArrayEntry]
    outputs: Mapping[str, tuple[ArrayEntry, ...]]
    same: Array | None = None

    @property
    def shared(self) -> tuple[str, ...]:
        """The graph's inputs that all states share."""
        name = self.same.name if self.same else None
        return tuple(own for own, entry in self.inputs.items() if entry.array == name)


@dataclass(frozen=True)
class JointCoordinates(Record):
    """A joint of one of `KINDS`; its first entry of q and of v. A run of ``count`` such ones."""

    name: str
    kind: str
    q: int
    v: int
    count: int = 1


# "continuous" turns without limits, "planar" has (x, y, cos θ, sin θ); "floating" a quaternion
KINDS = ("revolute", "continuous", "prismatic", "planar", "floating")


@dataclass(frozen=True)
class Coordinates(Record):
    """The coordinates of a robot and their names, for programs that step along them.

    ``joints``: in the order of q and of v. ``links``: that joints move; ``frames``: of functions.
    ``limits``: by name, of all entries of q or of v; infinite where there is none.
    """

    nq: int
    nv: int
    joints: tuple[JointCoordinates, ...]
    links: tuple[str, ...]
    frames: tuple[str, ...]
    limits: Mapping[str, tuple[float, ...]]

    @property
    def runs(self) -> list[JointCoordinates]:
        """The joints, neighbours of one kind together if they have one coordinate each."""
        found: list[JointCoordinates] = []
        for joint in self.joints:
            before = found[-1] if found else None
            if before and before.kind == joint.kind and joint.kind in KINDS[:3]:
                found[-1] = replace(before, count=before.count + 1)
            else:
                found.append(joint)
        return found


def angle_arrays(
    interface: ArrayInterface, columns: Mapping[str, NDArray[np.float64]], states: int
) -> dict[str, NDArray[np.float64]]:
    """The arrays sin and cos (states, joints), where they are inputs, of graph inputs (states,) by
    name; zero for joints that have neither."""
    found = {
        own.name: np.zeros((states, own.size)) for own in interface.takes if own.name in ANGLES
    }
    for name, values in columns.items():
        entry = interface.inputs[name]
        if entry.array in found:
            found[entry.array][:, entry.at] = values
    return found


def inverted(interface: ArrayInterface) -> str:
    """The matrix that a function of these arrays divides by, in words."""
    if {"lambda_c", "Lambda"}.isdisjoint(array.name for array in interface.gives):
        return "mass matrix"
    return "mass matrix, or J M⁻¹ Jᵀ of its frames (contact_damping regularises it),"


def rows(interface: ArrayInterface) -> dict[str, Any]:
    """The template's values for the arguments of a function whose arrays are rows.

    An array that is both read and written is written as NAME_out.

    ``taken``, ``given``: names. ``rows_in``, ``rows_out``: of each array its name, shape, the size
    of a row, and the numbers of a state ``before`` it. ``row_in``, ``row_out``: numbers of a state.
    ``same``: the array that all states share, which ``taken`` ends with. ``inverted``: the matrix
    that may be singular.
    """
    rows_in = [array.name for array in interface.takes]
    taken = [*rows_in, *([interface.same.name] if interface.same else [])]
    given = [array.name + "_out" * (array.name in taken) for array in interface.gives]

    def arguments(scalar: str) -> str:
        return ", ".join(
            [f"const {scalar} *{own}" for own in taken] + [f"{scalar} *{own}" for own in given]
        )

    def each(array: str) -> str:
        all_of = [f"{array}[{k}]" for k in range(len(rows_in) + len(given))]
        if interface.same:
            all_of.insert(len(rows_in), array.replace("array", interface.same.name))
        return ", ".join(all_of)

    found: dict[str, Any] = {"arguments": arguments, "each": each, "taken": taken, "given": given}
    found["inverted"] = inverted(interface)
    found["same"] = interface.same
    for way, names, arrays in (("in", rows_in, interface.takes), ("out", given, interface.gives)):
        ends = list(accumulate((a.size for a in arrays), initial=0))
        found[f"row_{way}"] = ends[-1]
        found[f"rows_{way}"] = [
            {"name": name, "shape": array.shape, "size": array.size, "before": before}
            for name, array, before in zip(names, arrays, ends[:-1], strict=True)
        ]
    return found
