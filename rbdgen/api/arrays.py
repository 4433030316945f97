"""Arrays of states and results: read from .npz files, and in the form that every model takes.

Arrays to complete may lie on a GPU: only what CuPy's arrays have, too, is used of them.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design.bounds import turns
from ..design.design import Design
from ..design.functions import UNFORCED
from ..robot.model import Array, JointKind, Robot
from ..robot.variations import PAYLOAD, SIZE
from ..robot.xml_lines import neighbour, one_line
from ..system.files import read_regular
from .folder import InputError, NoInput, write_file

LARGEST = 2**32  # bytes, of a file and of the numbers in it
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
UNIT = 1e-3  # how far a quaternion's norm may be from 1
ASYMMETRY = 1e-6  # of a matrix, against its largest entry


def write_arrays(place: Path, arrays: Mapping[str, NDArray]) -> None:
    """Write an .npz file, whole or not at all; the same arrays give the same bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    write_file(place, buffer.getvalue())


def read_arrays(place: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of an .npz file; InputError if it is damaged, larger than `LARGEST`, or no
    such file.
    """
    shown = one_line(str(place), 200)
    try:
        data = read_regular(place, LARGEST)
    except FileNotFoundError as error:
        raise NoInput(f"{shown}: {error.strerror}{neighbour(place)}", place) from None
    except OSError as error:
        raise InputError(f"{shown}: {error.strerror}") from None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [file for file in archive.infolist() if file.filename.endswith(".npy")]
            if (size := sum(file.file_size for file in files)) > LARGEST:
                raise ValueError(f"unpacked it has {size >> 20} MiB, of {LARGEST >> 20} at most")
            return {
                file.filename.removesuffix(".npy"): _array(archive.read(file)) for file in files
            }
    except Exception as error:  # whatever zip and header make of bytes that may be anything
        why = one_line(str(error) or type(error).__name__, 200)
        raise InputError(f"{shown}: no .npz file of numbers, or a damaged one ({why})") from None


def _array(data: bytes) -> NDArray[Any]:
    """The array of an .npy file; it has the numbers that its header says, before any are made."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"format {version[0]}.{version[1]} is not one of numbers")
    shape, by_column, dtype = _HEADERS[version](stream)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    count, room = math.prod(shape), len(data) - stream.tell()
    if min(shape, default=0) < 0 or count * dtype.itemsize != room:
        raise ValueError(f"a header of shape {shape}, {dtype}, before {room} bytes")
    flat = np.frombuffer(data[stream.tell() :], dtype) if room else np.zeros(count, dtype)
    return flat.reshape(shape, order="F" if by_column else "C").copy()


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
