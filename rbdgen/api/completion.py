"""Arrays of states brought into the form that every model takes.

Of the arrays themselves only what CuPy's have too: they may lie on a GPU.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..design.choices import UNFORCED
from ..design.design import Design
from ..design.states import turns
from ..robot.model import JointKind, Robot
from ..robot.payload import PAYLOAD, SIZE
from .folder import InputError

Array = NDArray[np.float64]
UNIT = 1e-3  # how far a quaternion's norm may be from 1
ASYMMETRY = 1e-6  # of a matrix, against its largest entry


def completed(robot: Robot, arrays: dict[str, Array]) -> dict[str, Array]:
    """The arrays, in place: f_ext and payload zero unless given, quaternions normalised, Minv
    symmetric."""
    arrays.setdefault("f_ext", np.zeros((len(arrays["q"]), len(robot.moving), 6)))
    arrays.setdefault(PAYLOAD, np.zeros((len(arrays["q"]), SIZE)))
    _normalise(robot, arrays["q"])
    if "Minv" in arrays:
        arrays["Minv"] = _symmetric("Minv", arrays["Minv"])
    return arrays


def refuse_missing_forces(design: Design, robot: Robot, f_ext: Array) -> None:
    """InputError for a force (N, bodies, 6) on a body that the design has no force input of."""
    if set(design.functions) <= set(UNFORCED):
        return  # whatever the forces
    for body, i in enumerate(robot.moving):
        name = robot.joints[i].body
        if f_ext[:, body].any() and name not in design.external_forces:
            raise InputError(
                f'f_ext acts on "{name}", which has no force input; add it to external_forces'
            )


def refuse_missing_payload(design: Design, payload: Array) -> None:
    """InputError for a payload (N, 10) of a design that has none."""
    if design.payload is None and payload.any():
        raise InputError(
            "payload: the design carries none; name the link that does: --payload LINK"
        )


def _normalise(robot: Robot, q: Array) -> None:
    """Bring quaternions and (cos θ, sin θ) in q to norm 1; InputError where far from it."""
    for i, turn in turns(robot).items():
        joint = robot.joints[i]
        norm = (q[:, turn] ** 2).sum(axis=1, keepdims=True) ** 0.5
        bad = abs(norm - 1) > UNIT
        if bad.any():
            state = int(bad.argmax())
            quaternion = joint.kind is JointKind.FLOATING
            what = "quaternion (x, y, z, w)" if quaternion else "(cos, sin)"
            raise InputError(
                f'q of state {state}: the {what} of joint "{joint.name}", entries {turn.start} to '
                f"{turn.stop - 1}, has norm {float(norm[state, 0]):g}; expected 1"
            )
        q[:, turn] /= norm


def _symmetric(name: str, matrices: Array) -> Array:
    transposed = matrices.swapaxes(1, 2)
    if not matrices.size:
        return matrices
    largest = abs(matrices).max(axis=(1, 2))
    apart = abs(matrices - transposed).max(axis=(1, 2))
    bad = apart > ASYMMETRY * largest
    if bad.any():
        raise InputError(f"{name} of state {int(bad.argmax())} is not symmetric")
    return (matrices + transposed) / 2
