"""Additions to joints and links: drivetrains, payloads.

Rotors' inertias, damping and friction, of each coordinate of the tree; see ``Drivetrain``.

Batches of states of which each has a payload of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..robot.model import Array, Robot
from ..robot.variations import carrying
from .tree import columns, tree_size


def armatures(robot: Robot) -> Array:
    """The rotor inertias on the diagonal of the tree's M (tree size,)."""
    return _numbers(robot)[0]


def efforts(robot: Robot, qd: Array) -> Array:
    """The efforts of damping and friction (N, tree size) at the tree's q̇ (N, tree size)."""
    _, d, c, w = _numbers(robot)
    x = np.clip(qd / w, -1.0, 1.0)
    # d q̇ + c s(q̇ / w),  s(x) = (3 x − x³) / 2
    return np.asarray(d * qd + c * x * (3 - x**2) / 2)


def slopes(robot: Robot, qd: Array) -> Array:
    """The derivative (N, tree size) of ``efforts`` by the velocity of the same coordinate."""
    _, d, c, w = _numbers(robot)
    x = np.clip(qd / w, -1.0, 1.0)
    return np.asarray(d + 1.5 * c / w * (1 - x**2))


def curvatures(robot: Robot, qd: Array) -> Array:
    """The derivative (N, tree size) of ``slopes``: zero from the width of friction on."""
    _, _, c, w = _numbers(robot)
    x = qd / w
    return np.asarray(np.where(np.abs(x) < 1.0, -3.0 * c / w**2 * x, 0.0))


def _numbers(robot: Robot) -> Array:
    """Armature, damping, friction and its width (4, tree size)."""
    numbers = np.zeros((4, tree_size(robot)))
    numbers[3] = 1.0
    for joint, own in zip(robot.joints, columns(robot), strict=True):
        if joint.kind.nv == 1:
            gears = joint.drivetrain
            numbers[:, own.start] = gears.armature, gears.damping, gears.friction, gears.width
    return numbers


def by_payload(payload: Array) -> Iterator[tuple[Array, NDArray[np.intp]]]:
    """Each payload (10,) that there is in a batch (N, 10), and which states have it."""
    kinds, which = np.unique(payload, axis=0, return_inverse=True)
    for k, own in enumerate(kinds):
        yield own, np.flatnonzero(which.reshape(-1) == k)


def for_each_payload(
    function: Callable[..., Array], robot: Robot, link: str, payload: Array, *arrays: Array
) -> Array:
    """``function(robot, *arrays)`` (N, …), each state with its payload (N, 10) on ``link``.

    States of the same payload are computed together.
    """
    if not len(payload):
        return function(robot, *arrays)
    parts = list(by_payload(payload))
    values = [
        function(carrying(robot, link, own), *(array[rows] for array in arrays))
        for own, rows in parts
    ]
    found = np.empty((len(payload), *values[0].shape[1:]))
    found[np.concatenate([rows for _, rows in parts])] = np.concatenate(values)
    return found
