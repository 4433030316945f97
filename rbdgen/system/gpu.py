"""The GPU of this machine, as its driver describes it.

Sections of a 64-bit ELF file: objects, shared libraries, output of NVIDIA's assembler.
"""

from __future__ import annotations

import ctypes
import struct
from ctypes import byref, c_int
from dataclasses import dataclass

from .messages import Refusal

DRIVER = "libcuda.so.1"
MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_…
LONGEST = 256  # bytes of a name


class NoGpu(Refusal, RuntimeError):
    """There is no GPU that CUDA runs on, in one line."""


@dataclass(frozen=True)
class Gpu:
    """The first one: its name, and what nvcc calls what it can do, as ``sm_90``."""

    name: str
    architecture: str


def find_gpu() -> Gpu:
    """The first GPU; NoGpu with what is missing."""
    try:
        driver = ctypes.CDLL(DRIVER)
    except OSError:
        raise NoGpu(f"no NVIDIA GPU here: its driver, {DRIVER}, is not installed") from None
    device, major, minor = c_int(), c_int(), c_int()
    name = ctypes.create_string_buffer(LONGEST)
    failed = (
        driver.cuInit(0)
        or driver.cuDeviceGet(byref(device), 0)
        or driver.cuDeviceGetName(name, LONGEST, device)
        or driver.cuDeviceGetAttribute(byref(major), MAJOR, device)
        or driver.cuDeviceGetAttribute(byref(minor), MINOR, device)
    )
    if failed:
        raise NoGpu(f"no NVIDIA GPU here: its driver answers with error {failed} of CUDA's")
    return Gpu(name.value.decode(), f"sm_{major.value}{minor.value}")


def sections(elf: bytes) -> dict[str, int]:
    """Name → bytes of each section."""
    (headers,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    # name, type, flags, address, offset, size
    rows = [struct.unpack_from("<IIQQQQ", elf, headers + k * size) for k in range(count)]
    table = rows[names][4]
    return {elf[table + row[0] : elf.index(b"\0", table + row[0])].decode(): row[5] for row in rows}
