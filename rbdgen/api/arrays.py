"""Batches of states and results: .npz files of numbers."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..robot.xml_lines import neighbour, one_line
from ..system.files import read_regular
from .folder import InputError, NoInput, write_file

LARGEST = 2**32  # bytes, of a file and of the numbers in it
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def write_arrays(place: Path, arrays: Mapping[str, NDArray]) -> None:
    """An .npz file, whole or not at all; the same arrays give the same bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    write_file(place, buffer.getvalue())


def read_arrays(place: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file; InputError if it is none, damaged, or larger than `LARGEST`."""
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
