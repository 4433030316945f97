"""Copies of drivers: pickled, copied, or sent to another process.

A copy is made as its original was, of the same files and choices, and finds in the cache what was
compiled. It shares nothing with the original, and a path and a few numbers are all that travels.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rbdgen.api.folder import InputError
from rbdgen.design.design import Design
from rbdgen.robot.xml_lines import read_bytes

from .defaults import DynamicsWarning
from .words import Array

if TYPE_CHECKING:
    from rbdgen.api.calibration import RealCalibration

Identity = tuple[Design, str]


class Driver(Protocol):
    """The attributes that a copy shares with its original."""

    identity: Identity
    _payload: Array

    def set_parameters(self, robot: str | Path | RealCalibration) -> None:
        """The robot that calls are of."""


D = TypeVar("D", bound=Driver)


def identity(design: Design) -> Identity:
    """The identity of a driver: the choices, and the digest of the robot's file."""
    return replace(design, robot=""), hashlib.sha256(read_bytes(design.robot)).hexdigest()


def placed(robot: str | Path) -> str:
    """A robot's file or folder by its absolute path; the name of one that is shipped as it is."""
    path = Path(robot)
    return str(path.absolute()) if path.exists() else str(robot)


def remade(
    make: Callable[..., D],
    robot: str,
    arguments: Mapping[str, Any],
    of: Identity,
    payload: Array,
    parameters: str | RealCalibration | None,
) -> D:
    """A driver as its original was made, with the payload and the parameters that it had.

    What the original has warned of is not warned of again. InputError where the robot's file has
    changed since.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynamicsWarning)
        found = make(robot, **arguments)
    if found.identity != of:
        raise InputError(f"{robot}: has changed since the driver that is copied was created")
    found._payload = payload
    if parameters is not None:
        found.set_parameters(parameters)
    return found
