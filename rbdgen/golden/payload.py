"""Batches of states of which each has a payload of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..robot.model import Array, Robot
from ..robot.payload import carrying


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
